/** What it costs to see that a branch that grew still leads to the workspace's base. */
import { mkdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import type { CommitHash } from '../../../model/entry.ts';
import { createMemoryStore } from '../../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { encodeCommit, storeCommit } from '../../../repository/commit.ts';
import { EMPTY_MANIFEST, totalsOfManifest } from '../../../repository/manifest/manifest.ts';
import { createAdaptiveLimit } from '../../../transfer/limit/adaptive-limit.ts';
import { onEachRequest } from '../../collect/collected-repository.fixture.ts';
import { cloneWorkspace } from '../../pull/clone.ts';
import { push } from '../../push/push.ts';
import { initWorkspace } from '../../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../job.fixture.ts';
import { openSession, type Session } from '../open-workspace.ts';
import { refuseReplaced } from './replaced-history.ts';

const BRANCH_BEGAN_MS = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;
const AT_ONCE = 32;

let sandbox: Sandbox;
let session: Session;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('work'));
  await initWorkspace(testContext(sandbox.path('work')), { remoteUrl: sandbox.path('remote') });
  session = await openSession(testContext(sandbox.path('work')), 'pull');
});
afterEach(() => {
  session[Symbol.dispose]();
  sandbox[Symbol.dispose]();
});

interface Branch {
  readonly store: ObjectStore;
  /** From the first to the newest, a day between each and the next. */
  readonly chain: readonly CommitHash[];
}

async function storeBranch(length: number): Promise<Branch> {
  let nowMs = BRANCH_BEGAN_MS;
  const store = createMemoryStore({ clock: { ...systemClock, nowMs: () => nowMs } });
  const chain: CommitHash[] = [];
  for (let at = 0; at < length; at += 1) {
    const commit = encodeCommit({
      repository: '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77',
      parents: chain.slice(-1),
      author: 'a',
      message: `${at}`,
      time: new Date(nowMs).toISOString(),
      totals: totalsOfManifest(EMPTY_MANIFEST),
      manifest: EMPTY_MANIFEST,
    });
    await storeCommit(store, commit);
    chain.push(commit.hash);
    nowMs += DAY_MS;
  }
  return { store, chain };
}

/** The requests, and how many of them waited for another: those under way together share a turn. */
async function search(
  { store }: Branch,
  { base, tip }: { readonly base: CommitHash; readonly tip: CommitHash },
) {
  let turns = 0;
  let turn: Promise<unknown> | undefined;
  const counted = onEachRequest(store, async () => {
    turn ??= (async () => {
      for (let at = 0; at < 20; at += 1) await setImmediate();
      turns += 1;
      turn = undefined;
    })();
    await turn;
  });
  session.state = { ...session.state, bases: { origin: base }, follows: { origin: 'main' } };
  const remote = {
    store: counted.store,
    limit: createAdaptiveLimit({ clock: systemClock, fixed: AT_ONCE }),
  };
  const stored = { name: 'heads/main', commit: tip } as Parameters<typeof refuseReplaced>[2]['tip'];
  await refuseReplaced(session, remote, { tip: stored, collects: true });
  return { requests: counted.count(), turns };
}

describe('A branch that grew, with older commits before the base', () => {
  // The commits, the base and the tip: the pull reads these two anyway. A listing shows 1,000.
  it.each([
    { between: 0, requestsMax: 2, turnsMax: 2 },
    { between: 1, requestsMax: 3, turnsMax: 3 },
    { between: 10, requestsMax: 10 + 3 + AT_ONCE, turnsMax: 9 },
    { between: 100, requestsMax: 100 + 3 + AT_ONCE, turnsMax: 15 },
    { between: 1_000, requestsMax: 1_000 + 4 + AT_ONCE, turnsMax: 60 },
  ])('is read in few turns where $between commits lie between', async ({ between, ...most }) => {
    const branch = await storeBranch(between + 302);
    const { chain } = branch;
    const { requests, turns } = await search(branch, { base: chain[300]!, tip: chain.at(-1)! });
    expect(requests).toBeLessThanOrEqual(most.requestsMax);
    expect(turns).toBeLessThanOrEqual(most.turnsMax);
    // Nothing of it is read a second time, nor what a later tip has below it.
    expect(await search(branch, { base: chain[300]!, tip: chain.at(-1)! })).toMatchObject({ requests: 0 });
  });

  it('is read only down to the tip that was seen last', async () => {
    const branch = await storeBranch(40);
    const { chain } = branch;
    await search(branch, { base: chain[0]!, tip: chain[30]! });
    expect(await search(branch, { base: chain[0]!, tip: chain[31]! })).toMatchObject({ requests: 1 });
    expect(await search(branch, { base: chain[0]!, tip: chain[33]! })).toMatchObject({ requests: 2 });
    // What was seen of one base says nothing about another.
    await expect(search(branch, { base: chain[35]!, tip: chain[33]! })).rejects.toMatchObject({
      data: { reason: 'rolledBack' },
    });
  });
});

it('a push after a push that merged reads nothing between', async () => {
  session[Symbol.dispose]();
  const [work, other] = [sandbox.path('work'), sandbox.path('other')];
  const pushed = (at: string) => push(testContext(at), {});
  sandbox.write('work/a', '1');
  await pushed(work);
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('remote'), directory: 'other' });
  const merging = async (name: string) => {
    sandbox.write(`other/${name}`, name);
    await pushed(other);
    sandbox.write(`work/${name}-own`, name);
    return (await pushed(work)).requests.reads;
  };
  const first = await merging('b');
  // Its base is the commit that it merged, its branch is at the merge.
  expect(await merging('c')).toBe(first);
  session = await openSession(testContext(work), 'pull');
});
