import { globSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommitHash, Entry, FileEntry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { findEntry, readEntryStart } from './read-entry.ts';

const { signal } = new AbortController();
const MIB = 1024 * 1024;
/** By where a file of this size is stored. */
const FILES = {
  nowhere: Buffer.alloc(0),
  pack: Buffer.from('small'),
  object: Buffer.from('a'.repeat(200_000)),
  chunks: Buffer.from(Array.from({ length: 12 * MIB }, (_, at) => (at * at * 31) >> 7)),
};

let sandbox: Sandbox;
let session: Session;
let store: ObjectStore;
let commit: Commit;
beforeEach(async () => {
  sandbox = createSandbox();
  const root = sandbox.path('work');
  const layout = { packBelow: 100_000, chunkAbove: 8 * MIB };
  sandbox.write('work/folder/inside', 'x');
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('remote'), layout });
  for (const [name, content] of Object.entries(FILES)) sandbox.write(`work/${name}`, content);
  const pushed = await push(testContext(root), {});
  session = await openSession(testContext(root), 'test', 'shared');
  ({ store } = await openSessionRemote(session));
  commit = await fetchCommit(session, store, pushed.commit as CommitHash);
});
afterEach(async () => {
  await store.close();
  session[Symbol.dispose]();
  sandbox[Symbol.dispose]();
});

const find = (path: string): Promise<Entry | undefined> => findEntry(store, commit, path, signal);
const fileAt = async (path: string) => (await find(path)) as FileEntry;

describe('an entry of a commit', () => {
  it('is found by its whole path', async () => {
    expect((await find('folder/inside'))?.path).toBe('folder/inside');
    for (const path of ['folder', 'folder/in', 'pac', 'packs', 'zzz'])
      expect(await find(path)).toBeUndefined();
  });

  it.each(Object.entries(FILES))('is read from its start, stored in: %s', async (name, content) => {
    const entry = await fileAt(name);
    expect(entry.location.in).toBe(name);
    const all = await readEntryStart(store, entry, { maxBytes: 64 * MIB, signal });
    expect(Buffer.compare(all, content)).toBe(0);
    for (const maxBytes of [0, 3, 100_001, 5 * MIB]) {
      const start = await readEntryStart(store, entry, { maxBytes, signal });
      expect(Buffer.compare(start, content.subarray(0, maxBytes))).toBe(0);
    }
  });

  it('is reported as damaged when its bytes are gone or not those that were pushed', async () => {
    const entry = await fileAt('object');
    const [path] = globSync(join(sandbox.folder, 'remote', 'objects', '*', `*${entry.blob.slice(4)}`));
    const read = () => readEntryStart(store, entry, { maxBytes: MIB, signal });
    writeFileSync(path!, Buffer.from(FILES.object).fill('b', 7, 8));
    await expect(read()).rejects.toMatchObject({ code: 'damaged' });
    truncateSync(path!, 10);
    await expect(read()).rejects.toMatchObject({ code: 'damaged' });
  });
});
