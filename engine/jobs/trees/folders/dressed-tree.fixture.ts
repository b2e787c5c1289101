/** Trees for tests whose folders have modes and times of their own, here and at a server. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../../peer/peer.fixture.ts';
import type { PeerServer, ServeFolderOptions } from '../../../peer/serve-folder.ts';
import { createSandbox, type Sandbox, type TestContext, testContext } from '../../session/job.fixture.ts';

export const OLD_S = 1_500_000_000;

export interface DressedTrees {
  /** Makes a new sandbox, and a server of its folder `offered`. */
  open(more?: Partial<ServeFolderOptions>): Promise<void>;
  close(): Promise<void>;
  context(): TestContext;
  /** A path in the sandbox. */
  path(...parts: readonly string[]): string;
  write(path: string, content: string): void;
  /** The server's port. */
  port(): number;
  /** A place at the server. */
  peer(path: string): { readonly place: string };
  /** Sets a folder's mode and its time, in seconds since 1970. */
  dress(path: string, mode: number, atS: number): void;
  /** Makes a tree in the folder `from`: some folders forbid writing, one is empty. */
  plant(): void;
  /** Mode and time to the nanosecond of each folder, the tree's own under `.`. */
  foldersOf(path: string): Record<string, string>;
}

export function createDressedTrees(): DressedTrees {
  let sandbox: Sandbox;
  let server: PeerServer;
  const dress = (path: string, mode: number, atS: number) => {
    chmodSync(sandbox.path(path), mode);
    utimesSync(sandbox.path(path), atS, atS);
  };
  const port = () => server.address.port;
  return {
    async open(more = {}) {
      sandbox = createSandbox();
      mkdirSync(sandbox.path('offered'));
      server = await serveForTest(sandbox.path('offered'), more);
    },
    async close() {
      await server.close();
      sandbox[Symbol.dispose]();
    },
    context: () =>
      testContext(sandbox.folder, {
        environment: { DRAY_CACHE: sandbox.path('cache'), DRAY_TOKEN: TEST_TOKEN },
      }),
    path: (...parts) => sandbox.path(...parts),
    write: (path, content) => void sandbox.write(path, content),
    port,
    peer: (path) => ({ place: plainPlace(port(), path) }),
    dress,
    plant() {
      for (const name of ['a/b/one', 'a/b/two', 'a-b/x', 'a/c/three', 'top'])
        sandbox.write(`from/${name}`, name);
      mkdirSync(sandbox.path('from/empty'));
      dress('from/empty', 0o750, OLD_S + 1.25);
      dress('from/a/b', 0o555, OLD_S + 2.5);
      dress('from/a/c', 0o711, OLD_S + 3.000_001);
      dress('from/a', 0o700, OLD_S + 4);
      dress('from/a-b', 0o775, OLD_S + 5);
      dress('from', 0o711, OLD_S + 6);
    },
    foldersOf: (path) => describeFolders(sandbox.path(path)),
  };
}

function describeFolders(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (path: string) => {
    const { mode, mtimeNs } = lstatSync(join(root, path), { bigint: true });
    found[path] = `${(mode & 0o7777n).toString(8)} ${mtimeNs}`;
    for (const entry of readdirSync(join(root, path), { withFileTypes: true }))
      if (entry.isDirectory()) look(join(path, entry.name));
  };
  look('.');
  return found;
}
