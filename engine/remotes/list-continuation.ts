/**
 * A continuation is the last entry of the page before it: a key, or a folder (which ends in `/`, as no key
 * does). It holds no state of the store, so it survives restarts and changes in between.
 */
import { DrayError } from '../api/error.ts';
import { comparePaths } from '../model/entry.ts';

/** The most entries of a page. */
export const LIST_LIMIT_MAX = 1000;

export interface ListPosition {
  readonly last: string;
}

export function encodeContinuation(last: string): string {
  return Buffer.from(last, 'utf8').toString('base64url');
}

export function decodeContinuation(continuation: string): ListPosition {
  const last = Buffer.from(continuation, 'base64url').toString('utf8');
  if (last === '' || encodeContinuation(last) !== continuation) {
    throw new DrayError('usage', 'This continuation does not belong to this listing.');
  }
  return { last };
}

/**
 * Whether a key (or a folder) comes after the position. The contents of a folder that was already given do
 * not.
 */
export function isPast(name: string, { last }: ListPosition): boolean {
  return comparePaths(name, last) > 0 && !(last.endsWith('/') && name.startsWith(last));
}
