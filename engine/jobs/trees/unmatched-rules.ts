/** Patterns to include that matched nothing, which may be misspelled. */
import { advised } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { TreeFilter } from '../../model/tree-filter.ts';

const NAMED_MAX = 5;

/** Call when all items of the source were seen. @param place The source, as messages name it. */
export function warnOfUnmatchedRules(
  { emit }: Pick<JobContext, 'emit'>,
  filter: Pick<TreeFilter, 'unmatched'>,
  place: string,
): void {
  const patterns = filter.unmatched();
  const [path] = patterns;
  if (path === undefined) return;
  const named = patterns.slice(0, NAMED_MAX).map((pattern) => `"${pattern}"`);
  const more = patterns.length > NAMED_MAX ? ` and ${patterns.length - NAMED_MAX} more` : '';
  const include = patterns.length === 1 ? 'includes' : 'include';
  const message = `${named.join(', ')}${more} ${include} nothing of ${place}.`;
  emit({ type: 'warning', warning: 'namesNothing', path, ...advised(message, ADVICE) });
}

const ADVICE = 'Patterns are compared with the paths below that place.';
