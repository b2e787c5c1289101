/**
 * A push reads a file too large for memory twice, for its hash and for its parts. The file may change in
 * between.
 */
import { appendFileSync, copyFileSync, mkdirSync, truncateSync, unlinkSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { linkRepository } from '../session/link-repository.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { openExistenceQuery } from '../session/query-remote.ts';
import { refreshIndex } from '../working-copy/refresh-index.ts';
import { push } from './push.ts';
import { uploadFiles } from './upload-files.ts';

/** Just above the size of a file that is held whole. */
const LARGE_BYTES = 65 * 1024 * 1024;

let sandbox: Sandbox;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  mkdirSync(work);
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store'), layout: { kind: 'objects' } });
});
afterEach(() => sandbox[Symbol.dispose]());

/** The data phase of a push to a store that calls `act` when the first large upload begins. */
async function uploadWith(act: () => void, onBegin = () => {}) {
  const context = testContext(work);
  using session = await openSession(context, 'push');
  await using connection = await openSessionRemote(session);
  const link = await linkRepository(session, connection.store, 'main');
  await refreshIndex(session);
  const multipart = connection.store.multipart!;
  const store: ObjectStore = {
    ...connection.store,
    multipart: {
      ...multipart,
      create: async (key, options) => {
        onBegin();
        // Both files must be read by now: a file still being read would be taken as it is now.
        while (unreadPaths(session).length > 0) await turn();
        act();
        return multipart.create(key, options);
      },
    },
  };
  const base = { hash: undefined, commit: undefined, isInDoubt: false };
  const query = openExistenceQuery(session, connection, link, { base });
  const { limit, meter } = connection;
  const options = { session, store, link, query, limit, base, forecast: undefined, meter };
  const uploaded = await uploadFiles(options);
  return { uploaded, context, unread: unreadPaths(session) };
}

function unreadPaths(session: Session): string[] {
  const changes = [...session.index.files.changes(0)].flat();
  return changes.filter(({ after }) => after?.hash === undefined).map(({ path }) => path);
}

describe('a large file that changes between its two readings', () => {
  it.each([
    ['grows', 3, (path: string) => appendFileSync(path, 'more')],
    ['shrinks', 3, (path: string) => truncateSync(path, 1000)],
    ['vanishes', 1, (path: string) => unlinkSync(path)],
  ])(
    '(%s) fails alone, with its twin, and the next push takes it as it is then',
    async (_, added, change) => {
      const files = [sandbox.write('work/large', 'a large file'), `${work}/twin`] as const;
      truncateSync(files[0], LARGE_BYTES);
      copyFileSync(...files);
      sandbox.write('work/small', 'a small file');
      // One of them is uploaded for both; the order of the reading threads decides which.
      const { uploaded, context, unread } = await uploadWith(() => files.forEach(change));
      expect(uploaded).toMatchObject({ objects: 1, failed: 2 });
      expect(unread).toEqual(['large', 'twin']);
      const failures = eventsOf(context, 'fileFailed').map(({ path, error }) => [path, error.code]);
      expect(failures.sort()).toEqual([
        ['large', 'io'],
        ['twin', 'io'],
      ]);
      expect(await push(testContext(work), {})).toMatchObject({
        result: 'pushed',
        failed: 0,
        changes: { added },
      });
    },
  );
});

describe('many large files that are read faster than they can be sent', () => {
  it('are uploaded a few at a time', async () => {
    const files = 20;
    for (let at = 0; at < files; at += 1)
      truncateSync(sandbox.write(`work/${at}`, `large file ${at}`), LARGE_BYTES);
    let begun = 0;
    const stop = () => {
      throw new DrayError('unreachable', 'Enough was seen.');
    };
    await expect(uploadWith(stop, () => (begun += 1))).rejects.toMatchObject({ code: 'unreachable' });
    expect(begun).toBeLessThanOrEqual(16);
  });
});
