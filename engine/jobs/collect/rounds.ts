/**
 * Rounds of a collection: mark, fence, second mark, seal, remove. repository/FORMAT.md has the rules and says
 * why they are safe. Each step ends by a compare-and-swap of `collection.json`, so whoever runs next goes on
 * from there, and two collectors at once do no harm: the loser of a swap goes on from what the winner wrote.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { avoidKeyOfMoved } from '../../repository/collection/avoid-list.ts';
import {
  type CollectionState,
  lostState,
  readCollectionState,
  type StoredState,
  writeCollectionState,
} from '../../repository/collection/collection-state.ts';
import {
  readRefRecord,
  refuseLost,
  type SeenRef,
  writeRefRecord,
} from '../../repository/collection/ref-record.ts';
import { damaged } from '../../repository/document.ts';
import { hashFromPackKey, PACKS_PREFIX, packKey, RETENTION_KEY } from '../../repository/keys.ts';
import type { AnyRef } from '../../repository/refs.ts';
import { checkLength, readRetention } from '../../repository/retention.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import { isFinding } from '../history/verify/findings.ts';
import { AvoidLists, KeyLists } from './candidate-lists.ts';
import { findRescued, removeCondemned } from './condemned-keys.ts';
import { fenceRefs, readAllRefs } from './fence-refs.ts';
import { listGarbage } from './list-garbage.ts';
import { Mark } from './mark.ts';
import type { Repacked } from './repack.ts';
import { createReplacedCheck } from './replaced-packs.ts';
import { createStrandedPacks, giveUpPacks } from './stranded-packs.ts';
import { sweepLists } from './sweep-lists.ts';
import { createTally, sumTallies, type Tally } from './tally.ts';

export interface RoundOptions {
  /** The repository's id. */
  readonly repository: string;
  readonly graceSeconds: number;
  /** The size of packs, of the repository's layout. */
  readonly packTarget: number;
  /** Writes nothing, and leaves a round alone that somebody else began. */
  readonly dryRun: boolean;
}

export interface RoundTools extends WalkTools {
  /** What the workspace knows: a ref that must be there, unless it was removed. */
  readonly seen?: SeenRef | undefined;
  readonly clock: Clock;
  readonly progress: RoundProgress;
}

/** Takes what a round has done so far. */
export interface RoundProgress {
  phase(phase: 'mark' | 'query' | 'remove'): void;
  add(objects: number, bytes: number): void;
}

export interface RoundsOutcome {
  /** The last round of the repository, 0 before the first. */
  readonly round: number;
  /** Branches and tags, pending ones included. */
  readonly refs: number;
  /** Commits that are kept, and those that are forgotten. */
  readonly commits: number;
  readonly forgottenCommits: number;
  /** On the store, when it was listed. */
  readonly listed: Tally;
  /** Removed by this run; in a dry run what it would remove. Bytes that were written anew do not count. */
  readonly removed: Tally;
  /** Needed by no commit, but younger than the grace. */
  readonly young: Tally;
  /** Packs that were written anew, or would be, and what that frees: a part of `removed`. */
  readonly repacked: Repacked;
  /** Of the round before. */
  readonly avoidLists: number;
  /** A round that somebody else began was ended, or waits for that in a dry run. */
  readonly isContinued: boolean;
}

/** After this many rounds that others began in between, a run ends. */
const ROUNDS_MAX = 8;

export async function runRounds(tools: RoundTools, options: RoundOptions): Promise<RoundsOutcome> {
  let isContinued = false;
  let removed: Tally = { objects: 0, bytes: 0 };
  for (let rounds = 0; ; rounds += 1) {
    const { repository } = options;
    let stored = await readCollectionState(tools.store, { repository, signal: tools.context.signal });
    if (stored && stored.state.phase !== 'done') {
      isContinued = true;
      if (!options.dryRun) {
        removed = sumTallies(removed, await endRound(tools, stored));
        continue;
      }
    }
    const mark = new Mark(tools);
    const found = await markGarbage(tools, options, { stored, mark }).catch(async (error: unknown) => {
      // Another collection may have removed what was about to be read.
      if (!isFinding(error) || (await isCurrent(tools, stored))) throw error;
      return 'outdated' as const;
    });
    if (found === 'outdated') continue;
    const outcome = (removedNow: Tally, round: number) => ({
      round,
      refs: found.seen.refs.filter(({ state }) => state !== 'removed').length,
      commits: mark.commits,
      forgottenCommits: mark.forgotten,
      listed: found.listed,
      removed: removedNow,
      young: found.young,
      repacked: found.repacked,
      avoidLists: stored?.state.avoid.length ?? 0,
      isContinued,
    });
    const round = stored?.state.round ?? 0;
    if (options.dryRun) return outcome(found.candidates, round);
    if (!found.begin || rounds > ROUNDS_MAX) {
      if (stored) await sweepLists(tools, stored.state, []);
      return outcome(removed, round);
    }
    const next = found.begin;
    stored = await writeCollectionState(tools.store, next, stored, { signal: tools.context.signal });
    // Otherwise somebody else has begun a round in between: it is ended, and then the next one begins.
    if (stored?.state.run !== next.run) continue;
    removed = sumTallies(removed, await endRound(tools, stored, { mark, ...found.seen }));
    return outcome(removed, next.round);
  }
}

async function isCurrent({ context: { signal }, store }: RoundTools, stored: StoredState | undefined) {
  return (await readCollectionState(store, { signal }))?.etag === stored?.etag;
}

/** What the first mark has read, which the second one need not read again. */
interface Seen {
  readonly refs: readonly AnyRef[];
  readonly forgotten: readonly CommitHash[];
}

interface Garbage {
  readonly seen: Seen;
  readonly listed: Tally;
  readonly candidates: Tally;
  readonly young: Tally;
  readonly repacked: Repacked;
  /** The state that begins the round. Absent: there are no candidates, or it is a dry run. */
  readonly begin?: CollectionState;
}

/** The first mark: what no ref needs, in lists; with the packs that are written anew. */
async function markGarbage(
  tools: RoundTools,
  { dryRun, graceSeconds, packTarget, repository }: RoundOptions,
  { mark, stored }: { readonly mark: Mark; readonly stored: StoredState | undefined },
): Promise<Garbage | 'outdated'> {
  const { clock, context, progress, store } = tools;
  const { signal } = context;
  progress.phase('mark');
  const [forgotten, refs] = await Promise.all([
    readForgottenList(tools, repository, stored?.state),
    readAllRefs(tools),
  ]);
  await refuseGoneRefs(tools, refs, { state: stored?.state });
  if (await isOutdated(tools, refs, stored)) return 'outdated';
  // The fence removes pending refs, and the second mark meets those that are made again.
  const live = refs.filter(({ state }) => state === 'live');
  await mark.add(live, new Set(forgotten), stored?.state.avoid ?? []);
  const head = { round: (stored?.state.round ?? 0) + 1, run: randomUUID() };
  const { avoid, lists } = createRoundLists(tools, head, mark);
  const stranded = createStrandedPacks(tools, mark, stored?.state.avoid ?? []);
  const started = clock.nowMs();
  progress.phase('query');
  const {
    garbage: candidates,
    held,
    listed,
    young,
  } = await listGarbage(tools, {
    mark,
    stranded,
    youngMs: started - graceSeconds * 1_000,
    onListed: (sizeBytes) => progress.add(1, sizeBytes),
    onGarbage: (keys) => (dryRun ? undefined : lists.add(keys)),
  });
  const heldBytes = held.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
  const sparse = mark.sparsePacks(listed.bytes - candidates.bytes - young.bytes - heldBytes);
  const givenUp = await giveUpPacks(tools, { mark, stranded, held, sparse, packTarget, dryRun });
  const { emptied } = givenUp;
  const repacked = { packs: emptied.length, bytes: 0, writtenBytes: 0 };
  for (const { sizeBytes, unusedBytes } of emptied) {
    repacked.bytes += unusedBytes;
    repacked.writtenBytes += sizeBytes - unusedBytes;
    candidates.add(unusedBytes);
  }
  for (const { sizeBytes } of givenUp.garbage) candidates.add(sizeBytes);
  const found = { seen: { refs, forgotten }, listed, candidates, young, repacked };
  if (dryRun || candidates.objects === 0) return found;
  await lists.add([...givenUp.garbage.map(({ key }) => key), ...emptied.map(({ pack }) => packKey(pack))]);
  const names = await lists.finish();
  const begin: CollectionState = {
    repository,
    ...head,
    phase: 'marked',
    started: new Date(started).toISOString(),
    grace: graceSeconds,
    forgotten: forgotten.length,
    candidates: [...names],
    rescued: [],
    avoid: [...(await avoid.finish(stored?.state.avoid ?? []))],
    refs: await writeRefRecord(store, head, refs, { signal }),
    removed: { objects: candidates.objects, bytes: candidates.bytes },
  };
  return { ...found, begin };
}

/** The lists of a round that begins. The candidates of each key list join the avoid lists. */
function createRoundLists(
  { context: { signal }, store }: RoundTools,
  head: Pick<CollectionState, 'round' | 'run'>,
  mark: Mark,
): { readonly avoid: AvoidLists; readonly lists: KeyLists } {
  const avoid = new AvoidLists(store, head, { signal });
  const onList = (keys: readonly RemoteKey[]) => {
    const moved = keys.filter((key) => mark.isReplaced(key)).map((key) => hashFromPackKey(key)!);
    return avoid.add([...keys, ...moved.map(avoidKeyOfMoved)]);
  };
  return { avoid, lists: new KeyLists(store, { ...head, kind: 'candidates' }, { signal, onList }) };
}

/**
 * Ends the round from where it is. Somebody else may end it first.
 * @param first The first mark, if this run made it.
 * @returns What was removed.
 */
async function endRound(tools: RoundTools, begun: StoredState, first?: FirstMark): Promise<Tally> {
  const { run } = begun.state;
  const call = { signal: tools.context.signal };
  let stored: StoredState | undefined = begun;
  try {
    if (stored.state.phase === 'marked') {
      const next = await sealedState(tools, stored.state, first);
      stored = await writeCollectionState(tools.store, next, stored, call);
    }
    if (stored?.state.run !== run || stored.state.phase !== 'sealed') return createTally();
    const isNeeded = begun.state.phase === 'sealed' ? await markAgain(tools, begun.state) : () => false;
    tools.progress.phase('remove');
    const onRemoved = (keys: number) => tools.progress.add(keys, 0);
    await removeCondemned(tools, stored.state, { isNeeded, onRemoved });
  } catch (error) {
    // Whoever ends a round removes its lists.
    if (!isFinding(error) || (await isCurrent(tools, stored))) throw error;
    return createTally();
  }
  const { removed } = stored.state;
  const { candidates, rescued } = stored.state;
  const done: CollectionState = { ...stored.state, phase: 'done', candidates: [], rescued: [] };
  const after = await writeCollectionState(tools.store, done, stored, call);
  if (after) await sweepLists(tools, after.state, [...candidates, ...rescued]);
  return removed;
}

/**
 * For a round that somebody else has sealed. No ref can have come to need a condemned key. But a pack was
 * condemned because its relocation says where its content is now. If the relocation is lost meanwhile, or the
 * new pack damaged, the old one is needed again. Where something else is damaged too, all condemned packs
 * stay for a later round.
 */
async function markAgain(
  tools: RoundTools,
  state: CollectionState,
): Promise<(key: RemoteKey) => Promise<boolean> | boolean> {
  tools.progress.phase('mark');
  const mark = new Mark(tools);
  try {
    const [forgotten, refs] = await Promise.all([
      readForgottenList(tools, state.repository, state),
      readAllRefs(tools),
    ]);
    const live = refs.filter((ref) => ref.state === 'live');
    await mark.add(live, new Set(forgotten.slice(0, state.forgotten)), state.avoid);
    const isReplaced = createReplacedCheck(tools, mark);
    return async (key) => mark.needs(key) || !(await isReplaced(key));
  } catch (error) {
    if (!isFinding(error)) throw error;
    return (key) => key.startsWith(PACKS_PREFIX);
  }
}

interface FirstMark extends Seen {
  readonly mark: Mark;
}

/** The fence and the second mark. */
async function sealedState(
  tools: RoundTools,
  state: CollectionState,
  first: FirstMark | undefined,
): Promise<CollectionState> {
  // The fence makes pending refs removed ones: also one that somebody began to make in place of a lost one.
  const unfenced = first?.refs ?? (await readAllRefs(tools));
  const seen = await refuseGoneRefs(tools, unfenced, first ? { known: first.refs } : { state });
  const fenced = await fenceRefs(tools, state.round, unfenced);
  tools.progress.phase('mark');
  const { mark = new Mark(tools) } = first ?? {};
  const before = first?.mark.size;
  // The list only grows at its end.
  const forgotten = first?.forgotten ?? (await readForgottenList(tools, state.repository, state));
  const refs = await readAllRefs(tools, fenced);
  const record = await recordedAgain(tools, state, { refs, seen });
  await mark.add(refs, new Set(forgotten.slice(0, state.forgotten)), state.avoid);
  // The first mark found none of the candidates, so without a new key there is nothing to rescue.
  if (mark.size === before) return { ...state, ...record, phase: 'sealed' };
  await mark.requirePacks();
  const isReplaced = createReplacedCheck(tools, mark);
  const isNeeded = async (key: RemoteKey) => mark.needs(key) || !(await isReplaced(key));
  const { lists, objects } = await findRescued(tools, state, isNeeded);
  const share = 1 - objects / Math.max(1, state.removed.objects);
  const removed = {
    objects: state.removed.objects - objects,
    bytes: Math.round(state.removed.bytes * share),
  };
  return { ...state, ...record, phase: 'sealed', rescued: [...lists], removed };
}

/**
 * A ref that was live, and is neither there nor removed, is lost. Nothing may be removed then.
 * @param of The state whose record names the refs, or those of the first mark.
 * @returns The refs that were live. @throws `damaged`
 */
async function refuseGoneRefs(
  { context: { signal }, seen, store }: RoundTools,
  refs: readonly AnyRef[],
  of: { readonly state?: CollectionState | undefined } | { readonly known: readonly AnyRef[] },
): Promise<readonly SeenRef[]> {
  const recorded =
    'known' in of
      ? of.known.filter(({ state }) => state === 'live')
      : await readRefRecord(store, of.state, { signal });
  refuseLost(store, seen ? [...recorded, seen] : recorded, refs);
  return recorded;
}

/** The record of the second mark, which has the refs that were made since the first. */
async function recordedAgain(
  { context: { signal }, store }: RoundTools,
  state: CollectionState,
  { refs, seen }: { readonly refs: readonly AnyRef[]; readonly seen: readonly SeenRef[] },
): Promise<Pick<CollectionState, 'refs'>> {
  refuseLost(store, seen, refs);
  const names = new Set(seen.map(({ name }) => name));
  const live = refs.filter((ref) => ref.state === 'live');
  if (state.refs !== undefined && live.every(({ name }) => names.has(name))) return {};
  return { refs: await writeRefRecord(store, state, refs, { signal }) };
}

/**
 * Whether somebody else began a round after the state was read.
 * @throws `notFound` without a ref, `damaged` if a ref knows a later round than the state
 */
async function isOutdated(
  { context: { signal }, store }: RoundTools,
  refs: readonly AnyRef[],
  stored: StoredState | undefined,
): Promise<boolean> {
  if (!refs.some(({ state }) => state === 'live')) {
    const message = `${store.address} has no branch and no tag, so a collection would remove all of it.`;
    throw new DrayError('notFound', message, {
      advice: 'Name a commit with "dray branch NAME COMMIT" first, or remove the folder of the repository.',
      command: 'dray branch',
    });
  }
  const isAhead = ({ epoch }: AnyRef, round = 0) => epoch > round;
  const ahead = refs.find((ref) => isAhead(ref, stored?.state.round));
  if (!ahead) return false;
  const current = await readCollectionState(store, { signal });
  if (!isAhead(ahead, current?.state.round)) return true;
  throw lostState(store, ahead.name);
}

/**
 * In the order in which they were forgotten.
 * @param state Read before. What it knows as forgotten may be gone, and must not count as needed.
 */
async function readForgottenList(
  { context: { signal }, store }: RoundTools,
  repository: string,
  state: CollectionState | undefined,
): Promise<readonly CommitHash[]> {
  const retention = await readRetention(store, { signal });
  if (retention && retention.repository !== repository) {
    const reason = `it belongs to the repository ${retention.repository}, and this one is ${repository}`;
    throw damaged(RETENTION_KEY, reason);
  }
  checkLength(store, retention, state?.forgotten ?? 0);
  return retention?.forgotten ?? [];
}
