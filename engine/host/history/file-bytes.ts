/** Reads a file of a commit in parts, for the window's player. */
import { DrayError } from '../../api/error.ts';
import { MEDIA_BYTES_MAX } from '../../api/host/file-preview.ts';
import { requireKept } from '../../jobs/retention/forgotten.ts';
import { findEntry, readEntryBytes } from '../../jobs/versions/read-entry.ts';
import type { CommitHash, FileEntry } from '../../model/entry.ts';
import { checkSafePath } from '../check-path.ts';
import type { HostState } from '../host-state.ts';
import { type HostHandler, jobContextOf } from '../port/host-call.ts';
import { withCommits } from '../repository-read.ts';

/** The entries that were read last, because looking one up takes a request and a file has many parts. */
const KNOWN = new WeakMap<HostState, Map<string, FileEntry>>();
const KNOWN_MAX = 8;

export const readFileBytes: HostHandler<'history.bytes'> = async (input, call) => {
  const { commit, limit, path, root, start } = input;
  checkSafePath(path);
  const { host, signal } = call;
  return withCommits(jobContextOf(call, root), async ({ fetch, store }) => {
    const known = KNOWN.get(host) ?? new Map<string, FileEntry>();
    KNOWN.set(host, known);
    const key = JSON.stringify([root, commit, path]);
    let entry = known.get(key);
    if (!entry) {
      await requireKept(store, commit as CommitHash, { signal });
      const found = await findEntry(store, await fetch(commit as CommitHash), path, signal);
      if (found?.kind !== 'file')
        throw new DrayError('notFound', `The commit ${commit.slice(0, 12)} has no file at ${path}.`, {
          data: { path, commit },
        });
      entry = found;
      // A larger one may have millions of chunks. The page reads none.
      if (entry.sizeBytes <= MEDIA_BYTES_MAX) known.set(key, entry);
      for (const oldest of known.keys()) if (known.size > KNOWN_MAX) known.delete(oldest);
    }
    const pieces: Uint8Array[] = [];
    const range = { start, end: start + limit, signal };
    for await (const piece of readEntryBytes(store, entry, range)) pieces.push(piece);
    return { base64: Buffer.concat(pieces).toString('base64') };
  });
};
