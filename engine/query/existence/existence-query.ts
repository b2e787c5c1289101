/**
 * Finds which of a push's objects the remote already has, in the cheapest way.
 *
 * - An empty repository needs no request.
 * - Few candidates are asked one by one.
 * - Otherwise a few windows of the listing give the remote's size (sampler.ts), the planner compares both
 *   ways (plan-query.ts), and the candidates are asked one by one or looked up in a listing
 *   (list-objects.ts).
 *
 * This develops the remote status query of DVC 1.0, which listed one three-digit prefix to estimate the
 * remote's size and compared it with a fixed factor. Here the estimate has an interval, the break-even
 * follows from this remote's costs, and sampled hashes count as answered.
 *
 * Invariant: each hash is asked once, by one HEAD or by the one range that contains it.
 */
import type { QueryExplanation, QueryMode } from '../../api/events.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { BlobHash } from '../../model/entry.ts';
import {
  estimateObjects,
  type ObjectEstimate,
  type RemoteEstimate,
  type SampledWindow,
} from './estimate-objects.ts';
import type { ExistenceProbe } from './existence-probe.ts';
import { explainQuery } from './explain-query.ts';
import { createListing, type ObjectListing } from './list-objects.ts';
import { createMeasuredProbe, type MeasuredProbe } from './measured-probe.ts';
import { type CostModel, isFew, planQuery, type QueryPlan } from './plan-query.ts';
import { createQueryTally } from './query-tally.ts';
import { sampleWindows } from './sampler.ts';

export interface ExistenceOptions {
  readonly probe: ExistenceProbe;
  readonly mode: QueryMode;
  /** An upper bound, known from the scan before most files are hashed. */
  readonly expectedCandidates: number;
  /** The repository is known to be empty. */
  readonly isEmpty: boolean;
  /** The result of an earlier query of this remote, which the planner trusts within a factor of four. */
  readonly remembered?: RemoteEstimate | undefined;
  /** Called when this query has learned the remote's size, to remember it. */
  readonly onEstimate?: ((estimate: RemoteEstimate) => void) | undefined;
  readonly costs: CostModel;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

export interface ExistenceQuery {
  /**
   * The hashes that are on the remote, and the sizes of their objects in bytes (of 4 GiB at most, where they
   * were listed). Can be called many times, with batches, concurrently. Takes about 100 bytes for each hash
   * asked by HEAD and 20 for each listed object.
   * @throws DrayError `aborted`, and the probe's errors; the hashes can then be asked again.
   */
  resolve(hashes: readonly BlobHash[]): Promise<ReadonlyMap<BlobHash, number>>;
  /** Adds to the number of blobs that the push needs, before any are excluded. For the explanation. */
  noteWanted(count: number): void;
  /** Adds to the number of blobs excluded because the index knows them. For the explanation. */
  noteRemovedByIndex(count: number): void;
  /** The prediction and, once something was resolved, the actual cost. */
  explanation(): QueryExplanation;
}

/** The choice, and what sampling learned on the way. */
interface Decision {
  readonly plan: QueryPlan;
  readonly listing: ObjectListing;
  readonly windows: readonly SampledWindow[];
  readonly estimate: ObjectEstimate | undefined;
}

export function createExistenceQuery(options: ExistenceOptions): ExistenceQuery {
  const { clock, mode, signal } = options;
  const probe = createMeasuredProbe(options);
  const asked = createAskedHashes(probe);
  const tally = createQueryTally(clock);
  let deciding: Promise<Decision> | undefined;
  let decision: Decision | undefined;

  const decide = async (batch: readonly BlobHash[]): Promise<Decision> => {
    const candidates = Math.max(options.expectedCandidates, asked.count() + batch.length);
    decision = await chooseWay({
      options,
      probe,
      candidates,
      firstHead: () => asked.ask(batch[0] as BlobHash),
    });
    if (decision.estimate !== undefined) {
      const { objects, low, high } = decision.estimate;
      const { headMs, listMs } = probe.costs();
      options.onEstimate?.({ objects, low, high, headMs, listMs });
    }
    return decision;
  };

  /** Undefined while there are so few hashes that asking each is right whatever follows. */
  const currentDecision = (batch: readonly BlobHash[]): Promise<Decision> | undefined => {
    if (deciding === undefined) {
      const sofar = asked.count() + batch.length;
      if (mode === 'auto' && isFew(sofar, probe.costs())) return undefined;
      deciding = decide(batch).catch((error: unknown) => {
        deciding = undefined;
        throw error;
      });
    }
    return deciding;
  };

  const present = async (hashes: readonly BlobHash[]): Promise<ReadonlyMap<BlobHash, number>> => {
    if (options.isEmpty || hashes.length === 0) return new Map();
    const made = await currentDecision(hashes);
    if (made?.plan.choice === 'list') {
      const answers = await asked.answered(hashes);
      const listed = await made.listing.find(hashes.filter((hash) => !answers.has(hash)));
      return new Map([...listed, ...presentIn(answers)]);
    }
    const answer = (hash: BlobHash) => {
      const known = made?.listing.known(hash);
      return known === undefined ? asked.ask(hash) : known;
    };
    const results = await settleAll(hashes.map(answer));
    return new Map(presentIn(hashes.map((hash, at) => [hash, results[at]!])));
  };

  return {
    resolve: async (batch) => {
      checkAborted(signal);
      const hashes = [...new Set(batch)];
      const finish = tally.begin();
      try {
        const found = await present(hashes);
        checkAborted(signal);
        tally.add(hashes.length, found.size);
        return found;
      } finally {
        finish();
      }
    },
    noteWanted: tally.noteWanted,
    noteRemovedByIndex: tally.noteRemovedByIndex,
    explanation: () =>
      explainQuery({
        mode,
        isEmpty: options.isEmpty,
        costs: probe.costs(),
        expectedCandidates: options.expectedCandidates,
        remembered: options.remembered,
        plan: decision?.plan,
        estimate: decision?.estimate,
        sampledWindows: decision?.windows.length ?? 0,
        heads: probe.heads(),
        lists: probe.lists(),
        tally: tally.read(),
      }),
  };
}

/** The size of an object in bytes; null: there is none. */
type Answer = number | null;

function* presentIn(answers: Iterable<readonly [BlobHash, Answer]>): Generator<[BlobHash, number]> {
  for (const [hash, sizeBytes] of answers) if (sizeBytes !== null) yield [hash, sizeBytes];
}

/** Hashes that were asked one by one, with the remote's answers. */
function createAskedHashes(probe: Pick<MeasuredProbe, 'head'>) {
  const answers = new Map<BlobHash, Answer | Promise<Answer>>();

  const fetchAnswer = async (hash: BlobHash): Promise<Answer> => {
    try {
      const sizeBytes = (await probe.head(hash)) ?? null;
      answers.set(hash, sizeBytes);
      return sizeBytes;
    } catch (error) {
      answers.delete(hash);
      throw error;
    }
  };

  return {
    /** Sends at most one HEAD for each hash, ever. */
    ask: async (hash: BlobHash): Promise<Answer> => {
      const known = answers.get(hash);
      if (known !== undefined) return known;
      const pending = fetchAnswer(hash);
      answers.set(hash, pending);
      return pending;
    },
    /** The answers for hashes asked before; waits for those in flight. */
    answered: async (hashes: readonly BlobHash[]): Promise<ReadonlyMap<BlobHash, Answer>> => {
      const found = new Map<BlobHash, Answer>();
      for (const hash of hashes) {
        const answer = answers.get(hash);
        if (answer !== undefined) found.set(hash, await answer);
      }
      return found;
    },
    /** Hashes asked so far. */
    count: () => answers.size,
  };
}

/** Like Promise.all, but waits for all calls before it fails. */
async function settleAll<T>(calls: readonly (T | Promise<T>)[]): Promise<readonly T[]> {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Samples until the planner is sure. The first round also times one HEAD, whose answer is kept. */
async function chooseWay(request: {
  readonly options: ExistenceOptions;
  readonly probe: MeasuredProbe;
  readonly candidates: number;
  readonly firstHead: () => Promise<unknown>;
}): Promise<Decision> {
  const { options, probe, candidates, firstHead } = request;
  let windows: readonly SampledWindow[] = [];
  let estimate: ObjectEstimate | undefined;
  for (;;) {
    const plan = planQuery({
      candidates,
      mode: options.mode,
      costs: probe.costs(),
      remote: estimate ?? options.remembered,
      windows: windows.length,
    });
    if (plan.samples === 0) {
      const objects = estimate?.objects ?? options.remembered?.objects ?? 0;
      const relativeError =
        estimate === undefined ? 0 : (estimate.high - estimate.low) / 4 / Math.max(1, objects);
      const listing = createListing({ list: probe.list, windows, objects, relativeError });
      return { plan, listing, windows, estimate };
    }
    const [sampled] = await Promise.all([
      sampleWindows({ list: probe.list, random: () => options.clock.random(), windows, count: plan.samples }),
      options.mode === 'auto' && probe.heads() === 0 ? firstHead() : undefined,
    ]);
    windows = sampled;
    estimate = estimateObjects(windows);
  }
}
