/** One listing page as a known range of the hash space, the unit of sampling and listing. */
import { DrayError } from '../../api/error.ts';
import type { BlobHash } from '../../model/entry.ts';
import type { HashListRequest, HashPage } from './existence-probe.ts';
import { afterOf, positionOf } from './hash-space.ts';

export type ListPages = (request: HashListRequest) => Promise<HashPage>;

export interface RangePage {
  /** The hashes within the range, ascending. */
  readonly hashes: readonly BlobHash[];
  /** The objects' sizes in bytes, in the order of the hashes. */
  readonly sizes: readonly number[];
  /** The page reaches the end of the range. */
  readonly isWhole: boolean;
}

/**
 * Fetches the first page of the range from `start` (or after the hash `after`, which must be in it) to `end`.
 * Drops hashes beyond the range. One request.
 * @throws DrayError `remoteFailed` when the remote reports more hashes but does not advance.
 */
export async function fetchRangePage(
  list: ListPages,
  range: { readonly start: number; readonly end: number; readonly after?: BlobHash | undefined },
): Promise<RangePage> {
  const after = range.after ?? afterOf(range.start);
  const page = await list(after === undefined ? { prefix: '' } : { prefix: '', after });
  const last = page.hashes.at(-1);
  if (page.isTruncated && (last === undefined || (after !== undefined && last <= after))) {
    throw new DrayError(
      'remoteFailed',
      "The remote's listing does not advance: it reports more hashes and repeats the same ones.",
      {
        data: { after: after ?? '' },
      },
    );
  }
  const hashes = hashesBefore(page.hashes, range.end);
  const sizes = page.sizes.slice(0, hashes.length);
  return { hashes, sizes, isWhole: !page.isTruncated || hashes.length < page.hashes.length };
}

/** The prefix of the ascending `hashes` that is before the position `end`. */
export function hashesBefore(hashes: readonly BlobHash[], end: number): readonly BlobHash[] {
  let count = hashes.length;
  for (let last = hashes[count - 1]; last !== undefined && positionOf(last) >= end; last = hashes[count - 1])
    count -= 1;
  return count === hashes.length ? hashes : hashes.slice(0, count);
}
