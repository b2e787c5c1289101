/**
 * The workspace's base commit for the session's remote, and the index's base rows: what the file at each path
 * is based on. They mirror the base commit, or while another commit arrives (`arrivals.ts`) they have what
 * has come of it. `.dray/state.json` is the truth; the rows are rebuilt when they may be of another commit.
 */
import { createHash } from 'node:crypto';
import { DrayError } from '../../../api/error.ts';
import { readChecked } from '../../../base/read-checked.ts';
import type { PendingScope } from '../../../index/file-table.ts';
import type { Change } from '../../../model/diff.ts';
import type { CommitHash, Entry } from '../../../model/entry.ts';
import type { Layout } from '../../../model/layout.ts';
import type { ObjectStore } from '../../../remotes/object-store.ts';
import { type Commit, decodeCommit } from '../../../repository/commit.ts';
import { STORED_DOCUMENT_MAX_BYTES } from '../../../repository/document.ts';
import { adviceOnLost, adviseOnDamaged } from '../../../repository/history-end.ts';
import { commitKey } from '../../../repository/keys.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { nameOnStore } from '../../../repository/name-on-store.ts';
import { readState, writeState } from '../../../workspace/workspace-folder.ts';
import { whileKept } from '../../retention/forgotten.ts';
import { refreshIndex } from '../../working-copy/refresh-index.ts';
import type { LinkedRepository } from '../link-repository.ts';
import type { Session } from '../open-workspace.ts';
import { scopeOf } from '../workspace-scope.ts';
import { type Arrival, arrivalsOf, recordArrival, withoutArrivals } from './arrivals.ts';
import { findCachedCommit } from './cached-commit.ts';
import { withDetached } from './detached-state.ts';
import { settleArrival } from './settle-arrivals.ts';

/**
 * The value of `settings.base` while the base rows mirror this commit (or no commit at all), as far as the
 * workspace holds it.
 */
export function baseMark({ state }: Pick<Session, 'state'>, uuid: string, commit?: CommitHash): string {
  const part = state.scope ? ` ${JSON.stringify(state.scope.only)}` : '';
  const unheld = state.unheld ? ` without ${digestOf(Object.keys(state.unheld))}` : '';
  return `${uuid}/${commit ?? 'none'}${part}${unheld}`;
}

function digestOf(paths: readonly string[]): string {
  return createHash('sha256')
    .update([...paths].sort().join('\0'))
    .digest('hex');
}

/**
 * The value while the files of a commit come in: the rows mirror this commit, or have what arrived of another
 * one. Files that are not rows yet may have arrived too.
 */
function arrivingMark(session: Pick<Session, 'state'>, uuid: string, commit?: CommitHash): string {
  return `${baseMark(session, uuid, commit)} arriving`;
}

/**
 * The value when a run that brings a commit has ended and some of it is missing: the rows are the content
 * that each path came with. They are all that is known where the base's segments were collected.
 */
function mixedMark(session: Pick<Session, 'state'>, uuid: string, commit?: CommitHash): string {
  return `${baseMark(session, uuid, commit)} advanced`;
}

/** The base and the tip: a pull reads both several times, and an inline manifest takes long to parse. */
const DECODED_MAX = 2;
const decodedCommits = new WeakMap<Session, Map<CommitHash, Commit>>();

/**
 * Reads a commit from the index's cache, or from the store by one request, two when the bytes arrive damaged.
 * @throws `damaged`, also when the commit is missing
 */
export async function fetchCommit(session: Session, store: ObjectStore, hash: CommitHash): Promise<Commit> {
  const decoded = decodedCommits.get(session) ?? new Map<CommitHash, Commit>();
  decodedCommits.set(session, decoded);
  const commit = decoded.get(hash) ?? (await readCommitOf(session, store, hash));
  // The commits that were used last stay.
  decoded.delete(hash);
  decoded.set(hash, commit);
  for (const oldest of decoded.keys()) {
    if (decoded.size > DECODED_MAX) decoded.delete(oldest);
  }
  return commit;
}

async function readCommitOf(session: Session, store: ObjectStore, hash: CommitHash): Promise<Commit> {
  const cached = findCachedCommit(session.index, hash);
  if (cached) return cached.commit;
  const { signal } = session.context;
  const read = await readChecked(
    () => store.read(commitKey(hash), { maxBytes: STORED_DOCUMENT_MAX_BYTES, signal }),
    ({ bytes }) => ({ bytes, commit: decodeCommit(hash, bytes) }),
  ).catch((error: unknown) => adviseOnDamaged(error, hash));
  if (!read) {
    const key = nameOnStore(store, commitKey(hash));
    throw new DrayError('damaged', `The commit ${hash} is missing on ${store.address}: there is no ${key}.`, {
      data: { commit: hash, remote: store.address, key: commitKey(hash) },
      advice: adviceOnLost(hash),
      command: 'dray repair',
    });
  }
  session.index.settings.cacheCommit(hash, read.bytes);
  return read.commit;
}

export interface BaseCommit {
  readonly hash: CommitHash | undefined;
  readonly commit: Commit | undefined;
  /** The store may have lost blobs that the commit names. */
  readonly isInDoubt: boolean;
  /**
   * The rows do not mirror the commit: at some paths they have what arrived of another one. The changes of
   * the user are measured against the rows.
   */
  readonly isMixed?: true;
}

interface EnsureOptions {
  readonly isInDoubt?: boolean;
  /** The index has just been brought up to date with the files. */
  readonly isScanned?: boolean;
}

/**
 * Returns the base commit and makes the index's base rows what the files here are based on: this commit, and
 * what has arrived of others. No request when they are that already.
 * @throws `forgotten` if the base is, and the rows have to be read from it
 */
export async function ensureBase(
  session: Session,
  store: ObjectStore,
  link: LinkedRepository,
  { isInDoubt = false, isScanned = false }: EnsureOptions = {},
): Promise<BaseCommit> {
  const { settings } = session.index;
  hashAs(session, link.layout);
  const hash = baseHashOf(session);
  const commit = hash && (await fetchCommit(session, store, hash));
  const base = { hash, commit, isInDoubt };
  const whole = baseMark(session, link.uuid, hash);
  const mixed = mixedMark(session, link.uuid, hash);
  const arriving = arrivingMark(session, link.uuid, hash);
  const known = settings.base;
  if (known === mixed) return { ...base, isMixed: true };
  const arrivals = arrivalsOf(session);
  if (arrivals.length === 0) {
    if (known !== whole) await readBaseRows(session, store, link, base);
    settings.base = whole;
    return base;
  }
  if (known !== arriving) {
    if (known !== whole) await readBaseRows(session, store, link, base);
    settings.base = arriving;
  }
  if (!isScanned) await refreshIndex(session);
  // A run brings one commit, and settles what came before it first.
  const unsettled = known === arriving ? arrivals.slice(-1) : arrivals.toReversed();
  for (const arrival of unsettled) {
    const commit = arrival.commit as CommitHash;
    const settle = async () => settleArrival(session, store, await fetchCommit(session, store, commit));
    const arrived = await whileKept(store, commit, settle, { signal: session.context.signal });
    for (const entry of arrived) rememberBlob(link, entry);
  }
  settings.base = mixed;
  return { ...base, isMixed: true };
}

function baseHashOf({ remoteName, state }: Session): CommitHash | undefined {
  return state.bases[remoteName] as CommitHash | undefined;
}

async function readBaseRows(
  session: Session,
  store: ObjectStore,
  link: LinkedRepository,
  { commit, hash, isInDoubt }: BaseCommit,
): Promise<void> {
  const { index } = session;
  index.transaction(() => {
    index.settings.base = undefined;
    index.files.clearBase();
  });
  if (!commit) return;
  const { signal } = session.context;
  const mirror = async () => {
    for await (const entries of readEntries(store, commit, { scope: scopeOf(session), signal })) {
      index.transaction(() => {
        for (const entry of entries) {
          index.files.setBase(entry.path, entry);
          if (!isInDoubt) rememberBlob(link, entry);
        }
      });
    }
  };
  await whileKept(store, hash!, mirror, { signal, isBase: true });
}

/**
 * Call before the first file of the commit is written, or before rows count as its content. From here on the
 * rows may mix two commits.
 */
export function beginArrival(session: Session, uuid: string, arrival: Arrival): void {
  const { index } = session;
  const mark = arrivingMark(session, uuid, baseHashOf(session));
  const wasSettled = index.settings.base === mixedMark(session, uuid, baseHashOf(session));
  // After a power cut the rows would count as settled, and what this run wrote as edits.
  if (wasSettled)
    index.durably(() => {
      index.settings.base = mark;
    });
  recordArrival(session, arrival);
  index.settings.base = mark;
}

/**
 * Call when a run has ended before it brought everything, and each file that it wrote is a row.
 * @param merged What it did not have to write: the file here is the commit's, or was preferred to it.
 */
export function endArrival(
  session: Session,
  link: Pick<LinkedRepository, 'blobs' | 'uuid'>,
  merged: readonly Change[] = [],
): void {
  const { files, settings } = session.index;
  session.index.transaction(() => {
    for (const { after, path } of merged) {
      files.setBase(path, after);
      if (after) rememberBlob(link, after);
    }
    settings.base = mixedMark(session, link.uuid, baseHashOf(session));
  });
}

/** After a push over what is arriving: what was pushed has arrived of its commit. The base stays. */
export function acceptOntoArrivals(session: Session, link: LinkedRepository, own: Arrival): void {
  beginArrival(session, link.uuid, own);
  session.index.transaction(() => {
    session.index.files.acceptChanges();
    endArrival(session, link);
  });
}

/** Call when nothing of these commits is left here, and the rows have nothing of them. */
export function dropArrivals(session: Session, uuid: string, isOver: (arrival: Arrival) => boolean): void {
  const { remoteName, state, workspace } = session;
  session.state = withoutArrivals(state, remoteName, isOver);
  // A switch has its new branch in memory, and saves it at its end.
  writeState(workspace, withoutArrivals(readState(workspace), remoteName, isOver));
  if (arrivalsOf(session).length === 0)
    session.index.settings.base = baseMark(session, uuid, baseHashOf(session));
}

/** The files that a push has to read: also those that equal the base, if it is in doubt. */
export function pendingScope({ known }: LinkedRepository, { isInDoubt }: BaseCommit): PendingScope {
  return { repository: known.id, isBaseInDoubt: isInDoubt };
}

/**
 * Makes the index's hashes those of this layout. A file that the old or the new layout cuts into chunks gets
 * another hash, so it is read again.
 */
export function hashAs({ index }: Session, { chunkAbove, chunkSize, cutterKey }: Layout): void {
  const before = index.settings.cut;
  const { average, max, min } = chunkSize;
  const keyed = cutterKey === undefined ? '' : ` ${cutterKey}`;
  const cut = chunkAbove === 0 ? '0' : `${chunkAbove} ${min} ${average} ${max}${keyed}`;
  if (cut === before) return;
  index.transaction(() => {
    if (before !== undefined) {
      index.settings.base = undefined;
      index.files.clearBase();
      const bounds = [chunkAbove, Number.parseInt(before, 10)].filter((bound) => bound > 0);
      index.files.forgetLarge(Math.min(...bounds));
    }
    index.settings.cut = cut;
  });
}

/** Whether commands like `status` can work without a request to the remote. */
export function hasBaseRows(session: Session): boolean {
  const remote = session.config.remotes[session.remoteName]!;
  const hash = baseHashOf(session);
  const known = session.index.settings.base;
  const isArriving = arrivalsOf(session).length > 0;
  if (known === undefined) return !isArriving && hash === undefined && remote.repository === undefined;
  const { repository = '' } = remote;
  if (known === mixedMark(session, repository, hash)) return true;
  return !isArriving && known === baseMark(session, repository, hash);
}

/** Records in the index that the store has the entry's blob. */
export function rememberBlob(link: Pick<LinkedRepository, 'blobs'>, entry: Entry): void {
  if (entry.kind === 'file') link.blobs.add(entry.blob, entry.location);
}

/** Whether a base is in the history of the workspace's branch, or of anything. */
type BaseKind = 'branch' | 'other';

/**
 * Makes the commit the workspace's base; the workspace already has its files.
 * @param commit `changes`: from the old base to this commit
 */
export function acceptCommit(
  session: Session,
  link: LinkedRepository,
  commit: { readonly hash: CommitHash; readonly changes: readonly Change[] },
  kind: BaseKind = 'branch',
): void {
  const scope = scopeOf(session);
  // If the state file cannot be written, the rows still say what the files are based on.
  const isOnRecord = arrivalsOf(session).length > 0;
  const between = isOnRecord ? arrivingMark(session, link.uuid, baseHashOf(session)) : undefined;
  session.index.transaction(() => {
    session.index.settings.base = between;
    for (const { path, after } of commit.changes) {
      if (scope?.holds(path) === false) {
        session.index.files.setBase(path, undefined);
        session.index.files.setAbsent(path);
        continue;
      }
      session.index.files.setBase(path, after);
      if (after) rememberBlob(link, after);
    }
  });
  saveBase(session, link.uuid, commit.hash, kind);
}

/**
 * Makes `hash` the workspace's base: first the state file, which is authoritative, then the mark of the rows.
 * After a kill in between the rows are read again, from this commit. It is the last step of a clone.
 */
export function saveBase(session: Session, uuid: string, hash: CommitHash, kind: BaseKind): void {
  const { cloning: _, ...state } = withoutArrivals(session.state, session.remoteName);
  const { remoteName } = session;
  const { [remoteName]: __, ...others } = state.follows ?? {};
  const follows = kind === 'branch' ? { ...others, [remoteName]: state.branch } : others;
  const next = { ...state, follows, bases: { ...state.bases, [remoteName]: hash } };
  session.saveState(kind === 'branch' ? withDetached(next, remoteName, undefined) : next);
  session.index.settings.base = baseMark(session, uuid, hash);
  session.index.settings.keepCommits(Object.values(session.state.bases));
}
