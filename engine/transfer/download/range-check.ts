/** Compares the ranges of an object, which arrive in any order, with the store's sums. */

import { DrayError } from '../../api/error.ts';
import { orAborted } from '../../base/abort.ts';
import type { ByteRange } from '../../remotes/object-store.ts';
import { type ContentCheck, openContentCheck } from '../compare/content-check.ts';
import { bestSum, type ObjectSum, type SumKind } from '../compare/object-sums.ts';
import type { PartedObject } from '../compare/part-layout.ts';
import { joinSums, type PartSum, type SummedPart, sumPart } from '../compare/part-sums.ts';
import type { OpenDigest } from './digest-threads.ts';

/** How content was verified; `sizes`: only its size was comparable. */
export type VerifiedBy = SumKind | 'sizes';

export interface RangeCheck {
  /**
   * Call it once for each range, in order. Call the returned functions in any order, once the range's bytes
   * have arrived. They resolve when the bytes are no longer needed, with their sum if it was computed anyway.
   */
  next(range: ByteRange): (bytes: Uint8Array, signal: AbortSignal) => Promise<PartSum | undefined>;
  /** Call it after all ranges. @throws DrayError `damaged` */
  finish(): Promise<VerifiedBy>;
}

/**
 * CRC64NVME needs `loadCrc64`. At most one request. @param open Computes digests; default: in this thread.
 */
export async function openRangeCheck(object: PartedObject, open?: OpenDigest): Promise<RangeCheck> {
  const sum = bestSum(object.info);
  // CRCs are combined, so that no range waits for another one.
  if (sum?.by === 'crc64nvme' || sum?.by === 'crc32') return joinedCheck(object, sum);
  const content = await openContentCheck(object, open);
  return content ? orderedCheck(object, content) : NO_CHECK;
}

const NO_CHECK: RangeCheck = {
  next: () => async () => undefined,
  finish: async () => 'sizes',
};

function joinedCheck(
  { key }: PartedObject,
  sum: Extract<ObjectSum, { by: 'crc64nvme' | 'crc32' }>,
): RangeCheck {
  const parts: SummedPart[] = [];
  let count = 0;
  return {
    next() {
      const at = count++;
      return async (bytes) => {
        const part = sumPart(sum.by, bytes);
        parts[at] = { sum: part, sizeBytes: bytes.length };
        return part;
      };
    },
    async finish() {
      const joined = parts.length === 0 ? sumPart(sum.by, new Uint8Array(0)) : joinSums(parts);
      const value = 'crc32' in joined ? joined.crc32 : joined.crc64nvme;
      if (value !== sum.value) throw wrongContent(key, sum.by);
      return sum.by;
    },
  };
}

/** For hashes that need the bytes in order: a range waits for the previous one, and so does its memory. */
function orderedCheck({ key }: PartedObject, content: ContentCheck): RangeCheck {
  const turns = createTurns();
  return {
    next() {
      const turn = turns.next();
      return async (bytes, signal) => {
        await turn(signal, async () => {
          await content.update(bytes);
        });
        return undefined;
      };
    },
    async finish() {
      const result = await content.result();
      if (result === 'differs') throw wrongContent(key, content.by);
      return result === 'same' ? content.by : 'sizes';
    },
  };
}

export function wrongContent(key: string, by: SumKind): DrayError {
  const message =
    `${key}: the received bytes do not match the sum that the store keeps (${by}). ` +
    'The object may be damaged there; compare it with its origin.';
  return new DrayError('damaged', message, { data: { key, by } });
}

export type Turn = (signal: AbortSignal, work: () => Promise<void>) => Promise<void>;

/**
 * Work in the order in which its turns were drawn. A turn whose work fails is never passed on: the signal
 * ends the rest.
 */
export function createTurns(): { next(): Turn } {
  let before: Promise<void> = Promise.resolve();
  return {
    next() {
      const turn = before;
      const { promise, resolve } = Promise.withResolvers<void>();
      before = promise;
      return async (signal, work) => {
        await orAborted(turn, signal);
        await work();
        resolve();
      };
    },
  };
}
