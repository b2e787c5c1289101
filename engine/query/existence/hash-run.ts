/**
 * A sorted run of hashes and sizes in 20 bytes each: the memory of a listing (10 million objects: 200 MB).
 *
 * A run stores the first 128 bits of each hash and compares only them. A false match would skip an upload.
 * Its probability with a million candidates against ten million objects is 10^13 / 2^128, below 10^-25, and
 * building such a pair on purpose takes 2^64 hashes.
 */
import type { BlobHash } from '../../model/entry.ts';

const HASH_WORDS = 4;
/** The size follows the hash. */
const WORDS = HASH_WORDS + 1;
const SIZE_MAX = 2 ** 32 - 1;
const DIGITS_PER_WORD = 8;

/** Five words for each hash, in the order of the hashes. */
export type HashRun = Uint32Array;

const EMPTY_RUN: HashRun = new Uint32Array(0);

/** @param hashes In ascending order, as in a listing. @param sizes In the same order. */
export function packHashes(hashes: readonly BlobHash[], sizes: readonly number[]): HashRun {
  const run = new Uint32Array(hashes.length * WORDS);
  let at = 0;
  for (const [index, hash] of hashes.entries()) {
    for (let word = 0; word < HASH_WORDS; word += 1) run[at + word] = wordOf(hash, word);
    run[at + HASH_WORDS] = Math.min(sizes[index]!, SIZE_MAX);
    at += WORDS;
  }
  return run;
}

/** @param runs In ascending order, without overlap. */
export function joinRuns(runs: readonly HashRun[]): HashRun {
  if (runs.length === 1) return runs[0] ?? EMPTY_RUN;
  const joined = new Uint32Array(runs.reduce((total, run) => total + run.length, 0));
  let at = 0;
  for (const run of runs) {
    joined.set(run, at);
    at += run.length;
  }
  return joined;
}

export function countOf(run: HashRun): number {
  return run.length / WORDS;
}

/** The object's size in bytes, if the run has it. Larger ones count as 4 GiB. */
export function sizeInRun(run: HashRun, hash: BlobHash): number | undefined {
  const first = wordOf(hash, 0);
  let low = 0;
  let high = countOf(run);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareAt(run, middle * WORDS, first, hash);
    if (order === 0) return run[middle * WORDS + HASH_WORDS];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

/** Negative, zero or positive when the stored hash sorts before, like or after `hash`. */
function compareAt(run: HashRun, at: number, first: number, hash: BlobHash): number {
  const lead = (run[at] ?? 0) - first;
  if (lead !== 0) return lead;
  for (let word = 1; word < HASH_WORDS; word += 1) {
    const rest = (run[at + word] ?? 0) - wordOf(hash, word);
    if (rest !== 0) return rest;
  }
  return 0;
}

function wordOf(hash: BlobHash, word: number): number {
  return Number.parseInt(hash.slice(word * DIGITS_PER_WORD, (word + 1) * DIGITS_PER_WORD), 16);
}
