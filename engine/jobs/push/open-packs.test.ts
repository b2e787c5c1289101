/**
 * An attacker who knows two datasets file by file, sees the sizes of the packs on the store and has to guess
 * which of the two was pushed. He knows how Dray fills packs and may try it as often as he likes.
 */
import { hash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BlobHash } from '../../model/entry.ts';
import { DEFAULT_LAYOUT } from '../../model/layout.ts';
import { paddedBytes } from '../../sealing/sealed-form.ts';
import { createOpenPacks, createPackSlots } from './open-packs.ts';

const MIB = 1024 * 1024;
const TARGET = 32 * MIB;
const FILES = 500;
const TOTAL_BYTES = 525 * MIB;
const TRIES = 1_500;
const GUESSES = 400;
/** A size that no try has shown counts as if it had been seen half a time. */
const UNSEEN = 0.5;

/** Mulberry32: the same numbers in each run. */
function createDraw(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const sumOf = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0);

/** Sizes from some KiB to 8 MiB, each magnitude as often, that add up to the same in all datasets. */
function createDataset(seed: number): number[] {
  const draw = createDraw(seed);
  const drawn = Array.from({ length: FILES }, () => 16_384 * 2 ** (draw(9000) / 1000));
  const sizes = drawn.map((size) => Math.round((size * TOTAL_BYTES) / sumOf(drawn)));
  sizes[0]! += TOTAL_BYTES - sumOf(sizes);
  return sizes;
}

interface SeenPacks {
  readonly full: readonly number[];
  readonly rest: readonly number[];
}

/** The sizes of the packs as the store shows them. */
function packsOf(dataset: readonly number[], isSealed: boolean, draw: (below: number) => number): SeenPacks {
  const slots = createPackSlots(TARGET, isSealed, draw);
  const open = new Array<number>(slots.count).fill(0);
  const full: number[] = [];
  for (const size of dataset) {
    const slot = slots.next();
    open[slot]! += size;
    if (!slots.isFull(slot, open[slot]!)) continue;
    full.push(paddedBytes(open[slot]!));
    open[slot] = 0;
  }
  const rest = slots.joinsRest(open) ? [sumOf(open)] : open.filter((bytes) => bytes > 0);
  return { full, rest: rest.map(paddedBytes) };
}

/** How probable what he sees is, by how often his tries with a dataset have shown each part of it. */
function createLikelihood(tries: readonly SeenPacks[]): (seen: SeenPacks) => number {
  const partsOf = ({ full, rest }: SeenPacks) => [
    ...full.map((size) => `full ${size}`),
    ...rest.map((size) => `rest ${size}`),
    `number ${full.length}`,
  ];
  const counts = new Map<string, number>();
  for (const part of tries.flatMap(partsOf)) counts.set(part, (counts.get(part) ?? 0) + 1);
  return (seen) => sumOf(partsOf(seen).map((part) => Math.log((counts.get(part) ?? UNSEEN) / tries.length)));
}

/** The part of right guesses. */
function attack(isSealed: boolean, seeds: readonly [number, number]): number {
  const draw = createDraw(7);
  const datasets = seeds.map(createDataset);
  const [first, second] = datasets.map((dataset) =>
    createLikelihood(Array.from({ length: TRIES }, () => packsOf(dataset, isSealed, draw))),
  );
  let right = 0;
  for (let guess = 0; guess < GUESSES; guess += 1) {
    const pushed = draw(2);
    const seen = packsOf(datasets[pushed]!, isSealed, draw);
    if ((first!(seen) >= second!(seen) ? 0 : 1) === pushed) right += 1;
  }
  return right / GUESSES;
}

describe('The sizes of packs', () => {
  it('tell two datasets apart where packs are filled one after another', () => {
    expect(attack(false, [1, 2])).toBe(1);
  });

  it.each([
    [1, 2],
    [11, 12],
    [21, 22],
  ] as const)('of an encrypted repository leave the attacker close to chance: %i, %i', (...seeds) => {
    // Three standard deviations of as many coins.
    expect(Math.abs(attack(true, seeds) - 0.5)).toBeLessThan(3 * Math.sqrt(0.25 / GUESSES));
  });

  it('of an encrypted repository stay within a quarter of the target and the last blob', () => {
    const { full } = packsOf(createDataset(3), true, createDraw(4));
    expect(full.length).toBeGreaterThan(10);
    for (const bytes of full) {
      expect(bytes).toBeGreaterThanOrEqual(0.75 * TARGET);
      expect(bytes).toBeLessThan(paddedBytes(1.25 * TARGET + 8 * MIB));
    }
  });
});

describe('The open packs', () => {
  const blobs = Array.from({ length: 400 }, (_, at) => randomBytes(500 + at));
  const layout = { ...DEFAULT_LAYOUT, packTarget: 20_000 };

  it.each([true, false])('hold each blob once, and no more of them are left than needed: %s', (isSealed) => {
    const open = createOpenPacks(layout, { contentBytes: 1_000_000, isSealed });
    const full = blobs.map((bytes) => open.add(hash('sha256', bytes) as BlobHash, bytes, bytes.length));
    const rest = open.rest();
    expect(open.rest()).toEqual([]);
    expect(rest.length).toBeLessThanOrEqual(isSealed ? 2 : 1);
    const found = [...full, ...rest].flatMap((pack) => {
      if (!pack) return [];
      const built = pack.finish();
      return built.blobs.map(({ hash: name, offset, sizeBytes }) => {
        const bytes = built.bytes.subarray(offset, offset + sizeBytes);
        expect(hash('sha256', bytes)).toBe(name);
        return name;
      });
    });
    expect(found.toSorted()).toEqual(blobs.map((bytes) => hash('sha256', bytes)).toSorted());
  });

  it('of a small push are one pack', () => {
    const open = createOpenPacks(layout, { contentBytes: 10_000, isSealed: true });
    for (const bytes of blobs.slice(0, 15)) open.add(hash('sha256', bytes) as BlobHash, bytes, bytes.length);
    expect(open.rest()).toHaveLength(1);
  });
});
