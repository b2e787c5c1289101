/**
 * Compares content that arrives in order with the best sum that a store keeps of an object.
 *
 * A sum of parts needs their offsets. This asks the store for the size of the first part; if it does not
 * answer, the sizes that common tools use are tried, all in one pass. A match proves equality; no match
 * proves nothing.
 */

import type { OpenDigest } from '../download/digest-threads.ts';
import { type ContentHasher, createContentHasher } from './content-hasher.ts';
import { bestSum, type ObjectSum, type SumKind } from './object-sums.ts';
import { arePartsEqual, askPartBytes, candidatePartBytes, type PartedObject } from './part-layout.ts';

export interface ContentCheck {
  readonly by: SumKind;
  /** The next bytes. They must not change before it resolves. */
  update(bytes: Uint8Array): void | Promise<void>;
  /**
   * Call after the last bytes. `uncertain`: it may be the content, in parts that were cut at other offsets.
   */
  result(): Promise<'same' | 'differs' | 'uncertain'>;
}

/** The most part sizes whose MD5s are computed in one pass. */
const CANDIDATES_MAX = 6;

/**
 * Undefined when only the size of the object is known. At most one request. @param open Computes digests;
 * default: in this thread.
 */
export async function openContentCheck(
  object: PartedObject,
  open?: OpenDigest,
): Promise<ContentCheck | undefined> {
  const sum = bestSum(object.info);
  if (!sum) return undefined;
  return sum.by === 'md5OfParts' ? openPartsCheck(object, sum, open) : wholeCheck(sum, open);
}

function wholeCheck(sum: ObjectSum, open: OpenDigest | undefined): ContentCheck {
  const hasher = createContentHasher(sum, open ? { open } : {});
  return {
    by: sum.by,
    update: (bytes) => hasher.update(bytes),
    result: async () => ((await hasher.matches()) ? 'same' : 'differs'),
  };
}

async function openPartsCheck(
  object: PartedObject,
  sum: Extract<ObjectSum, { by: 'md5OfParts' }>,
  open: OpenDigest | undefined,
): Promise<ContentCheck> {
  const { partCount } = sum;
  const asked = await askPartBytes(object, partCount);
  const sizes =
    asked === undefined
      ? candidatePartBytes(object.info.sizeBytes, partCount).slice(0, CANDIDATES_MAX)
      : [asked];
  const hashers: readonly ContentHasher[] = sizes.map((partBytes) =>
    createContentHasher(sum, open ? { partBytes, open } : { partBytes }),
  );
  return {
    by: sum.by,
    async update(bytes) {
      await Promise.all(hashers.map((hasher) => hasher.update(bytes)));
    },
    async result() {
      const matches = await Promise.all(hashers.map((hasher) => hasher.matches()));
      if (matches.includes(true)) return 'same';
      // The first part does not prove the size of the others: only when all sizes are known does the content
      // differ.
      if (asked === undefined) return 'uncertain';
      return (await arePartsEqual(object, { partBytes: asked, partCount })) ? 'differs' : 'uncertain';
    },
  };
}
