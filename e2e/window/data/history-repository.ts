/**
 * A repository on a real store with two branches, a tag and a merge, and a window that knows its workspace.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { afterAll, beforeAll } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { S3Server } from '../../servers/versitygw.ts';
import { startBrowserAndStore } from '../browser-and-store.ts';
import type { OpenWindow } from '../open-window.ts';
import { writeTree } from '../page/browse-panes.ts';
import { openWorkspace } from '../window-workspace.ts';

export const NOTES = {
  first: '# Notes\n\nOne line.\nAnother.\n',
  second: '# Notes\n\nOne line.\nA third.\n',
};
/** Pictures of one pixel. */
export const PICTURES = {
  red: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  blue: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg==',
};

interface HistoryRepository extends Disposable {
  /** The workspace, on `main`, with everything pushed. */
  readonly root: string;
  /** A workspace without a push. */
  readonly emptyRoot: string;
  open(browser: Browser, options?: OpenHistoryOptions): Promise<OpenWindow>;
}

export interface OpenHistoryOptions {
  /** Default: the repository's workspace. */
  readonly root?: string;
}

/** Available within tests and hooks. */
export interface StartedHistory extends Pick<HistoryRepository, 'root' | 'emptyRoot'> {
  readonly server: S3Server;
  readonly browser: Browser;
  open(options?: OpenHistoryOptions): Promise<OpenWindow>;
}

/** Call it in a `describe`: one repository, its store and a browser for all tests. */
export function startHistoryRepository(): StartedHistory {
  const started = startBrowserAndStore();
  let repository: HistoryRepository | undefined;
  beforeAll(async () => {
    repository = await createHistoryRepository(started.server);
  });
  afterAll(() => repository?.[Symbol.dispose]());
  return {
    get root() {
      return repository!.root;
    },
    get emptyRoot() {
      return repository!.emptyRoot;
    },
    get server() {
      return started.server;
    },
    get browser() {
      return started.browser;
    },
    open: (options) => repository!.open(started.browser, options),
  };
}

/**
 * Commits: `first` (tag v1, branch side), then on main `second` and two concurrent pushes that made a merge;
 * one more on side.
 */
export async function createHistoryRepository(server: S3Server): Promise<HistoryRepository> {
  const folder = mkdtempSync(join(tmpdir(), 'dray-history-'));
  const environment = { ...server.environment, DRAY_AUTHOR: 'Ada Okafor <ada@example.org>' };
  const dray = async (cwd: string, ...parameters: string[]) => {
    const { exitCode, stderr } = await runCli(parameters, { cwd, environment });
    if (exitCode !== 0) throw new Error(stderr);
  };
  const root = join(folder, 'coast');
  const other = join(folder, 'other');
  const emptyRoot = join(folder, 'new');
  const remoteUrl = `s3://${server.bucket}/coast`;
  mkdirSync(root);
  mkdirSync(emptyRoot);
  await dray(emptyRoot, 'init', '--remote', `s3://${server.bucket}/new`);
  await dray(root, 'init', '--remote', remoteUrl);
  writeTree(root, {
    'notes.md': NOTES.first,
    'coast.png': Buffer.from(PICTURES.red, 'base64'),
    'reads/run-1.csv': 'run,value\n1,10\n',
    'reads/run-2.csv': 'run,value\n2,20\n',
    'obsolete.bin': new Uint8Array(4000),
  });
  await dray(root, 'push', '-m', 'first\n\nAll that there was in spring.');
  await dray(root, 'tag', 'v1');
  await dray(root, 'branch', 'side');
  writeTree(root, { 'notes.md': NOTES.second, 'coast.png': Buffer.from(PICTURES.blue, 'base64') });
  renameSync(join(root, 'reads/run-2.csv'), join(root, 'reads/run-02.csv'));
  rmSync(join(root, 'obsolete.bin'));
  await dray(root, 'push', '-m', 'second');
  await dray(root, 'switch', 'side');
  writeTree(root, { 'side.txt': 'of the side branch' });
  await dray(root, 'push', '-m', 'on the side');
  await dray(root, 'switch', 'main');
  await dray(folder, 'clone', remoteUrl, other);
  writeTree(other, { 'theirs.txt': 'theirs' });
  await dray(other, 'push', '-m', 'theirs');
  writeTree(root, { 'ours.txt': 'ours' });
  await dray(root, 'push', '-m', 'ours');
  return {
    root,
    emptyRoot,
    open: (browser, { root: shown = root } = {}) =>
      openWorkspace(browser, { environment, root: shown, screen: '#/history' }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
