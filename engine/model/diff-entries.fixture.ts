import { type Change, isSameEntry } from './diff.ts';
import { diffSorted } from './diff-sorted.ts';
import type { Entry } from './entry.ts';

/** For tests: the changes from one state of a dataset to another. */
export function* diffEntries(before: Iterable<Entry>, after: Iterable<Entry>): Generator<Change> {
  for (const { path, left, right } of diffSorted(before, after, isSameEntry)) {
    yield { path, before: left, after: right };
  }
}
