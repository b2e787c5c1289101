import type { DetachedAt } from '../../../engine/api/jobs/pending-merge.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';

/** Without a full stop. */
export function formatDetached({ commit, ref }: DetachedAt, branch: string): string {
  const at = commit.startsWith(ref) ? formatHash(commit) : `${ref} (${formatHash(commit)})`;
  return `Detached at ${at}, a look at another version than ${branch}`;
}
