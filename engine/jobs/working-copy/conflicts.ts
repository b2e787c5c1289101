/** Reports conflicts to people. */

import { DrayError } from '../../api/error.ts';
import type { ConflictEvent } from '../../api/events.ts';
import type { Change } from '../../model/diff.ts';
import type { MergeConflict } from '../../model/merge.ts';
import { commandLine } from '../session/command-line.ts';
import type { Session } from '../session/open-workspace.ts';
import type { TypedCommit } from '../session/resolve-commit.ts';

const NAMED_PATHS = 5;
const DATA_PATHS_MAX = 1000;

export async function collectChanges(pages: AsyncIterable<readonly Change[]>): Promise<Change[]> {
  const changes: Change[] = [];
  for await (const page of pages) for (const change of page) changes.push(change);
  return changes;
}

/** The other side of a conflict. */
export interface OtherSide {
  /** As the user typed it: `the tag v1`. */
  readonly ref: TypedCommit;
  /** The command that decides, without `dray` and the option that says how: `pull v1`. */
  readonly words: string;
}

/** Emits an event for each conflict. The error names the first few. */
export function reportConflicts(
  session: Pick<Session, 'context' | 'config' | 'remoteName'>,
  conflicts: readonly MergeConflict[],
  { ref, words }: OtherSide,
): DrayError {
  for (const { path, ours, theirs } of conflicts) {
    session.context.emit({ type: 'conflict', path, ours: whatHappened(ours), theirs: whatHappened(theirs) });
  }
  const paths = conflicts.map((conflict) => conflict.path);
  const named = paths.slice(0, NAMED_PATHS).join(', ');
  const more = paths.length > NAMED_PATHS ? ` and ${paths.length - NAMED_PATHS} more` : '';
  const decide = (option: string) => `"${commandLine(session, `${words} ${option}`)}"`;
  return new DrayError(
    'conflict',
    `This workspace and the ${ref.kind} ${ref.name} both changed ${named}${more}. Nothing was changed.`,
    {
      data: {
        ...(ref.kind === 'branch' ? { branch: ref.name } : {}),
        ref: ref.name,
        paths: paths.slice(0, DATA_PATHS_MAX),
        count: paths.length,
      },
      advice: `Decide with ${decide('--ours')}, ${decide('--theirs')} or ${decide('--both')}.`,
    },
  );
}

function whatHappened(changes: readonly Change[]): ConflictEvent['ours'] {
  if (changes.some((change) => change.before && change.after)) return 'modified';
  return changes.some((change) => change.after) ? 'added' : 'deleted';
}
