/** An encrypted repository does all that a plain one does, on each kind of remote. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { collectGarbage } from '../../engine/jobs/collect/collect.ts';
import { tag } from '../../engine/jobs/history/refs.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { changePassword } from '../../engine/jobs/remotes/keys.ts';
import { repair } from '../../engine/jobs/repair/repair.ts';
import { forget } from '../../engine/jobs/retention/forget.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { openRemoteAt } from '../../engine/jobs/session/opened-remote.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { noise, plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';
import { parseRemoteUrl } from '../../engine/remotes/remote-url.ts';
import { startMinio } from '../servers/minio.ts';
import { type S3Endpoint, startVersitygw } from '../servers/versitygw.ts';

interface Place extends AsyncDisposable {
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

const onS3 = (start: () => Promise<S3Endpoint>) => async (): Promise<Place> => {
  const server = await start();
  const { bucket, environment } = server;
  return { url: `s3://${bucket}/private`, environment, [Symbol.asyncDispose]: () => server.stop() };
};

const PLACES: Readonly<Record<string, (sandbox: Sandbox) => Promise<Place>>> = {
  folder: async (sandbox) => ({
    url: sandbox.path('store'),
    environment: {},
    async [Symbol.asyncDispose]() {},
  }),
  peer: async (sandbox) => {
    mkdirSync(sandbox.path('offered'));
    const server = await serveForTest(sandbox.path('offered'));
    const peer = plainPlace(server.address.port);
    return {
      url: plainPlace(server.address.port, 'private'),
      environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_TOKEN_HOST: peer },
      [Symbol.asyncDispose]: () => server.close(),
    };
  },
  versitygw: onS3(startVersitygw),
  ...runBudget({ short: {}, long: { minio: onS3(startMinio) } }),
};

const MARKER = 'PLANTEDMARKER';

describe.each(Object.keys(PLACES))('An encrypted repository on %s', (name) => {
  let sandbox: Sandbox;
  let place: Place;
  let given: Readonly<Record<string, string>>;
  beforeEach(async () => {
    sandbox = createSandbox();
    place = await PLACES[name]!(sandbox);
    given = { DRAY_PASSWORD: 'two herons' };
  });
  afterEach(async () => {
    await place?.[Symbol.asyncDispose]();
    sandbox?.[Symbol.dispose]();
  });

  const as = (folder: string, more: Readonly<Record<string, string>> = {}) =>
    testContext(sandbox.path(folder), {
      environment: { ...place.environment, DRAY_AUTHOR: MARKER, ...given, ...more },
    });
  const clone = (directory: string, more: Readonly<Record<string, string>> = {}) =>
    cloneWorkspace(as('.', more), { url: place.url, directory });
  const treeOf = (folder: string) => describeTree(sandbox.path(folder));

  /** What the owner of the store has in hand. */
  async function onStore<T>(work: (store: ObjectStore) => Promise<T>): Promise<T> {
    const opened = await openRemoteAt(as('.'), parseRemoteUrl(place.url, sandbox.folder));
    await using _ = opened;
    return await work(opened.store);
  }

  async function start(): Promise<void> {
    mkdirSync(sandbox.path('ada'));
    const request = { remoteUrl: place.url, encrypt: true, layout: { chunkAbove: 4_000_000 } };
    const { recoveryKey } = await initWorkspace(as('ada'), request);
    // It opens without the cost of a password.
    given = { DRAY_PASSWORD: recoveryKey! };
    for (let at = 0; at < 5; at += 1) sandbox.write(`ada/${MARKER}/${at}.txt`, `${MARKER} ${at}`);
    sandbox.write(`ada/${MARKER}.bin`, Buffer.concat([Buffer.from(MARKER), noise(2_000_000, 1)]));
    sandbox.write('ada/cut.bin', Buffer.concat([noise(9_000_000, 2), Buffer.from(MARKER)]));
    await push(as('ada'), { message: `${MARKER} one` });
    await clone('bob');
  }

  async function keysOf(store: ObjectStore): Promise<string[]> {
    const { continuation, objects } = await store.list({ prefix: '' });
    expect(continuation).toBeUndefined();
    return objects.map(({ key }) => key);
  }

  it('takes two writers, merges, tags, forgets, collects and repairs', async () => {
    await start();
    expect(treeOf('bob')).toEqual(treeOf('ada'));
    sandbox.write(`ada/${MARKER}.bin`, noise(2_000_000, 3));
    sandbox.write('bob/theirs.txt', `${MARKER} theirs`);
    const pushed = await Promise.all(['ada', 'bob'].map((who) => push(as(who), {})));
    expect(pushed.map(({ result }) => result)).toEqual(['pushed', 'pushed']);
    for (const who of ['ada', 'bob']) await pull(as(who), {});
    expect(treeOf('bob')).toEqual(treeOf('ada'));
    await tag(as('ada'), { name: 'v1' });

    await forget(as('ada'), { policy: { keepLast: 1 } });
    const collected = await collectGarbage(as('ada'), { graceSeconds: 0 });
    expect(collected.result).toBe('collected');
    expect(collected.removedBytes).toBeGreaterThan(2_000_000);
    await clone('after', {});
    expect(treeOf('after')).toEqual(treeOf('ada'));

    await onStore(async (store) => {
      const lost = (await keysOf(store)).find((key) => key.startsWith('objects/'))!;
      await store.delete([lost]);
    });
    expect(await verify(as('ada'), {})).toMatchObject({ missing: 1 });
    await repair(as('ada'), {});
    for (const request of [{ sample: { kind: 'part', part: 1, of: 2 } }, { readDataPercent: 100 }] as const)
      expect(await verify(as('bob'), request)).toMatchObject({ missing: 0, damaged: 0 });
    await clone('repaired');
    expect(treeOf('repaired')).toEqual(treeOf('ada'));
  });

  it('shows nothing in any key or stored byte, and opens by a new password only', async () => {
    await start();
    await tag(as('ada'), { name: 'v1' });
    await changePassword(as('ada', { DRAY_PASSWORD: 'two herons', DRAY_NEW_PASSWORD: 'a kingfisher' }));
    await expect(clone('old', { DRAY_PASSWORD: 'two herons' })).rejects.toMatchObject({
      code: 'wrongPassword',
    });
    await clone('new', { DRAY_PASSWORD: 'a kingfisher' });
    expect(treeOf('new')).toEqual(treeOf('ada'));
    await onStore(async (store) => {
      const keys = await keysOf(store);
      expect(keys.length).toBeGreaterThan(7);
      for (const key of keys) {
        const { bytes } = (await store.read(key, { maxBytes: 100_000_000 }))!;
        expect(key).not.toContain(MARKER);
        expect(Buffer.from(bytes).includes(MARKER), key).toBe(false);
        for (const secret of ['two herons', 'a kingfisher', given.DRAY_PASSWORD!])
          expect(Buffer.from(bytes).includes(secret), key).toBe(false);
      }
    });
    for (const file of ['config.json', 'state.json', 'index.db'])
      for (const secret of ['two herons', 'a kingfisher', given.DRAY_PASSWORD!])
        expect(readFileSync(join(sandbox.path('ada'), '.dray', file)).includes(secret), file).toBe(false);
  });
});
