/** Previews a local file, or an entry of a commit. */
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { basename } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { FilePreview } from '../../api/host/file-preview.ts';
import { OPEN_TO_READ } from '../../base/open-to-read.ts';
import { findEntry, readEntryBytes, readEntryStart } from '../../jobs/versions/read-entry.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { formatMoment } from '../format-moment.ts';
import { previewFile } from './file-preview.ts';

export interface LocalPreviewOptions {
  /** Larger files are shown without their hash. Default: 0. */
  readonly hashedUpTo?: number;
  readonly signal: AbortSignal;
}

/** Undefined if the path does not exist. A link is not followed: its preview is its target. */
export async function previewLocalFile(
  path: string,
  { hashedUpTo = 0, signal }: LocalPreviewOptions,
): Promise<FilePreview | undefined> {
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
  if (!stat.isFile()) return { as: 'facts', facts: { sizeBytes: 0, mtime } };
  const hash = stat.size <= hashedUpTo ? await hashFile(path, signal) : undefined;
  const facts = { sizeBytes: stat.size, mtime, ...(hash === undefined ? {} : { hash }) };
  return previewFile({
    name: basename(path),
    facts,
    read: (maxBytes) => readLocal(path, { start: 0, end: Math.min(maxBytes, stat.size), signal }),
    readRange: (start, end) => readLocal(path, { start, end, signal }),
    signal,
    source: { place: path },
  });
}

export interface EntryAt {
  readonly root: string;
  readonly hash: CommitHash;
  readonly commit: Commit;
  readonly path: string;
}

/** Undefined if the commit has no entry at the path. */
export async function previewEntry(
  store: ObjectStore,
  { commit, hash, path, root }: EntryAt,
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
        readRange: async (start, end) => {
          const pieces: Uint8Array[] = [];
          for await (const piece of readEntryBytes(store, entry, { start, end, signal })) pieces.push(piece);
          return Buffer.concat(pieces);
        },
        signal,
        source: { root, commit: hash, path },
      });
    }
  }
}

/** Follows no link. */
export async function readLocal(
  path: string,
  { end, signal, start }: { readonly start: number; readonly end: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  if (end <= start) return new Uint8Array(0);
  const stream = createReadStream(path, { start, end: end - 1, signal, flags: OPEN_TO_READ as never });
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  return hash.digest('hex');
}

export function linkPreview(target: string, mtime?: string): FilePreview {
  const facts = { sizeBytes: Buffer.byteLength(target), ...(mtime === undefined ? {} : { mtime }) };
  return { as: 'text', text: target, isCut: false, facts };
}
