/**
 * Takes a merge or a revert back that is not pushed yet. A path goes back to what the base has if it still is
 * as the merge wrote it. What changed since then stays, and what a decision overwrote is in the bin.
 */
import { DrayError } from '../../api/error.ts';
import type { MergeSummary } from '../../api/jobs/merge.ts';
import { type Change, isSameEntry, kindOfChange } from '../../model/diff.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import { EMPTY_MANIFEST } from '../../repository/manifest/manifest.ts';
import { openLocalKeeper } from '../kept/local-keeper.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import { type BaseCommit, ensureBase, fetchCommit } from '../session/base/base-commit.ts';
import type { Session } from '../session/open-workspace.ts';
import { applyAsEdits } from '../working-copy/apply-as-edits.ts';
import { isAsKnown } from '../working-copy/apply-changes.ts';
import { readBased } from '../working-copy/based-entries.ts';
import { collectChanges } from '../working-copy/conflicts.ts';
import { hashFiles, unreadAmong } from '../working-copy/hash-files.ts';
import { hasCutRuns, settleCutRuns, takeTorn } from '../working-copy/interrupted-writes.ts';
import { refreshIndex, reportProblems, sweepUnfinished } from '../working-copy/refresh-index.ts';
import { emitChanges, toChange } from '../working-copy/working-changes.ts';
import { type Pending, pendingMerge, savePending } from './pending-merge.ts';
import { type MergeRun, mergeSummary } from './run-merge.ts';

/** @throws `usage` if there is none */
export async function abortMerge(run: MergeRun, kind: Pending['kind']): Promise<MergeSummary> {
  const { link, remote, session } = run;
  const { store } = remote;
  const pending = pendingMerge(session);
  if (pending?.kind !== kind) throw nothingToAbort(pending, kind);
  const scanned = await refreshIndex(session);
  const problems = reportProblems(session, scanned.problems);
  sweepUnfinished(session, scanned.problems);
  const base = await ensureBase(session, store, link);
  const written = await writtenByMerge(run, base, pending);
  const torn = await tornFiles(run, base);
  const isBack = ({ path }: Change) => torn.has(path) || isAt(session, path, 'after', written.get(path)!);
  const back = [...written.values()].filter(isBack);
  const left = [...written.values()].filter(
    (change) => !isBack(change) && !isAt(session, change.path, 'before', change),
  );
  const writes = await placed(run, base, back);
  const changes = await emitChanges(session, [back.map(swapped)], { silent: true });
  // A kill from here on leaves a part of the merge.
  savePending(session, { ...pending, isUnfinished: true });
  const applied = await applyAsEdits({
    ...run,
    writing: { commit: base.hash!, words: `${kind} --abort` },
    deletions: back.flatMap(({ before, path }) => (before ? [] : [path])),
    writes,
    givenUp: torn,
    keeper: openLocalKeeper({
      session,
      words: `${kind} --abort`,
      // A commit has what the merge wrote.
      isMeant: (path) => !torn.has(path) && !isAsKnown(session, path),
    }),
  });
  if (applied.failed === 0) {
    savePending(session, undefined);
    await settleCutRuns(session, store, applied.base);
  }
  return {
    ...mergeSummary(run, pending),
    result: 'aborted',
    changes,
    stayed: left.length,
    downloadedBytes: applied.bytes,
    ...applied.keeping,
    failed: problems + applied.failed,
    requests: remote.meter.totals(),
  };
}

/** By path: from the base to what the merge may have written. Reads those files that were not read yet. */
async function writtenByMerge(
  { remote, session }: MergeRun,
  base: BaseCommit,
  pending: Pending,
): Promise<ReadonlyMap<string, Change>> {
  const { store } = remote;
  const commit = await fetchCommit(session, store, pending.commit as CommitHash);
  const source = pending.kind === 'merge' ? commit : await stateBefore(session, remote, commit, pending);
  const changes = await collectChanges(changesFromBase(session, store, base, source));
  const real = changes.filter((change) => kindOfChange(change));
  await hashFiles(session, unreadAmong(session, new Set(real.map(({ path }) => path))));
  return new Map(real.map((change) => [change.path, change]));
}

/** What the paths are based on. While a commit arrives, the index does not know where the content is. */
async function placed(
  { remote, session }: MergeRun,
  base: BaseCommit,
  changes: readonly Change[],
): Promise<readonly Entry[]> {
  const entries = changes.flatMap(({ before }): Entry[] => (before ? [before] : []));
  if (!base.isMixed) return entries;
  const paths = new Set(entries.map(({ path }) => path));
  const found = await readBased(session, remote.store, base, (path) => paths.has(path));
  const byPath = new Map(found.map((entry) => [entry.path, entry]));
  return entries.map((entry) => byPath.get(entry.path) ?? entry);
}

async function stateBefore(
  session: Session,
  { store }: MergeRun['remote'],
  { parents }: { readonly parents: readonly CommitHash[] },
  { parent = 1 }: Pending,
) {
  const hash = parents[parent - 1];
  return hash === undefined ? { manifest: EMPTY_MANIFEST } : await fetchCommit(session, store, hash);
}

async function tornFiles(
  { link, remote, session }: MergeRun,
  base: BaseCommit,
): Promise<ReadonlySet<string>> {
  if (!hasCutRuns(session)) return new Set();
  const { torn } = await takeTorn(session, remote.store, { base, target: base.commit }, []);
  await ensureBase(session, remote.store, link);
  return torn;
}

function isAt(session: Session, path: string, side: 'before' | 'after', change: Change): boolean {
  const indexed = session.index.files.find(path, 0);
  const here = indexed && toChange(indexed).after;
  const wanted = change[side];
  return here && wanted ? isSameEntry(here, wanted) : here === wanted;
}

function swapped({ after, before, path }: Change): Change {
  return { path, before: after, after: before };
}

function nothingToAbort(pending: Pending | undefined, kind: Pending['kind']): DrayError {
  if (!pending)
    return new DrayError('usage', `There is no ${kind} in this workspace that is not pushed yet.`);
  return new DrayError('usage', `What is not pushed yet in this workspace is a ${pending.kind}.`, {
    data: { kind: pending.kind },
    advice: `Take it back with "dray ${pending.kind} --abort".`,
    command: `dray ${pending.kind} --abort`,
  });
}
