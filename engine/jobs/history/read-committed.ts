/** `dray cat --from REF PATH`: a file of a commit, or a part of it, without touching the working copy. */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { ReadCommittedRequest } from '../../api/jobs/read-committed.ts';
import type { ReadPlaceSummary } from '../../api/jobs/trees.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { Entry, FileEntry } from '../../model/entry.ts';
import { whileKept } from '../retention/forgotten.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveContent } from '../session/resolve-commit.ts';
import { toWorkspacePath } from '../session/workspace-path.ts';
import { findEntry, readEntryBytes } from '../versions/read-entry.ts';

/** @throws `notFound` when the commit has nothing there, `usage` when it is not a file, `damaged` */
export async function readCommitted(
  context: JobContext,
  { from, lengthBytes = Number.POSITIVE_INFINITY, offsetBytes: start = 0, path }: ReadCommittedRequest,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<ReadPlaceSummary> {
  using session = await openSession(context, 'cat', 'shared');
  const wanted = toWorkspacePath(session, path);
  await using remote = await openSessionRemote(session);
  const { meter, store } = remote;
  const { signal } = context;
  const hash = await resolveContent(session, store, from);
  let bytes = 0;
  const read = async () => {
    const commit = await fetchCommit(session, store, hash);
    const entry = fileOf(await findEntry(store, commit, wanted, signal), { from, path: wanted });
    for await (const piece of readEntryBytes(store, entry, { start, end: start + lengthBytes, signal })) {
      await write(piece);
      bytes += piece.length;
    }
  };
  await whileKept(store, hash, read, { signal });
  return { bytes, requests: meter.totals() };
}

function fileOf(
  entry: Entry | undefined,
  { from, path }: Pick<ReadCommittedRequest, 'from' | 'path'>,
): FileEntry {
  const data = { path };
  const command = `dray ls ${shellWord(from)} -r`;
  if (entry?.kind === 'file') return entry;
  if (entry?.kind === 'link')
    throw new DrayError('usage', `${path} is a symbolic link in that commit, to ${entry.target}.`, { data });
  throw new DrayError('notFound', `The commit has no file ${path}.`, {
    data,
    advice: `"${command}" shows what it has.`,
    command,
  });
}
