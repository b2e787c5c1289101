/**
 * `--newer` and `--older` filter by the age of an object's content, not of its upload. Runs on a real server,
 * beside rclone's `--max-age` and `--min-age` on the same objects, which were all uploaded just now.
 */
import { execFile } from 'node:child_process';
import { readdirSync, utimesSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FoundPeer, findPeer } from '../../bench/machines/peers.ts';
import type { SyncRequest, TreeFilterRequest } from '../../engine/api/jobs/trees.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { usage } from '../../engine/jobs/one-place/disk-usage.ts';
import { listPlace } from '../../engine/jobs/one-place/list-place.ts';
import { removePlace } from '../../engine/jobs/one-place/remove-place.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { startFakeS3 } from '../servers/fake-s3.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
const BOUND_MS = NOW_MS - 7 * DAY_MS;
/** One content of each age. `future` checks that a content may be newer than its upload. */
const AGES_DAYS = { future: -10, young: 1, old: 30 } as const;
const FILTERS = {
  newer: { filter: { newerThanMs: BOUND_MS }, rclone: ['--max-age', '7d'], names: ['future', 'young'] },
  older: { filter: { olderThanMs: BOUND_MS }, rclone: ['--min-age', '7d'], names: ['old'] },
} as const;
type Bound = keyof typeof FILTERS;

let server: S3Server;
let rclone: FoundPeer;
let sandbox: Sandbox;
let folders = 0;
beforeAll(async () => {
  rclone = await findPeer('rclone');
  server = await startVersitygw();
});
afterAll(() => server?.stop());
beforeEach(() => {
  sandbox = createSandbox();
  for (const name of Object.keys(AGES_DAYS)) write(`aged/${name}`);
});
afterEach(() => sandbox[Symbol.dispose]());

function write(path: string, name = path.split('/').at(-1)!): void {
  const days = AGES_DAYS[name as keyof typeof AGES_DAYS];
  const seconds = (NOW_MS - days * DAY_MS) / 1000;
  utimesSync(sandbox.write(path, `content of ${name}`), seconds, seconds);
}

const newContext = () =>
  testContext(sandbox.folder, { environment: { ...server.environment, DRAY_CACHE: sandbox.path('cache') } });
const at = (prefix: string) => ({ place: `s3://${server.bucket}/${prefix}` });

/**
 * Uploads the three files under a new prefix and waits until the current second ends, because Dray does not
 * remember objects that are younger than that.
 */
async function uploadAged(): Promise<string> {
  folders += 1;
  const prefix = `aged-${folders}`;
  await copyTree(newContext(), { source: { place: 'aged' }, destination: at(prefix) });
  await endOfSecond();
  await server.resetRequests();
  return prefix;
}

/** Uses the server's clock, from its `Date` header, which may be up to a second late. */
async function endOfSecond(): Promise<void> {
  const uploadedMs = Math.floor(Date.now() / 1000) * 1000;
  const dateMs = async () => Date.parse((await fetch(server.endpoint)).headers.get('date')!);
  await expect.poll(dateMs, { interval: 50 }).toBeGreaterThan(uploadedMs);
}

async function namesAt(prefix: string): Promise<readonly string[]> {
  const context = newContext();
  await listPlace(context, { ...at(prefix), recursive: true }).catch(() => {});
  return eventsOf(context, 'entry')
    .map(({ path }) => path)
    .sort();
}

const operations = async () => (await server.requests()).map(({ operation }) => operation);

const missing = () => ('missing' in rclone ? `rclone is not available: ${rclone.missing}` : '');

async function runRclone(...args: readonly string[]): Promise<void> {
  if ('missing' in rclone) throw new Error(missing());
  const environment = {
    PATH: process.env.PATH,
    HOME: sandbox.folder,
    ...server.environment,
    RCLONE_CONFIG: '',
    RCLONE_CONFIG_S3_TYPE: 's3',
    RCLONE_CONFIG_S3_PROVIDER: 'Other',
    RCLONE_CONFIG_S3_ENV_AUTH: 'true',
    RCLONE_CONFIG_S3_ENDPOINT: server.endpoint,
    RCLONE_CONFIG_S3_REGION: server.region,
    RCLONE_CONFIG_S3_NO_CHECK_BUCKET: 'true',
  };
  await promisify(execFile)(rclone.path, args, { env: environment, cwd: sandbox.folder });
}
const remote = (prefix: string) => `S3:${server.bucket}/${prefix}`;

const TRIED = runBudget<readonly Bound[]>({ short: ['older'], long: ['newer', 'older'] });

describe.each(TRIED)('--%s', (bound) => {
  const { filter, names } = FILTERS[bound];
  const others = Object.keys(AGES_DAYS).filter((name) => !(names as readonly string[]).includes(name));

  it('copies files of that age from a store, as rclone does', async ({ skip }) => {
    skip(missing() !== '', missing());
    const prefix = await uploadAged();
    await copyTree(newContext(), { source: at(prefix), destination: { place: 'to' }, filter });
    await runRclone('copy', remote(prefix), 'by-rclone', ...FILTERS[bound].rclone);
    expect(readdirSync(sandbox.path('to')).sort()).toEqual(names);
    expect(readdirSync(sandbox.path('by-rclone')).sort()).toEqual(names);
  });

  it('deletes only objects of that age in a sync to a store, as rclone does', async ({ skip }) => {
    skip(missing() !== '', missing());
    const [mine, theirs] = [await uploadAged(), await uploadAged()];
    sandbox.path('nothing', 'x');
    const source = { place: 'nothing' };
    expect(await syncTree(newContext(), { source, destination: at(mine), filter })).toMatchObject({
      deletedFiles: names.length,
    });
    await runRclone('sync', 'nothing', remote(theirs), ...FILTERS[bound].rclone);
    expect(await namesAt(mine)).toEqual(others);
    expect(await namesAt(theirs)).toEqual(others);
  });

  it('copies files of that age in a sync from a store, and deletes no file of another age', async () => {
    const prefix = await uploadAged();
    for (const name of Object.keys(AGES_DAYS)) write(`to/gone ${name}`, name);
    write('to/old', 'young');
    await syncTree(newContext(), { source: at(prefix), destination: { place: 'to' }, filter });
    // The source has `old`, so the sync keeps it whatever its age.
    const kept = others.map((name) => `gone ${name}`);
    expect(readdirSync(sandbox.path('to')).sort()).toEqual([...new Set([...kept, 'old', ...names])].sort());
  });

  longIt('copies and deletes only objects of that age in a sync between stores', async () => {
    const [from, to] = [await uploadAged(), await uploadAged()];
    await copyTree(newContext(), { source: at(from), destination: at(`${to}/below`) });
    await removePlace(newContext(), { ...at(from), recursive: true });
    write('aged/only', 'young');
    await copyTree(newContext(), { source: { place: 'aged/only' }, destination: at(`${from}/`) });
    await syncTree(newContext(), {
      source: at(from),
      destination: at(to),
      filter,
      maxDelete: { percent: 100 },
    });
    const kept = [...others.map((name) => `below/${name}`), ...others];
    expect(await namesAt(to)).toEqual([...kept, ...(bound === 'newer' ? ['only'] : [])].sort());
  });

  it('applies to check, ls, du and rm as well', async () => {
    const prefix = await uploadAged();
    sandbox.path('nothing', 'x');
    expect(
      await checkTrees(newContext(), { source: { place: 'aged' }, destination: at(prefix), filter }),
    ).toMatchObject({ files: names.length, same: names.length, onlyInDestination: 0 });
    expect(
      await checkTrees(newContext(), { source: { place: 'nothing' }, destination: at(prefix), filter }),
    ).toMatchObject({ onlyInDestination: names.length });
    const context = newContext();
    await listPlace(context, { ...at(prefix), filter });
    expect(eventsOf(context, 'entry').map(({ path }) => path)).toEqual(names);
    expect(await usage(newContext(), { ...at(prefix), filter })).toMatchObject({ files: names.length });
    expect(await removePlace(newContext(), { ...at(prefix), recursive: true, filter })).toMatchObject({
      removed: names.length,
    });
    expect(await namesAt(prefix)).toEqual(others);
  });
});

describe('The ages of objects', () => {
  const lookupOf = (context: ReturnType<typeof newContext>) => eventsOf(context, 'lookup')[0]!.lookup;

  it('cost one HEAD for each object that passes the name and size filters, once', async () => {
    const prefix = await uploadAged();
    const filter: TreeFilterRequest = {
      newerThanMs: BOUND_MS,
      maxSizeBytes: 'content of young'.length,
      rules: [{ action: 'exclude', pattern: 'old' }],
    };
    const dryRun = async (more: { noIndex?: true } = {}) => {
      await server.resetRequests();
      const context = newContext();
      const pair = { source: at(prefix), destination: { place: 'to' }, filter };
      const summary = await copyTree(context, { ...pair, dryRun: true, ...more });
      const asked = (await operations()).filter((name) => name === 'HeadObject').length;
      return { asked, summary, lookup: lookupOf(context) };
    };
    // One more HEAD finds out whether the source is a single object.
    expect(await dryRun()).toMatchObject({
      asked: 2,
      summary: { copiedFiles: 1, requests: { reads: 2, lists: 1 } },
      lookup: { timesAsked: 1, timesRemembered: 0 },
    });
    expect(await dryRun()).toMatchObject({
      asked: 1,
      summary: { copiedFiles: 1 },
      lookup: { timesAsked: 0, timesRemembered: 1 },
    });
    expect(await dryRun({ noIndex: true })).toMatchObject({ asked: 2, lookup: { timesAsked: 1 } });
  });

  const deleteByAge = async (prefix: string, more: Partial<SyncRequest> = {}) => {
    sandbox.path('nothing', 'x');
    await server.resetRequests();
    const context = newContext();
    const pair = { source: { place: 'nothing' }, destination: at(prefix), filter: FILTERS.newer.filter };
    const { deletedFiles } = await syncTree(context, { ...pair, dryRun: true, ...more });
    return { deletedFiles, operations: (await operations()).sort(), ...lookupOf(context) };
  };

  longIt(
    'are read again for objects that a sync deletes, and remembered for those that it keeps',
    async () => {
      const prefix = await uploadAged();
      expect(await deleteByAge(prefix)).toMatchObject({ deletedFiles: 2, timesAsked: 3, timesRemembered: 0 });
      expect(await deleteByAge(prefix)).toMatchObject({
        ...{ deletedFiles: 2, timesAsked: 2, timesRemembered: 1 },
        // Two of the ages, two of repositories above.
        operations: [...Array<string>(4).fill('HeadObject'), 'ListObjectsV2'],
      });
      // The same content with another time: neither the etag nor the upload time in this test shows it.
      utimesSync(sandbox.path('aged/young'), 1_000_000, 1_000_000);
      await copyTree(newContext(), { source: { place: 'aged' }, destination: at(prefix) });
      expect(await deleteByAge(prefix)).toMatchObject({ deletedFiles: 1 });
    },
  );

  it('are the ages of the uploads with --use-server-modtime, without a HEAD of an object', async () => {
    const prefix = await uploadAged();
    const filter = { newerThanMs: BOUND_MS, serverTime: true };
    expect(await deleteByAge(prefix, { filter })).toMatchObject({
      ...{ deletedFiles: 3, timesAsked: 0, operations: ['HeadObject', 'HeadObject', 'ListObjectsV2'] },
    });
  });

  it('are the ages of the uploads for objects without a stored time', async () => {
    await using store = await startFakeS3();
    for (const name of ['a', 'b']) store.objects.set(`t/${name}`, Buffer.from(name));
    sandbox.path('nothing', 'x');
    const context = testContext(sandbox.folder, {
      environment: { ...store.environment, DRAY_CACHE: sandbox.path('cache') },
    });
    const pair = { source: { place: 'nothing' }, destination: { place: `s3://${store.bucket}/t` } };
    const sync = (filter: TreeFilterRequest) => syncTree(context, { ...pair, filter });
    // The fake store reports 10:00 that morning as the upload time of every object.
    expect(await sync({ newerThanMs: Date.UTC(2026, 10, 13, 11) })).toMatchObject({ deletedFiles: 0 });
    const older = { olderThanMs: Date.UTC(2026, 10, 13, 11) };
    store.fault = ({ key, method }) =>
      method === 'HEAD' && key === 't/b' ? { status: 403, code: 'AccessDenied' } : undefined;
    await expect(sync(older)).rejects.toMatchObject({ code: 'partial' });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([{ path: 'b', error: { code: 'accessDenied' } }]);
    expect([...store.objects.keys()]).toEqual(['t/a', 't/b']);
    store.fault = () => undefined;
    expect(await sync(older)).toMatchObject({ deletedFiles: 2 });
  });
});
