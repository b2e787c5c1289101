/** The working copy's changes against its base: read, decided, paired into renames, emitted as events. */
import type { ChangeTotals } from '../../api/jobs/jobs.ts';
import type { IndexedChange, IndexedSide } from '../../index/file-row.ts';
import type { PendingRead } from '../../index/file-table.ts';
import { type Change, detectRenames, kindOfChange } from '../../model/diff.ts';
import type { BlobHash, BlobLocation, Entry } from '../../model/entry.ts';
import { emitEach } from '../session/emit-each.ts';
import type { Session } from '../session/open-workspace.ts';
import { hashFiles, isUnread, undecidedFiles } from './hash-files.ts';
import { type Refreshed, refreshIndex, reportProblems } from './refresh-index.ts';

/** Above this many changes they are emitted without pairing renames, so that memory stays bounded. */
const PAIRED_CHANGES_MAX = 200_000;
/** Stands for a place that is unknown or not needed. */
const NO_LOCATION: BlobLocation = { in: 'nowhere' };

export interface WorkingState {
  readonly scanned: Refreshed;
  readonly failed: number;
}

/** Scans, and reads the files whose stat changed but whose size did not. */
export async function settleWorkingCopy(session: Session): Promise<WorkingState> {
  const scanned = await refreshIndex(session);
  let failed = reportProblems(session, scanned.problems);
  if (scanned.differing > 0) {
    failed += await hashFiles(session, undecidedFiles(session));
    failed += await hashFiles(session, renameCandidates(session));
  }
  return { scanned, failed };
}

/** The changes of the working copy, in order. Unread content counts as different from all other content. */
export function* workingChanges(session: Session, repository = 0): Generator<readonly Change[]> {
  for (const page of session.index.files.changes(repository)) yield page.map(toChange);
}

/** The changes whose content is known: those that a push records. */
export function* readChanges(session: Session): Generator<readonly Change[]> {
  for (const page of session.index.files.changes(0))
    yield page.filter((change) => !isUnread(change)).map(toChange);
}

export function toChange(indexed: IndexedChange): Change {
  const { path, before, after, location } = indexed;
  return {
    path,
    before: before && sideEntry(path, before, undefined),
    after: after && sideEntry(path, after, location),
  };
}

/**
 * Emits an event for each change and counts them.
 * @param options `hasNoRenames`: true if no rename is possible, so no change waits to be paired
 */
export async function emitChanges(
  session: Pick<Session, 'context'>,
  pages: Iterable<readonly Change[]> | AsyncIterable<readonly Change[]>,
  options: { readonly silent?: boolean; readonly hasNoRenames?: boolean } = {},
): Promise<ChangeTotals> {
  const totals = { added: 0, modified: 0, deleted: 0, renamed: 0, mode: 0, bytes: 0 };
  let held: Change[] | undefined = options.hasNoRenames ? undefined : [];
  const emitOne = (change: Change, fromPath?: string) => {
    const kind = fromPath === undefined ? kindOfChange(change) : 'renamed';
    if (kind === undefined) return;
    totals[kind] += 1;
    const entry = (change.after ?? change.before)!;
    const sizeBytes = entry.kind === 'file' ? entry.sizeBytes : 0;
    if (kind === 'added' || kind === 'modified') totals.bytes += sizeBytes;
    if (options.silent) return;
    session.context.emit({
      type: 'change',
      change: kind,
      path: change.path,
      ...(fromPath === undefined ? {} : { fromPath }),
      kind: entry.kind,
      sizeBytes,
      ...(kind === 'modified' && change.before?.kind === 'file'
        ? { oldSizeBytes: change.before.sizeBytes }
        : {}),
    });
  };
  for await (const page of pages) {
    if (!held) {
      await emitEach(session.context, page, emitOne);
      continue;
    }
    for (const change of page) held.push(change);
    if (held.length <= PAIRED_CHANGES_MAX) continue;
    await emitEach(session.context, held, emitOne);
    held = undefined;
  }
  if (held) {
    const { changes, fromByPath } = pairRenames(held);
    await emitEach(session.context, changes, (change) => emitOne(change, fromByPath.get(change.path)));
  }
  return totals;
}

/** Pairs changes for display: a moved file is one change, at its new path. */
function pairRenames(changes: readonly Change[]) {
  const { renames } = detectRenames(changes);
  const gone = new Set(renames.map((rename) => rename.fromPath));
  return {
    changes: changes.filter(({ after, path }) => after || !gone.has(path)),
    fromByPath: new Map(renames.map((rename) => [rename.toPath, rename.fromPath])),
  };
}

/** Unread new files with the size of a deleted file: they may be renames. */
function* renameCandidates(session: Session): Generator<PendingRead> {
  const goneSizes = new Set<number>();
  for (const page of session.index.files.changes(0)) {
    for (const { before, after } of page)
      if (before?.kind === 'file' && !after) goneSizes.add(before.sizeBytes);
    if (goneSizes.size > PAIRED_CHANGES_MAX) return;
  }
  if (goneSizes.size === 0) return;
  for (const page of session.index.files.changes(0)) {
    for (const { path, before, after } of page) {
      const isUnread = after?.kind === 'file' && after.hash === undefined && !before;
      if (isUnread && goneSizes.has(after.sizeBytes)) yield { path, sizeBytes: after.sizeBytes };
    }
  }
}

function sideEntry(path: string, side: IndexedSide, location: BlobLocation | undefined): Entry {
  if (side.kind === 'folder') return { kind: 'folder', path };
  if (side.kind === 'link') return { kind: 'link', path, target: side.hash ?? '' };
  const { sizeBytes, mtimeNs, executable } = side;
  const blob = (side.hash ?? `unread:${path}`) as BlobHash;
  return { kind: 'file', path, sizeBytes, mtimeNs, executable, blob, location: location ?? NO_LOCATION };
}
