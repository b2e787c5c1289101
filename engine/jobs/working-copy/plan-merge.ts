/**
 * What a three-way merge changes in the working copy, and what becomes of its conflicts. Pull, merge and
 * revert share it.
 */
import type { ConflictSide } from '../../api/jobs/jobs.ts';
import type { Change } from '../../model/diff.ts';
import { type MergeConflict, mergeChanges, resolveMerge } from '../../model/merge.ts';
import { type LocalKeeper, openLocalKeeper } from '../kept/local-keeper.ts';
import type { Session } from '../session/open-workspace.ts';
import { type OtherSide, reportConflicts } from './conflicts.ts';
import { findObstacles } from './unscanned-obstacles.ts';

/** How conflicts are decided, as in `PullRequest`. */
export interface MergeChoices {
  readonly dryRun?: boolean;
  readonly conflicts?: 'stop' | ConflictSide;
  readonly decisions?: Readonly<Record<string, ConflictSide>>;
}

export interface MergePlan {
  /** The changes to apply to the working copy. */
  readonly changes: readonly Change[];
  readonly decided: number;
  readonly conflicts: readonly MergeConflict[];
  /** The paths whose local files `--theirs` or `--both` replaces. */
  readonly givenUp: ReadonlySet<string>;
  /** For `--both`: by the path of a local file, the file or folder that gets a second name. */
  readonly copies: ReadonlyMap<string, string>;
}

export function openMergeKeeper(
  session: Session,
  words: string,
  { changes, copies }: MergePlan,
  torn: ReadonlySet<string>,
): LocalKeeper {
  const written = new Set(changes.map(({ path }) => path));
  const deletions = new Set(changes.flatMap(({ after, path }) => (after ? [] : [path])));
  return openLocalKeeper({
    session,
    words,
    copies,
    deletions,
    isTaken: (path) => written.has(path),
    // Files that a power cut damaged need not be kept.
    isMeant: (path) => !torn.has(path),
  });
}

/** @throws `conflict` after an event for each path, unless the choices decide */
export function planMerge(
  session: Session,
  { ours, theirs }: { readonly ours: readonly Change[]; readonly theirs: readonly Change[] },
  other: OtherSide,
  choices: MergeChoices,
): MergePlan {
  const merge = mergeChanges(ours, theirs);
  const inTheWay = findObstacles(session, merge.takeTheirs);
  const conflicts = [...merge.conflicts, ...inTheWay];
  const decide = ({ path }: MergeConflict) => choices.decisions?.[path] ?? choices.conflicts ?? 'stop';
  if (conflicts.some((conflict) => decide(conflict) === 'stop'))
    throw reportConflicts(session, conflicts, other);
  // Already decided, but a dry run reports them.
  if (choices.dryRun) reportConflicts(session, conflicts, other);
  const isTheirs = (conflict: MergeConflict) => sideOf(conflict, decide(conflict)) === 'theirs';
  const isBoth = (conflict: MergeConflict) => isTheirs(conflict) && decide(conflict) === 'both';
  const kept = new Set(inTheWay.filter((conflict) => !isTheirs(conflict)).map(({ path }) => path));
  const resolved =
    conflicts.length === 0
      ? merge.takeTheirs
      : resolveMerge(merge, (conflict) => (isTheirs(conflict) ? 'theirs' : 'ours'));
  return {
    changes: resolved.filter((change) => !kept.has(change.path)),
    decided: conflicts.length,
    conflicts,
    givenUp: new Set(conflicts.filter(isTheirs).flatMap(({ ours, path }) => [path, ...pathsOf(ours)])),
    copies: new Map(
      conflicts
        .filter(isBoth)
        .flatMap(({ ours, path }) => [path, ...pathsOf(ours)].map((at) => [at, path] as const))
        .filter(([at, whole]) => at === whole || at.startsWith(`${whole}/`)),
    ),
  };
}

/** The side whose version the path gets. `both` keeps the only version of a file that one side deleted. */
function sideOf({ ours, theirs }: MergeConflict, decision: ConflictSide | 'stop'): 'ours' | 'theirs' {
  if (decision !== 'both') return decision === 'theirs' ? 'theirs' : 'ours';
  const has = (changes: readonly Change[]) => changes.some(({ after }) => after && after.kind !== 'folder');
  return has(ours) && !has(theirs) ? 'ours' : 'theirs';
}

function pathsOf(changes: readonly Change[]): string[] {
  return changes.flatMap(({ path }) => (path.endsWith('/') ? [] : [path]));
}
