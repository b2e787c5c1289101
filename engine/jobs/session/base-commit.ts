/**
 * The workspace's base commit for the session's remote, and the index rows that mirror it.
 * `.dray/state.json` is the truth; the rows are rebuilt from the commit when they may mirror another one.
 */
import { DrayError } from '../../api/error.ts';
import { readChecked } from '../../base/read-checked.ts';
import type { PendingScope } from '../../index/file-table.ts';
import type { Change } from '../../model/diff.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { type Commit, decodeCommit } from '../../repository/commit.ts';
import { STORED_DOCUMENT_MAX_BYTES } from '../../repository/document.ts';
import { commitKey } from '../../repository/keys.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { isForgotten, unfinishedOverForgotten, whileKept } from '../retention/forgotten.ts';
import { findCachedCommit } from './cached-commit.ts';
import type { LinkedRepository } from './link-repository.ts';
import type { Session } from './open-workspace.ts';
import { scopeOf } from './workspace-scope.ts';

/**
 * The value of `settings.base` while the base rows mirror this commit (or no commit at all), as far as the
 * workspace holds it.
 */
export function baseMark({ state }: Pick<Session, 'state'>, uuid: string, commit?: CommitHash): string {
  const part = state.scope ? ` ${JSON.stringify(state.scope.only)}` : '';
  return `${uuid}/${commit ?? 'none'}${part}`;
}

/**
 * The value while a pull of the own branch writes, and after one that did not end: the rows mirror this
 * commit, except that what arrived stands in them already. A pull may go on from there. Without this, a base
 * whose segments were collected could not be had again.
 */
export function advancedMark(session: Pick<Session, 'state'>, uuid: string, commit: CommitHash): string {
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
  );
  if (!read) {
    throw new DrayError('damaged', `The commit ${hash} is missing on ${store.address}.`, {
      data: { commit: hash, remote: store.address },
      advice: 'Run "dray verify" to see what else is missing.',
      command: 'dray verify',
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
  /** The rows are those of `advancedMark`, and the commit is forgotten. */
  readonly isAdvanced?: true;
}

/**
 * Returns the base commit and makes the index's base rows mirror it. No request when they do already.
 * @throws `forgotten` if the base is, and the rows do not mirror it
 */
export async function ensureBase(
  session: Session,
  store: ObjectStore,
  link: LinkedRepository,
  {
    isInDoubt = false,
    mayBeAdvanced = false,
  }: { readonly isInDoubt?: boolean; readonly mayBeAdvanced?: boolean } = {},
): Promise<BaseCommit> {
  const { index } = session;
  hashAs(session, link.layout);
  const hash = session.state.bases[session.remoteName] as CommitHash | undefined;
  const commit = hash && (await fetchCommit(session, store, hash));
  const mark = baseMark(session, link.uuid, hash);
  if (index.settings.base === mark) return { hash, commit, isInDoubt };
  if (hash && index.settings.base === advancedMark(session, link.uuid, hash)) {
    const { signal } = session.context;
    if (await isForgotten(store, hash, { signal })) {
      if (mayBeAdvanced) return { hash, commit, isInDoubt, isAdvanced: true };
      throw unfinishedOverForgotten(hash);
    }
  }
  index.transaction(() => {
    index.settings.base = undefined;
    index.files.clearBase();
  });
  if (commit) {
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
  index.settings.base = mark;
  return { hash, commit, isInDoubt };
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
  const hash = session.state.bases[session.remoteName] as CommitHash | undefined;
  const known = session.index.settings.base;
  if (known === undefined) return hash === undefined && remote.repository === undefined;
  return known === baseMark(session, remote.repository ?? '', hash);
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
  session.index.transaction(() => {
    session.index.settings.base = undefined;
    for (const { path, after } of commit.changes) {
      if (scope?.holds(path) === false) continue;
      session.index.files.setBase(path, after);
      if (after) rememberBlob(link, after);
    }
  });
  saveBase(session, link.uuid, commit.hash, kind);
}

/**
 * Makes `hash` the workspace's base: first the mark of the rows, then the state file, which is authoritative.
 * It is the last step of a clone.
 */
export function saveBase(session: Session, uuid: string, hash: CommitHash, kind: BaseKind): void {
  session.index.settings.base = baseMark(session, uuid, hash);
  const { cloning: _, ...state } = session.state;
  const { remoteName } = session;
  const { [remoteName]: __, ...others } = state.follows ?? {};
  const follows = kind === 'branch' ? { ...others, [remoteName]: state.branch } : others;
  session.saveState({ ...state, follows, bases: { ...state.bases, [remoteName]: hash } });
  session.index.settings.keepCommits(Object.values(session.state.bases));
}
