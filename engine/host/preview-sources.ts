/** Where the bytes of a preview come from: a file here, or an entry of a commit. */
import { createReadStream, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { basename } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { FilePreview } from '../api/host.ts';
import { findEntry, readEntryStart } from '../jobs/read-entry.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import type { Commit } from '../repository/commit.ts';
import { previewFile } from './file-preview.ts';
import { formatMoment } from './format-moment.ts';

/** Undefined: nothing is there. A link is shown as what it points to, and not followed. */
export async function previewLocalFile(path: string, signal: AbortSignal): Promise<FilePreview | undefined> {
  let stat: Stats;
  try {
    stat = lstatSync(path);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new DrayError('io', `${path} cannot be read: ${message}`, { data: { path }, cause });
  }
  const mtime = stat.mtime.toISOString();
  if (stat.isSymbolicLink()) return linkPreview(readlinkSync(path), mtime);
  const facts = { sizeBytes: stat.isFile() ? stat.size : 0, mtime };
  if (!stat.isFile()) return { as: 'facts', facts };
  return previewFile({
    name: basename(path),
    facts,
    read: async (maxBytes) => {
      const chunks: Buffer[] = [];
      if (stat.size === 0) return new Uint8Array(0);
      for await (const chunk of createReadStream(path, { end: maxBytes - 1, signal })) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  });
}

/** Undefined: the commit has nothing there. */
export async function previewEntry(
  store: ObjectStore,
  commit: Commit,
  path: string,
  signal: AbortSignal,
): Promise<FilePreview | undefined> {
  const entry = await findEntry(store, commit, path, signal);
  switch (entry?.kind) {
    case undefined:
      return undefined;
    case 'link':
      return linkPreview(entry.target);
    case 'folder':
      return { as: 'facts', facts: { sizeBytes: 0 } };
    case 'file': {
      const { blob, mtimeNs, sizeBytes } = entry;
      return previewFile({
        name: basename(path),
        facts: { sizeBytes, mtime: formatMoment(mtimeNs), hash: blob },
        read: (maxBytes) => readEntryStart(store, entry, { maxBytes, signal }),
      });
    }
  }
}

function linkPreview(target: string, mtime?: string): FilePreview {
  const facts = { sizeBytes: Buffer.byteLength(target), ...(mtime === undefined ? {} : { mtime }) };
  return { as: 'text', text: target, isCut: false, facts };
}
