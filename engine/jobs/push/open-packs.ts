/**
 * The packs that a push fills: which one the next blob goes into, and when it is full.
 *
 * The sizes of packs that are filled one after another follow from the sizes of the files, so who sees them
 * on the store recognises a dataset that he knows. In an encrypted repository each blob therefore goes into
 * one of two open packs at random, as in restic 0.18 (Truong et al., eprint 2025/558), and each pack is full
 * at a random size. The two that are left at the end are joined: each by itself would tell of the last files.
 * The document beside `repository/encryption` says what can be seen nevertheless.
 */
import { randomInt } from 'node:crypto';
import type { BlobHash } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';
import { PackBuilder } from '../../repository/packs/pack.ts';

const SEALED_SLOTS = 2;
/** Of the target, up and down. */
const SPREAD = 1 / 4;
/**
 * Room for a pack's index: 36 bytes for each of some 58,000 blobs. The buffer grows once when there are more.
 */
const PACK_INDEX_BYTES = 2 * 1024 * 1024;

export interface OpenPacks {
  /** @returns The pack that the blob has filled. */
  add(hash: BlobHash, bytes: Uint8Array, sizeBytes: number): PackBuilder | undefined;
  /** What was begun and is not full. */
  rest(): readonly PackBuilder[];
}

/** @param contentBytes All that may go into packs: less than one pack needs less memory. */
export function createOpenPacks(
  { packBelow, packTarget }: Layout,
  { contentBytes, isSealed }: { readonly contentBytes: number; readonly isSealed: boolean },
): OpenPacks {
  const slots = createPackSlots(packTarget, isSealed);
  const packs: (PackBuilder | undefined)[] = [];
  // The size of a full pack with its last blob and its index.
  const expectedBytes = Math.min(slots.fullBytesMax + packBelow, contentBytes) + PACK_INDEX_BYTES;
  return {
    add(hash, bytes, sizeBytes) {
      const slot = slots.next();
      const pack = packs[slot] ?? new PackBuilder(expectedBytes);
      pack.add(hash, bytes, sizeBytes);
      const isFull = slots.isFull(slot, pack.sizeBytes);
      packs[slot] = isFull ? undefined : pack;
      return isFull ? pack : undefined;
    },
    rest() {
      const [first, second, ...others] = packs.splice(0).filter((pack) => pack !== undefined);
      if (!first || !second || !slots.joinsRest([first.sizeBytes, second.sizeBytes]))
        return [first, second, ...others].filter((pack) => pack !== undefined);
      first.addAll(second);
      return [first];
    },
  };
}

export interface PackSlots {
  readonly count: number;
  /** The most bytes that a pack must have to be full. */
  readonly fullBytesMax: number;
  /** The slot of the next blob: 0 or more. */
  next(): number;
  /** Whether the slot's pack is full. If so, the slot's next pack begins. */
  isFull(slot: number, packBytes: number): boolean;
  /** Whether the packs that are left at the end become one. */
  joinsRest(packBytes: readonly number[]): boolean;
}

/** @param draw A whole number from 0 on and below the given one, that nobody can guess. */
export function createPackSlots(
  packTarget: number,
  isSealed: boolean,
  draw: (below: number) => number = (below) => randomInt(below),
): PackSlots {
  if (!isSealed) {
    const isFull = (_: number, packBytes: number) => packBytes >= packTarget;
    return { count: 1, fullBytesMax: packTarget, next: () => 0, isFull, joinsRest: () => false };
  }
  const spread = Math.floor(packTarget * SPREAD);
  const drawTarget = () => packTarget - spread + draw(2 * spread + 1);
  const fullBytesMax = packTarget + spread;
  const targets = Array.from({ length: SEALED_SLOTS }, drawTarget);
  return {
    count: SEALED_SLOTS,
    fullBytesMax,
    joinsRest: (packBytes) => packBytes.reduce((sum, bytes) => sum + bytes, 0) <= fullBytesMax,
    next: () => draw(SEALED_SLOTS),
    isFull(slot, packBytes) {
      if (packBytes < targets[slot]!) return false;
      targets[slot] = drawTarget();
      return true;
    },
  };
}
