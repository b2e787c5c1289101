/**
 * Holds content that comes in order against the best sum that a store keeps of an object.
 *
 * A sum of parts needs to know where they were cut. The store is asked for the size of the first; where it does not tell, what
 * tools are known to use is tried, all in one pass. That fits or it says nothing.
 */
import { type ContentHasher, createContentHasher } from './content-hasher.ts';
import { bestSum, type ObjectSum, type SumKind } from './object-sums.ts';
import { arePartsEqual, askPartBytes, candidatePartBytes, type PartedObject } from './part-layout.ts';

export interface ContentCheck {
  readonly by: SumKind;
  /** The next bytes. */
  update(bytes: Uint8Array): void;
  /** Once all has passed. `uncertain`: it may be the content, in parts that were cut in another way. */
  result(): Promise<'same' | 'differs' | 'uncertain'>;
}

/** MD5s of so many ways to cut the content are computed in one pass. */
const CANDIDATES_MAX = 6;

/** Undefined when only the size of the object is known. At most one request. */
export async function openContentCheck(object: PartedObject): Promise<ContentCheck | undefined> {
  const sum = bestSum(object.info);
  if (!sum) return undefined;
  return sum.by === 'md5OfParts' ? openPartsCheck(object, sum) : wholeCheck(sum);
}

function wholeCheck(sum: ObjectSum): ContentCheck {
  const hasher = createContentHasher(sum);
  return {
    by: sum.by,
    update: (bytes) => hasher.update(bytes),
    result: async () => (hasher.matches() ? 'same' : 'differs'),
  };
}

async function openPartsCheck(
  object: PartedObject,
  sum: Extract<ObjectSum, { by: 'md5OfParts' }>,
): Promise<ContentCheck> {
  const { partCount } = sum;
  const asked = await askPartBytes(object, partCount);
  const sizes =
    asked === undefined
      ? candidatePartBytes(object.info.sizeBytes, partCount).slice(0, CANDIDATES_MAX)
      : [asked];
  const hashers: readonly ContentHasher[] = sizes.map((partBytes) => createContentHasher(sum, partBytes));
  return {
    by: sum.by,
    update(bytes) {
      for (const hasher of hashers) hasher.update(bytes);
    },
    async result() {
      if (hashers.some((hasher) => hasher.matches())) return 'same';
      // The first part does not speak for the others: only when all are known to be as large is the content another one.
      if (asked === undefined) return 'uncertain';
      return (await arePartsEqual(object, { partBytes: asked, partCount })) ? 'differs' : 'uncertain';
    },
  };
}
