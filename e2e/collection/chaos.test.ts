/**
 * Pushes and collections at once, on real servers, with processes killed at random requests, requests that
 * arrive after their sender has died, and others that take very long. What a push reported is there, and at
 * the end nothing else.
 */
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { openRepositoryAt } from '../../engine/jobs/session/opened-remote.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import type { CommitHash } from '../../engine/model/entry.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';
import { parseRemoteUrl } from '../../engine/remotes/remote-url.ts';
import { readCollectionState } from '../../engine/repository/collection/collection-state.ts';
import { readDescriptor } from '../../engine/repository/descriptor.ts';
import { collectionListKey } from '../../engine/repository/keys.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { startMinio } from '../servers/minio.ts';
import { type S3Endpoint, startVersitygw } from '../servers/versitygw.ts';
import { type ChaosCounts, type ChaosOutcome, type ReportedPush, runChaos } from './chaos.ts';
import { keysBelow, type NamedByRefs, namedByRefs } from './stored-keys.ts';

const CONTENT = ['commits/', 'manifests/', 'objects/', 'packs/', 'relocations/'];
const LONG_MS = runBudget({ short: 0, long: 2, full: 10 }) * 60_000;
/** A pack that was written anew goes one round later, and its new one may have lost blobs by then. */
const QUIET_COLLECTIONS_MAX = 6;

const scale = runBudget({
  short: {
    branches: ['main', 'second'],
    pushers: 3,
    collectors: 2,
    mishapPercent: 40,
    forgetPercent: 0,
    isEnough: ({ killedPushes, pushes, rounds }: ChaosCounts) =>
      pushes >= 12 && rounds >= 3 && killedPushes > 0,
  },
  long: {
    branches: ['main', 'second', 'third'],
    pushers: 8,
    collectors: 2,
    mishapPercent: 30,
    forgetPercent: 15,
    isEnough: ({ elapsedMs, rounds }: ChaosCounts) => rounds >= 10 && elapsedMs > LONG_MS,
  },
});

interface Kind {
  readonly name: string;
  readonly encrypt: boolean;
}

/** Both compress what can be compressed. */
const PLAIN: Kind = { name: 'a plain repository', encrypt: false };
const ENCRYPTED: Kind = { name: 'an encrypted repository', encrypt: true };
const kinds = runBudget({ short: [ENCRYPTED], long: [PLAIN, ENCRYPTED] });

/** Makes a repository with objects, packs and chunks from little content. @returns What opens it. */
async function makeRepository(server: S3Endpoint, url: string, encrypt: boolean) {
  using maker = createSandbox();
  const environment = { ...server.environment, DRAY_PASSWORD: 'secret' };
  const { recoveryKey } = await initWorkspace(testContext(maker.folder, { environment }), {
    remoteUrl: url,
    encrypt,
    layout: { packBelow: 4_096, chunkAbove: 65_536 },
  });
  // Unlike a password, it opens without a cost in each process.
  return recoveryKey === undefined ? {} : { DRAY_PASSWORD: recoveryKey };
}

/** A workspace of a new repository, and the branches. */
async function startDataset(server: S3Endpoint, encrypt: boolean): Promise<S3Dataset> {
  const name = 'chaos';
  const password = await makeRepository(server, `s3://${server.bucket}/${name}`, encrypt);
  const dataset = createS3Dataset({ ...server, environment: { ...server.environment, ...password } }, name);
  await dataset.init('origin');
  dataset.sandbox.write('origin/first', 'as it was');
  await push(dataset.context('origin'), { message: 'first' });
  for (const branch of scale.branches.slice(1))
    expect((await dataset.cli('origin', ['branch', branch])).exitCode).toBe(0);
  return dataset;
}

/** The last collections, beside which nobody works. */
async function collectUntilNothing(dataset: S3Dataset): Promise<void> {
  for (let run = 0; run < QUIET_COLLECTIONS_MAX; run += 1) {
    const { exitCode, stdout } = await dataset.cli('origin', ['--json', 'gc', '--grace', '0s']);
    expect(exitCode, stdout).toBe(0);
    if (JSON.parse(stdout.trimEnd().split('\n').at(-1)!).result === 'nothingToCollect') return;
  }
  expect.unreachable(`After ${QUIET_COLLECTIONS_MAX} collections there is still something to remove.`);
}

/** Each commit that was reported and not forgotten can be reached and cloned. @returns How many. */
async function checkReported(
  dataset: S3Dataset,
  reported: readonly ReportedPush[],
  { commits, forgotten }: NamedByRefs,
): Promise<number> {
  let cloned = 0;
  for (const { commit, own, tree } of reported) {
    expect(commits.has(commit as CommitHash), `${commit} can be reached`).toBe(true);
    expect(commits.has(own as CommitHash), `${own} can be reached`).toBe(true);
    if (forgotten.has(own as CommitHash)) continue;
    const directory = `clone-${own.slice(0, 12)}`;
    await cloneWorkspace(dataset.context('.'), { url: dataset.url, directory, ref: own });
    expect(describeTree(dataset.sandbox.path(directory), { times: false }), own).toEqual(tree);
    rmSync(dataset.sandbox.path(directory), { recursive: true });
    cloned += 1;
  }
  return cloned;
}

async function checkNoGarbage(store: ObjectStore, { keys }: NamedByRefs): Promise<void> {
  expect([...(await keysBelow(store, CONTENT))].sort()).toEqual([...keys].sort());
  const { avoid, refs } = (await readCollectionState(store))!.state;
  const lists = refs === undefined ? avoid : [...avoid, refs];
  expect([...(await keysBelow(store, ['collection/']))].sort()).toEqual(lists.map(collectionListKey).sort());
}

async function checkChaos(server: S3Endpoint, encrypt: boolean): Promise<ChaosOutcome> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  using dataset = await startDataset(server, encrypt);
  const outcome = await runChaos(dataset, { ...scale, endpoint: server.endpoint, seed });
  await collectUntilNothing(dataset);
  await using remote = await openRepositoryAt(dataset.context('.'), parseRemoteUrl(dataset.url, '.'));
  expect((await readDescriptor(remote.store))!.encryption !== undefined).toBe(encrypt);
  const named = await namedByRefs(remote.store);
  await checkNoGarbage(remote.store, named);
  const found = await verify(dataset.context('origin'), { readDataPercent: 100 });
  expect(found).toMatchObject({ missing: 0, damaged: 0 });
  expect(found.commits + found.forgotten).toBe(named.commits.size);
  const cloned = await checkReported(dataset, outcome.reported, named);
  expect(cloned).toBeGreaterThan(0);
  return outcome;
}

/** MinIO is built by Go for minutes, so only the long tests have it. */
const servers: [string, () => Promise<S3Endpoint>][] = [
  ['versitygw', startVersitygw],
  ...runBudget<[string, () => Promise<S3Endpoint>][]>({ short: [], long: [['MinIO', startMinio]] }),
];

describe.each(servers)('pushes beside collections on %s', (_, start) => {
  it.each(kinds)(
    'keep in $name what they reported, however many are killed, and at the end nothing else is left',
    async ({ encrypt }) => {
      await using server = await start();
      const { counts } = await checkChaos(server, encrypt);
      expect(counts.killedPushes).toBeGreaterThan(0);
    },
    30 * 60_000,
  );
});
