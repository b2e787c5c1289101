/**
 * Runs that wrote into the workspace and did not finish, because they were killed or the power was cut. After
 * a power cut a file may have the size and time of the commit's file but other content, and a push would
 * record that as an edit. So a mark names the commit and the command before the run writes its first file
 * (`files/disk/unsynced-mark.ts`). A file is torn if it has the commit's time, to the nanosecond, is not
 * longer and has other content. Until the command has run again,
 * - a push is refused while there are torn files,
 * - a pull or switch to any commit rewrites torn files, and never takes them for edits.
 */
import { join } from 'node:path';
import { advised, DrayError } from '../../api/error.ts';
import { findUnsyncedMarks, removeUnsyncedMarks, type UnsyncedMark } from '../../files/disk/unsynced-mark.ts';
import { exactMtimeNs } from '../../files/scan/local-place.ts';
import type { Change } from '../../model/diff.ts';
import { type CommitHash, comparePaths, type Entry, type FileEntry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { changesFromBase } from '../session/base/base-changes.ts';
import { type BaseCommit, fetchCommit } from '../session/base/base-commit.ts';
import type { Session } from '../session/open-workspace.ts';
import { collectChanges } from './conflicts.ts';
import { hashFiles, unreadAmong } from './hash-files.ts';
import { toChange } from './working-changes.ts';

/** The commit that the run writes into the workspace, and its command line after `dray`. */
export interface Writing {
  readonly commit: CommitHash;
  readonly words: string;
}

interface CutRun {
  readonly mark: UnsyncedMark;
  readonly remote: string;
  readonly commit: CommitHash;
  readonly command: string;
}

export function noteOfWriting({ config, remoteName }: Session, { commit, words }: Writing): string {
  const flag = remoteName === config.defaultRemote ? '' : ` --remote ${remoteName}`;
  return [remoteName, commit, `dray ${words}${flag}`].join(' ');
}

const NOTE = /^(\S+) ([0-9a-f]{64}) (.+)$/s;

/** Interrupted runs from any remote. */
function cutRuns({ workspace }: Session): readonly CutRun[] {
  return findUnsyncedMarks(workspace.temporaryFolder).flatMap((mark): CutRun[] => {
    const [, remote, commit, command] = NOTE.exec(mark.note) ?? [];
    return remote && commit && command ? [{ mark, remote, commit: commit as CommitHash, command }] : [];
  });
}

export function hasCutRuns(session: Session): boolean {
  return cutRuns(session).length > 0;
}

/** Warns commands that show changes. */
export function warnOfCutRuns(session: Session): void {
  const run = cutRuns(session).at(-1);
  if (!run) return;
  const message = 'A transfer was cut off: files that it was writing may not be whole.';
  const advice = `Run "${run.command}" again.`;
  session.context.emit({ type: 'warning', warning: 'halfArrived', ...advised(message, advice) });
}

export interface TornFile {
  readonly path: string;
  /** The file in the workspace. */
  readonly torn: Entry;
  /** The base's entry at this path. */
  readonly base: Entry | undefined;
  readonly command: string;
}

/** Torn files of the session's remote. Call after the scan, when the index's base rows mirror the base. */
async function findTorn(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
): Promise<readonly TornFile[]> {
  const found = new Map<string, TornFile>();
  const seen = new Set<CommitHash>();
  for (const { command, commit, remote } of cutRuns(session)) {
    if (remote !== session.remoteName || seen.has(commit)) continue;
    seen.add(commit);
    const suspects = await findSuspects(session, store, base, commit);
    const unread = new Set(
      suspects.filter(({ entry, now }) => now.sizeBytes === entry.sizeBytes).map(({ path }) => path),
    );
    await hashFiles(session, unreadAmong(session, unread));
    for (const { before, entry, now, path } of suspects) {
      const isWhole = unread.has(path) && session.index.files.find(path, 0)?.after?.hash === entry.blob;
      if (!isWhole && !found.has(path)) found.set(path, { path, torn: now, base: before, command });
    }
  }
  return [...found.values()];
}

interface Suspect {
  readonly path: string;
  readonly before: Entry | undefined;
  readonly now: FileEntry;
  /** The commit's entry at this path. */
  readonly entry: FileEntry;
}

/** Changed files with the commit's time that are not longer than the commit's. */
async function findSuspects(
  session: Session,
  store: ObjectStore,
  base: BaseCommit,
  commit: CommitHash,
): Promise<readonly Suspect[]> {
  const entries = new Map<string, Entry | undefined>();
  if (commit !== base.hash) {
    const target = await fetchCommit(session, store, commit);
    for (const { after, path } of await collectChanges(changesFromBase(session, store, base, target)))
      entries.set(path, after);
  }
  const suspects: Suspect[] = [];
  for (const page of session.index.files.changes(0)) {
    for (const { after: now, before, path } of page.map(toChange)) {
      const entry = entries.has(path) ? entries.get(path) : before;
      if (now?.kind !== 'file' || entry?.kind !== 'file' || now.sizeBytes > entry.sizeBytes) continue;
      if (exactMtimeNs(join(session.workspace.root, path)) === entry.mtimeNs)
        suspects.push({ path, before, now, entry });
    }
  }
  return suspects;
}

export interface TornTaken {
  /** From the workspace's files to the target. */
  readonly changes: readonly Change[];
  readonly torn: ReadonlySet<string>;
}

/**
 * The changes to the target, torn files included. The index forgets the torn files, and its base rows mirror
 * no commit.
 */
export async function takeTorn(
  session: Session,
  store: ObjectStore,
  { base, target }: { readonly base: BaseCommit; readonly target: Commit | undefined },
  toTarget: readonly Change[],
): Promise<TornTaken> {
  const found = await findTorn(session, store, base);
  if (found.length === 0) return { changes: toTarget, torn: new Set() };
  const { index } = session;
  const torn = new Set(found.map(({ path }) => path));
  index.transaction(() => {
    index.settings.base = undefined;
    for (const path of torn) {
      index.files.setAbsent(path);
      index.files.setBase(path, undefined);
    }
  });
  const wanted = new Map(toTarget.map((change) => [change.path, change]));
  const unchanged = found.filter((file) => file.base && !wanted.has(file.path)).map(({ path }) => path);
  const placed = await entriesAt(session, store, target, unchanged);
  const onward = found.map((file): Change => {
    const change = wanted.get(file.path);
    const after = change ? change.after : (placed.get(file.path) ?? file.base);
    return { path: file.path, before: file.torn, after };
  });
  const rest = toTarget.filter(({ path }) => !torn.has(path));
  const changes = [...rest, ...onward].sort((left, right) => comparePaths(left.path, right.path));
  return { changes, torn };
}

/** The target's entries, with the places of their content, which the index's base rows lack. */
async function entriesAt(
  session: Session,
  store: ObjectStore,
  commit: Commit | undefined,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Entry>> {
  const found = new Map<string, Entry>();
  if (!commit || paths.length === 0) return found;
  const wanted = new Set(paths);
  const scope = {
    holds: (path: string) => wanted.has(path),
    reachesBetween: (first: string, last: string) =>
      paths.some((path) => comparePaths(path, first) >= 0 && comparePaths(path, last) <= 0),
  };
  for await (const page of readEntries(store, commit, { scope, signal: session.context.signal }))
    for (const entry of page) found.set(entry.path, entry);
  return found;
}

/**
 * Call when no torn file is left. Only a change of scope has looked outside of the scope, where an earlier
 * one may have left a torn file.
 */
export function forgetCutRuns(session: Session, { ofScope = false } = {}): void {
  const own = cutRuns(session).filter(
    ({ command, remote }) => remote === session.remoteName && (ofScope || !command.startsWith('dray scope ')),
  );
  removeUnsyncedMarks(own.map(({ mark }) => mark));
}

/** Forgets the runs if none of their files is torn. */
export async function settleCutRuns(session: Session, store: ObjectStore, base: BaseCommit): Promise<void> {
  if (hasCutRuns(session) && (await findTorn(session, store, base)).length === 0) forgetCutRuns(session);
}

/** @throws `conflict` if a file is torn */
export async function refuseTorn(session: Session, store: ObjectStore, base: BaseCommit): Promise<void> {
  const runs = cutRuns(session);
  if (runs.length === 0) return;
  const [first, ...others] = await findTorn(session, store, base);
  if (first) {
    const { command, path } = first;
    const what = others.length === 0 ? `${path} is` : `${path} and ${others.length} more are`;
    throw new DrayError('conflict', `${what} incomplete: a transfer was cut off while it wrote there.`, {
      data: { path, count: others.length + 1, reason: 'halfArrived' },
      advice: `Run "${command}" again, then push.`,
      command,
    });
  }
  const elsewhere = runs.find(({ remote }) => remote !== session.remoteName);
  if (elsewhere) {
    const { command } = elsewhere;
    const message = 'A transfer was cut off, and files that it was writing may not be whole.';
    const advice = `Run "${command}" again, then push.`;
    throw new DrayError('conflict', message, { advice, command, data: { reason: 'halfArrived' } });
  }
}
