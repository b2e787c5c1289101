/** `dray ls`: the entries of a commit, one folder or everything below it. */
import { DrayError } from '../../api/error.ts';
import type { EntryEvent } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { ListTreeRequest, ListTreeSummary } from '../../api/jobs/list-tree.ts';
import { trimEnd, trimStart } from '../../api/text/trim-ends.ts';
import { createHeapBound } from '../../base/heap-bound.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { formatModifiedTime } from '../../repository/modified-time.ts';
import { whileKept } from '../retention/forgotten.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import { emitEach } from '../session/emit-each.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { requireBase, resolveContent } from '../session/resolve-commit.ts';

export async function listTree(context: JobContext, request: ListTreeRequest): Promise<ListTreeSummary> {
  using session = await openSession(context, 'ls', 'shared');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const hash =
    request.ref === undefined ? requireBase(session) : await resolveContent(session, store, request.ref);
  return await whileKept(store, hash, () => listEntries(session, store, hash, request), {
    signal: context.signal,
  });
}

async function listEntries(
  session: Session,
  store: ObjectStore,
  hash: CommitHash,
  request: ListTreeRequest,
): Promise<ListTreeSummary> {
  const { context } = session;
  const commit = await fetchCommit(session, store, hash);
  const wanted = folderOf(request.path ?? '');
  let entries = 0;
  let bytes = 0;
  let folder = '';
  let folderBytes = 0;
  const endFolder = () => {
    if (folder !== '') context.emit({ type: 'entry', path: folder, kind: 'folder', sizeBytes: folderBytes });
    folder = '';
    folderBytes = 0;
  };
  const heap = createHeapBound();
  for await (const page of readEntries(store, commit, { prefix: wanted, signal: context.signal })) {
    heap.check();
    await emitEach(context, page, (entry) => {
      if (!isInside(entry.path, wanted)) return;
      const sizeBytes = entry.kind === 'file' ? entry.sizeBytes : 0;
      bytes += sizeBytes;
      const below = request.recursive ? '' : folderBelow(entry.path, wanted);
      if (below === '' || below === entry.path) {
        endFolder();
        entries += 1;
        context.emit(toEvent(entry));
        return;
      }
      if (below !== folder) {
        endFolder();
        entries += 1;
        folder = below;
      }
      folderBytes += sizeBytes;
    });
  }
  endFolder();
  if (entries === 0 && wanted !== '') {
    throw new DrayError('notFound', `The commit ${hash.slice(0, 12)} has nothing at ${wanted}.`, {
      data: { path: wanted, commit: hash },
    });
  }
  return { commit: hash, entries, bytes };
}

/** `.` and `/` are the root. */
function folderOf(path: string): string {
  const below = path === '.' || path.startsWith('./') ? path.slice(1) : path;
  return trimEnd(trimStart(below, '/'), '/');
}

function isInside(path: string, wanted: string): boolean {
  return wanted === '' || path === wanted || path.startsWith(`${wanted}/`);
}

/**
 * The folder directly below `wanted` that contains the path, with its slash; '' when the path lies in
 * `wanted` itself.
 */
function folderBelow(path: string, wanted: string): string {
  const start = wanted === '' ? 0 : wanted.length + 1;
  const slash = path.indexOf('/', start);
  return slash < 0 ? '' : path.slice(0, slash + 1);
}

function toEvent(entry: Entry): EntryEvent {
  const { path, kind } = entry;
  switch (kind) {
    case 'folder':
      return { type: 'entry', path, kind, sizeBytes: 0 };
    case 'link':
      return { type: 'entry', path, kind, sizeBytes: 0, target: entry.target };
    case 'file':
      return {
        type: 'entry',
        path,
        kind,
        sizeBytes: entry.sizeBytes,
        mtime: formatModifiedTime(entry.mtimeNs),
        executable: entry.executable,
        blob: entry.blob,
      };
  }
}
