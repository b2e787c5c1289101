/** Reports conflicts to people. */

import { DrayError } from '../../api/error.ts';
import type { ConflictEvent } from '../../api/events.ts';
import type { Change } from '../../model/diff.ts';
import type { MergeConflict } from '../../model/merge.ts';
import type { Session } from '../session/open-workspace.ts';

const NAMED_PATHS = 5;
const DATA_PATHS_MAX = 1000;

export async function collectChanges(pages: AsyncIterable<readonly Change[]>): Promise<Change[]> {
  const changes: Change[] = [];
  for await (const page of pages) for (const change of page) changes.push(change);
  return changes;
}

/** Emits an event for each conflict. The error names the first few. */
export function reportConflicts(
  session: Pick<Session, 'context'>,
  conflicts: readonly MergeConflict[],
  branch: string,
): DrayError {
  for (const { path, ours, theirs } of conflicts) {
    session.context.emit({ type: 'conflict', path, ours: whatHappened(ours), theirs: whatHappened(theirs) });
  }
  const paths = conflicts.map((conflict) => conflict.path);
  const named = paths.slice(0, NAMED_PATHS).join(', ');
  const more = paths.length > NAMED_PATHS ? ` and ${paths.length - NAMED_PATHS} more` : '';
  return new DrayError(
    'conflict',
    `This workspace and the branch ${branch} both changed ${named}${more}. Nothing was changed.`,
    {
      data: { branch, paths: paths.slice(0, DATA_PATHS_MAX), count: paths.length },
      advice: 'Decide with "dray pull --ours", "dray pull --theirs" or "dray pull --both".',
    },
  );
}

function whatHappened(changes: readonly Change[]): ConflictEvent['ours'] {
  if (changes.some((change) => change.before && change.after)) return 'modified';
  return changes.some((change) => change.after) ? 'added' : 'deleted';
}
