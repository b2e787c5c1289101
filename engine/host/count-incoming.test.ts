import { beforeEach, describe, expect, it } from 'vitest';
import type { CommitHash } from '../model/entry.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { createMeter, type Meter, withMeter } from '../remotes/wrappers/with-meter.ts';
import { encodeCommit, storeCommit } from '../repository/commit.ts';
import { commitKey } from '../repository/keys.ts';
import { EMPTY_MANIFEST, totalsOfManifest } from '../repository/manifest/manifest.ts';
import { type CountedTip, countIncoming } from './count-incoming.ts';

const HOUR_MS = 3_600_000;

let plain: ObjectStore;
let meter: Meter;
let store: ObjectStore;
let made = 0;
beforeEach(() => {
  plain = createMemoryStore();
  meter = createMeter();
  store = withMeter(plain, meter);
  made = 0;
});

/** Adds a commit that is an hour newer than the one before. */
async function commit(...parents: readonly CommitHash[]): Promise<CommitHash> {
  made += 1;
  const encoded = encodeCommit({
    repository: '00000000-0000-4000-8000-000000000000',
    parents,
    ...{ author: 'ada', message: `${made}`, time: new Date(made * HOUR_MS).toISOString() },
    ...{ totals: totalsOfManifest(EMPTY_MANIFEST), manifest: EMPTY_MANIFEST },
  });
  await storeCommit(plain, encoded);
  return encoded.hash;
}

async function chain(from: CommitHash, length: number): Promise<CommitHash> {
  let tip = from;
  for (let count = 0; count < length; count += 1) tip = await commit(tip);
  return tip;
}

/** Counts, and says what it took. */
async function look(tip: CommitHash, base: CommitHash | undefined, more: More = {}) {
  const { before, signal = new AbortController().signal } = more;
  const earlier = meter.totals().total;
  const counted = await countIncoming({ meter, store }, { tip, bases: [base], before, signal });
  return { count: counted.counts.get(base), requests: meter.totals().total - earlier, counted };
}

interface More {
  readonly before?: CountedTip;
  readonly signal?: AbortSignal;
}

describe('the count of incoming commits', () => {
  it('takes a request for each commit and one for the base, and none for a tip that was counted', async () => {
    const base = await chain(await commit(), 5);
    const tip = await chain(base, 3);
    const first = await look(tip, base);
    expect(first).toMatchObject({ count: { commits: 3, isMore: false, isRewritten: false }, requests: 4 });
    const again = await look(tip, base, { before: first.counted });
    expect(again).toMatchObject({ count: first.count, requests: 0 });
    const next = await look(await commit(tip), base, { before: again.counted });
    expect(next).toMatchObject({ count: { commits: 4 }, requests: 1 });
    expect(await look(tip, tip)).toMatchObject({ count: undefined, requests: 0 });
  });

  it('follows both sides of a merge', async () => {
    const base = await commit(await commit());
    const own = await commit(base);
    const theirs = await chain(base, 2);
    const merge = await commit(theirs, own);
    expect(await look(merge, base)).toMatchObject({ count: { commits: 4, isRewritten: false }, requests: 5 });
    // A workspace stays on its own commit after a push that was merged.
    expect(await look(merge, own)).toMatchObject({ count: { commits: 3, isRewritten: false } });
  });

  it('counts every commit for a workspace without one', async () => {
    const tip = await chain(await commit(), 3);
    expect(await look(tip, undefined)).toMatchObject({
      ...{ count: { commits: 4, isMore: false, isRewritten: false }, requests: 4 },
    });
  });

  it('ends at 1,000 commits', async () => {
    const base = await commit();
    const tip = await chain(base, 1_005);
    const first = await look(tip, base);
    expect(first).toMatchObject({
      ...{ count: { commits: 1_000, isMore: true, isRewritten: false }, requests: 1_002 },
    });
    expect(await look(tip, base, { before: first.counted })).toMatchObject({ requests: 0 });
    const next = await look(await commit(tip), base, { before: first.counted });
    expect(next).toMatchObject({ count: { commits: 1_000, isMore: true }, requests: 1 });
  });

  it('ends when it has received much', async () => {
    const base = await commit();
    const tip = await chain(base, 9);
    const { read } = store;
    store.read = (key, options) => {
      meter.received(10 * 1024 * 1024);
      return read(key, options);
    };
    expect(await look(tip, base)).toMatchObject({ count: { commits: 2, isMore: true }, requests: 4 });
  });

  it('says that a branch was moved back or rewritten', async () => {
    const old = await chain(await commit(), 2);
    const base = await chain(old, 2);
    expect(await look(old, base)).toMatchObject({ count: { commits: 0, isMore: false, isRewritten: true } });
    const rewritten = await chain(old, 3);
    expect(await look(rewritten, base)).toMatchObject({
      ...{ count: { commits: 3, isMore: false, isRewritten: true } },
    });
  });

  it('gives no number for a branch that was moved back further than it reads, and reads it once', async () => {
    const old = await commit();
    const base = await chain(old, 1_005);
    const first = await look(old, base);
    expect(first.count).toBeNull();
    expect(await look(old, base, { before: first.counted })).toMatchObject({ requests: 0 });
  });

  it('gives no number when a commit cannot be read, and continues there the next time', async () => {
    const base = await commit();
    const lost = await chain(base, 2);
    const tip = await chain(lost, 3);
    const object = (await plain.read(commitKey(lost), { maxBytes: 1_000_000 }))!;
    await plain.delete([commitKey(lost)]);
    const failed = await look(tip, base);
    // The last one asks whether somebody has ended history there.
    expect(failed).toMatchObject({ count: undefined, requests: 6 });
    await plain.put(commitKey(lost), object.bytes);
    const next = await look(tip, base, { before: failed.counted });
    expect(next).toMatchObject({ count: { commits: 5, isMore: false }, requests: 2 });
  });

  it('gives no number when it is stopped', async () => {
    const base = await commit();
    const stopping = new AbortController();
    const { read } = store;
    store.read = (key, options) => {
      if (meter.totals().total === 2) stopping.abort();
      return read(key, options);
    };
    const tip = await chain(base, 5);
    const stopped = await look(tip, base, { signal: stopping.signal });
    expect(stopped).toMatchObject({ count: undefined, requests: 2 });
    expect(await look(tip, base, { before: stopped.counted })).toMatchObject({
      ...{ count: { commits: 5 }, requests: 4 },
    });
  });

  it('reads each commit once for workspaces with several bases', async () => {
    const base = await commit();
    const newer = await chain(base, 2);
    const tip = await chain(newer, 2);
    const signal = new AbortController().signal;
    const { counts } = await countIncoming(
      { meter, store },
      { tip, bases: [base, newer, tip], before: undefined, signal },
    );
    expect([...counts].map(([at, count]) => [at, count?.commits])).toEqual([
      [base, 4],
      [newer, 2],
    ]);
    expect(meter.totals().total).toBe(5);
  });
});
