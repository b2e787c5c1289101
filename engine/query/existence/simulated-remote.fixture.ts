/**
 * For tests: a remote of up to tens of millions of objects that are computed on demand.
 *
 * The space is cut into buckets of about 50 objects. A bucket's objects (a Poisson number at uniform
 * positions) follow from the seed and the bucket's number, so the whole is a Poisson process like the hashes
 * of real files, and looks the same from any start.
 */
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { ExistenceProbe } from './existence-probe.ts';
import { PAGE_OBJECTS } from './plan-query.ts';

const BUCKET_OBJECTS = 50;
const HASH_DIGITS = 64;
const DIGITS = 13;
const WIDTH = 16 ** DIGITS;

export interface SimulatedRemote {
  readonly probe: ExistenceProbe;
  readonly clock: Clock;
  readonly heads: () => number;
  readonly lists: () => number;
  readonly asked: ReadonlyMap<BlobHash, number>;
  readonly mostAtOnce: () => number;
  /** Whether the remote has the hash, for brute force. */
  readonly holds: (hash: BlobHash) => boolean;
  /** The number of objects; counts every bucket. */
  readonly countObjects: () => number;
  /** About this many of the objects, from the whole space. */
  readonly someObjects: (count: number) => readonly BlobHash[];
}

export interface SimulationOptions {
  readonly seed: number;
  readonly objects: number;
  readonly headMs?: number;
  readonly listMs?: number;
  /** Distorts the even spread: an increasing function from [0, 1) to [0, 1). */
  readonly skew?: (place: number) => number;
  /** Called before every request; may throw. */
  readonly onRequest?: (requests: number) => void;
}

export function createSimulatedRemote(options: SimulationOptions): SimulatedRemote {
  const { objects, seed } = options;
  const buckets = Math.max(1, Math.round(objects / BUCKET_OBJECTS));
  const skew = options.skew ?? ((place: number) => place);
  const random = seededRandom(seed ^ 0x5bd1e995);
  const asked = new Map<BlobHash, number>();
  let heads = 0;
  let lists = 0;
  let nowMs = 0;
  let underWay = 0;
  let mostAtOnce = 0;

  const openBucket = (bucket: number) => {
    const draw = seededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(bucket + 1, 0x85ebca6b));
    return { draw, count: poisson(draw, objects / buckets) };
  };

  const bucketHashes = (bucket: number): readonly BlobHash[] => {
    const { draw, count } = openBucket(bucket);
    const places = Array.from({ length: count }, () => skew((bucket + draw()) / buckets));
    return places.sort((a, b) => a - b).map(hashAt);
  };

  /** The first bucket that may contain a hash after this one. */
  const bucketOf = (after: string): number => {
    const place = Number.parseInt(after.slice(0, DIGITS).padEnd(DIGITS, '0'), 16) / WIDTH;
    let low = 0;
    let high = buckets - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (skew(middle / buckets) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  const holds = (hash: BlobHash) => bucketHashes(bucketOf(hash)).includes(hash);

  const request = async <T>(
    takesMs: number,
    signal: AbortSignal | undefined,
    answer: () => T,
  ): Promise<T> => {
    options.onRequest?.(heads + lists);
    nowMs += takesMs;
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    await Promise.resolve();
    underWay -= 1;
    if (signal?.aborted) throw new DrayError('aborted', 'Stopped on request.');
    return answer();
  };

  return {
    probe: {
      head: (hash, signal) => {
        heads += 1;
        asked.set(hash, (asked.get(hash) ?? 0) + 1);
        return request(options.headMs ?? 30, signal, () => (holds(hash) ? sizeOfSimulated(hash) : undefined));
      },
      list: ({ prefix, after = '' }, signal) => {
        if (prefix !== '') throw new Error('The simulation lists from a start only.');
        lists += 1;
        return request(options.listMs ?? 100, signal, () => {
          const hashes: BlobHash[] = [];
          for (let bucket = bucketOf(after); bucket < buckets && hashes.length <= PAGE_OBJECTS; bucket += 1) {
            for (const hash of bucketHashes(bucket)) if (hash > after) hashes.push(hash);
          }
          const page = hashes.slice(0, PAGE_OBJECTS);
          const isTruncated = hashes.length > PAGE_OBJECTS;
          return { hashes: page, sizes: page.map(sizeOfSimulated), isTruncated };
        });
      },
    },
    clock: {
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep: async (pauseMs) => {
        nowMs += pauseMs;
      },
      random,
    },
    heads: () => heads,
    lists: () => lists,
    asked,
    mostAtOnce: () => mostAtOnce,
    holds,
    countObjects: () => {
      let count = 0;
      for (let bucket = 0; bucket < buckets; bucket += 1) count += openBucket(bucket).count;
      return count;
    },
    someObjects: (count) => {
      const found = new Set<BlobHash>();
      for (let turn = 0; turn < count; turn += 1) {
        const hashes = bucketHashes(Math.floor((turn * buckets) / count));
        const hash = hashes[turn % Math.max(1, hashes.length)];
        if (hash !== undefined) found.add(hash);
      }
      return [...found];
    },
  };
}

/** The size of each object follows from its hash. */
export function sizeOfSimulated(hash: BlobHash): number {
  return Number.parseInt(hash.slice(0, 6), 16);
}

/** Hashes that no remote has, except with a probability of 2^-50. */
export function strangeHashes(seed: number, count: number): readonly BlobHash[] {
  const random = seededRandom(seed ^ 0x27d4eb2f);
  return Array.from({ length: count }, () => hashAt(random()));
}

/** Mulberry32: small, random enough for tests, the same everywhere. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return () => (next() * 2 ** 20 + (next() >>> 12)) / 2 ** 52;
}

function hashAt(place: number): BlobHash {
  const digits = Math.floor(place * WIDTH)
    .toString(16)
    .padStart(DIGITS, '0');
  return digits.padEnd(HASH_DIGITS, 'a') as BlobHash;
}

/** Knuth's product method, in parts of 50 so that the exponential does not underflow. */
function poisson(random: () => number, mean: number): number {
  let count = 0;
  for (let left = mean; left > 0; left -= 50) {
    const bound = Math.exp(-Math.min(50, left));
    for (let product = random(); product > bound; product *= random()) count += 1;
  }
  return count;
}
