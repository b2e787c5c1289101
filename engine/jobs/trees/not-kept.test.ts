import {
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../peer/peer.fixture.ts';
import type { PeerServer } from '../../peer/serve-folder.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree } from './copy-tree.ts';

const MIB = 1024 * 1024;
let sandbox: Sandbox;
let server: PeerServer;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  server = await serveForTest(sandbox.path('offered'));
});
afterEach(async () => {
  await server.close();
  sandbox[Symbol.dispose]();
});

const context = () =>
  testContext(sandbox.folder, {
    environment: { DRAY_AUTHOR: 'tester', DRAY_CACHE: sandbox.path('cache'), DRAY_TOKEN: TEST_TOKEN },
  });
const copy = (destination: string) =>
  copyTree(context(), { source: { place: 'from' }, destination: { place: destination } });
/** Disk space of the file. */
const takenBytes = (path: string) => statSync(sandbox.path(path)).blocks * 512;

/** Half a mebibyte of content, not aligned to anything, in zeros. */
function plantSparse(sizeBytes = 24 * MIB): Buffer {
  const path = sandbox.write('from/sparse', '');
  const fd = openSync(path, 'r+');
  ftruncateSync(fd, sizeBytes);
  writeSync(fd, Buffer.alloc(MIB / 4, 'head'), 0, MIB / 4, 0);
  writeSync(fd, Buffer.alloc(MIB / 4, 'middle'), 0, MIB / 4, 9 * MIB + 123);
  closeSync(fd);
  return readFileSync(path);
}

describe('A copy of a folder', () => {
  it('says how many empty folders and hard links are not kept, and nothing when there are none', async () => {
    sandbox.write('from/a', 'a');
    expect(await copy('plain')).not.toHaveProperty('notKept');
    linkSync(sandbox.path('from/a'), sandbox.path('from/b'));
    mkdirSync(sandbox.path('from/empty'));
    mkdirSync(sandbox.path('from/sub/also-empty'), { recursive: true });
    expect(await copy('to')).toMatchObject({ notKept: { emptyFolders: 2, hardLinks: 2 } });
    expect(await copy('to')).toMatchObject({
      result: 'upToDate',
      notKept: { emptyFolders: 2, hardLinks: 2 },
    });
    // Another machine gets empty folders.
    const there = await copy(plainPlace(server.address.port));
    expect(there.notKept).toEqual({ hardLinks: 2 });
  });

  it('keeps the holes of a sparse file', async () => {
    const content = plantSparse();
    expect(await copy('to')).not.toHaveProperty('notKept');
    expect(readFileSync(sandbox.path('to/sparse')).equals(content)).toBe(true);
    expect(takenBytes('to/sparse')).toBeLessThan(2 * MIB);
  });
});

describe('A clone', () => {
  it.each([
    ['in one object', 24 * MIB],
    ['in chunks', 80 * MIB],
  ])('makes holes of the zeros of a file %s', async (_how, sizeBytes) => {
    const content = plantSparse(sizeBytes);
    const work = testContext(sandbox.path('from'), { environment: context().environment });
    await initWorkspace(work, { remoteUrl: sandbox.path('store') });
    await push(work, {});
    await cloneWorkspace(context(), { url: sandbox.path('store'), directory: sandbox.path('copy') });
    expect(readFileSync(sandbox.path('copy/sparse')).equals(content)).toBe(true);
    // Elsewhere the system has no call for it.
    if (process.platform === 'linux') expect(takenBytes('copy/sparse')).toBeLessThan(3 * MIB);
  });
});

describe('A push', () => {
  it('says how many hard links become files of their own', async () => {
    sandbox.write('from/a', 'a');
    const work = () => testContext(sandbox.path('from'), { environment: context().environment });
    await initWorkspace(work(), { remoteUrl: sandbox.path('store') });
    expect(await push(work(), {})).not.toHaveProperty('notKept');
    linkSync(sandbox.path('from/a'), sandbox.path('from/b'));
    expect(await push(work(), {})).toMatchObject({ result: 'pushed', notKept: { hardLinks: 2 } });
  });
});
