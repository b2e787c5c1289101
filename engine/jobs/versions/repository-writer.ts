/**
 * Writes commits to a repository without a workspace: content from streams, then commits, then refs. What is
 * on the store is remembered in the user's cache, so that a killed run does not send it again.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { type Index, openIndex } from '../../index/open-index.ts';
import type { BlobHash, BlobLocation, CommitHash, Entry } from '../../model/entry.ts';
import { DEFAULT_LAYOUT } from '../../model/layout.ts';
import { checkWhole } from '../../repository/collection/check-whole.ts';
import { type PublishedRef, publish } from '../../repository/collection/publish.ts';
import { type Commit, readCommit } from '../../repository/commit.ts';
import { collectsGarbage, createDescriptor, readDescriptor } from '../../repository/descriptor.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { readSegment } from '../../repository/manifest/stored-segment.ts';
import { listRefs, readRef, type StoredRef } from '../../repository/refs.ts';
import { makeFolder } from '../../workspace/workspace-folder.ts';
import { describeHolder, lockWorkspace } from '../../workspace/workspace-lock.ts';
import { confirmUploads, findLostUploads } from '../push/confirm-uploads.ts';
import { rememberBlob } from '../session/base/base-commit.ts';
import { type LinkedRepository, notARepository } from '../session/link-repository.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { layoutOfRepository } from '../session/sealed-remote.ts';
import { userCacheFolder } from '../session/user-remotes.ts';
import { openWorkspaceCollection } from '../session/workspace-collection.ts';
import { type ContentWriter, createContentWriter } from './content-writer.ts';
import { type CommitDraft, type StoredCommit, writeCommit } from './write-commit.ts';

type WrittenRepository = Pick<LinkedRepository, 'blobs' | 'isEmpty' | 'known' | 'layout' | 'uuid' | 'view'>;

/** Its end, by `await using`, closes the index and releases its lock. The caller closes the remote. */
export interface RepositoryWriter extends AsyncDisposable {
  /** The folder of the user's cache that belongs to this repository. */
  readonly folder: string;
  readonly isNew: boolean;
  /** The branches and tags as they were at the start. */
  readonly refs: readonly StoredRef[];
  /** Increases with each collection: what was stored before may be condemned then. */
  round(): number;
  has(hash: BlobHash): boolean;
  /** @throws `internal` if the content is not stored */
  locate(hash: BlobHash, sizeBytes: number): BlobLocation;
  /** A writer for one pass: the caller settles and closes it. @param stop Default: the job's signal. */
  openContent(stop?: AbortSignal): ContentWriter;
  /** Asks the store once for what was sent. @throws `remoteFailed` */
  confirm(): Promise<void>;
  readCommit(hash: CommitHash): Promise<Commit>;
  /** The entries of a commit, in order. */
  readEntries(commit: Commit): AsyncIterable<readonly Entry[]>;
  /**
   * Makes sure that a new ref may name a commit that exists, found in the history of `branch`.
   * @throws `conflict`
   */
  checkWhole(hash: CommitHash, branch: string): Promise<void>;
  writeCommit(draft: Omit<CommitDraft, 'loadSegment' | 'repository'>): Promise<StoredCommit>;
  /** Moves or makes a ref; see `repository/collection/publish.ts`. */
  publish(name: string, prepare: (tip: StoredRef | undefined) => Promise<CommitHash>): Promise<PublishedRef>;
}

const LOCK_PATIENCE_MS = 10_000;

export interface WriterOptions {
  /** Makes a repository where there is none. */
  readonly creates: boolean;
  /** Names this job to commands that wait for it. */
  readonly command: string;
  /** How long to wait for another process that writes to the same repository in this way. Default 10 s. */
  readonly patienceMs?: number;
}

/** @throws `notARepository`, `locked` while another process writes to the same repository in this way */
export async function openRepositoryWriter(
  context: JobContext,
  remote: OpenedRemote,
  { command, creates, patienceMs = LOCK_PATIENCE_MS }: WriterOptions,
): Promise<RepositoryWriter> {
  const { store } = remote;
  const { signal } = context;
  const { descriptor, isNew } = await openDescriptor(context, remote, creates);
  const refs = isNew
    ? []
    : (await Promise.all([listRefs(store, 'heads', { signal }), listRefs(store, 'tags', { signal })])).flat();
  const place = createHash('sha256').update(`${descriptor.id} ${store.address}`).digest('hex');
  const folder = join(userCacheFolder(context), 'written', place.slice(0, 32));
  makeFolder(folder, 0o700);
  const lock = await lockWorkspace({
    path: join(folder, 'lock'),
    what: `What this machine knows of ${store.address}`,
    command,
    clock: systemClock,
    signal,
    patienceMs,
    onWait: (holder) =>
      context.emit({
        type: 'warning',
        warning: 'waitingForLock',
        message: `Waiting: ${describeHolder(holder)} is using it.`,
      }),
  });
  let index: Index | undefined;
  try {
    const opened = openIndex(join(folder, 'index.db'));
    index = opened.index;
    const session = { context, index };
    const known = index.repositories.bind(descriptor.id);
    const uuid = descriptor.id;
    const view = collectsGarbage(descriptor)
      ? openWorkspaceCollection(session, store, { known, uuid })
      : undefined;
    if (!isNew) await view?.refresh();
    const link: WrittenRepository = {
      uuid,
      layout: layoutOfRepository(store, descriptor),
      known,
      view,
      blobs: index.blobsOf(known.id),
      isEmpty: refs.length === 0 && opened.isNew,
    };
    // Objects of a killed run: those that are missing are sent again.
    await findLostUploads({ ...remote, session, link });
    if (opened.isNew) await rememberContent(context, remote, { index, link, refs });
    return createWriter({ context, remote, index, link, refs, folder, isNew }, () => lock.release());
  } catch (error) {
    index?.close();
    lock.release();
    throw error;
  }
}

interface WriterParts {
  readonly context: JobContext;
  readonly remote: OpenedRemote;
  readonly index: Index;
  readonly link: WrittenRepository;
  readonly refs: readonly StoredRef[];
  readonly folder: string;
  readonly isNew: boolean;
}

function createWriter(parts: WriterParts, release: () => void): RepositoryWriter {
  const { context, folder, index, isNew, link, refs, remote } = parts;
  const { store } = remote;
  const { signal } = context;
  const target = { ...remote, view: link.view, signal };
  return {
    folder,
    isNew,
    refs,
    round: () => link.view?.round ?? 0,
    has: (hash) => link.blobs.has(hash),
    locate: (hash, sizeBytes) => {
      if (sizeBytes === 0) return { in: 'nowhere' };
      const location = link.blobs.locate(hash);
      if (location) return location;
      throw new DrayError('internal', `The content ${hash} is not on the store, and nothing was recorded.`);
    },
    openContent: (stop = signal) => createContentWriter({ remote, index, link, signal: stop }),
    confirm: () => confirmUploads({ ...remote, session: { context, index }, link }),
    readCommit: (hash) => readCommit(store, hash, { signal }),
    readEntries: (commit) => readEntries(store, commit, { signal }),
    async checkWhole(hash, branch) {
      const { view } = link;
      if (!view) return;
      const commit = await readCommit(store, hash, { signal });
      await checkWhole(store, { commit, hash }, { branch, view, signal });
    },
    writeCommit: (draft) =>
      writeCommit(target, {
        ...draft,
        repository: link.uuid,
        loadSegment: (segment) => readSegment(store, segment, { signal }),
      }),
    publish: async (name, prepare) =>
      publish({
        store,
        name,
        repository: link.uuid,
        tip: await readRef(store, name, { signal }),
        view: link.view,
        isFirst: refs.length === 0,
        seen: refs.find((ref) => ref.name === name)?.commit,
        clock: systemClock,
        signal,
        prepare,
      }),
    [Symbol.asyncDispose]: async () => {
      index.close();
      release();
    },
  };
}

async function openDescriptor(context: JobContext, { store }: OpenedRemote, creates: boolean) {
  const { emit, signal } = context;
  const found = await readDescriptor(store, { signal });
  if (found) return { descriptor: found, isNew: false };
  const { objects } = await store.list({ prefix: 'refs/', limit: 1 }, { signal });
  if (!creates || objects.length > 0) throw notARepository(store, { isUnmet: objects.length === 0 });
  const making = { layout: DEFAULT_LAYOUT, clock: systemClock, signal };
  const { created, descriptor } = await createDescriptor(store, making);
  if (created) {
    const message = `A new repository was made at ${store.address}.`;
    emit({ type: 'warning', warning: 'repositoryMade', message });
  }
  return { descriptor, isNew: created };
}

/** The content of all branches and tags needs not be sent again, even if this machine's cache is new. */
async function rememberContent(
  { signal }: JobContext,
  { store }: OpenedRemote,
  { index, link, refs }: Pick<WriterParts, 'index' | 'link' | 'refs'>,
): Promise<void> {
  for (const commit of new Set(refs.map((ref) => ref.commit)))
    for await (const entries of readEntries(store, await readCommit(store, commit, { signal }), { signal }))
      index.transaction(() => {
        for (const entry of entries) rememberBlob(link, entry);
      });
}
