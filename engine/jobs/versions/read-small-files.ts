/** Reads many small files of a repository at once: neighbours in a pack by one request. */
import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { DrayError, toErrorRecord } from '../../api/error.ts';
import { isDamage } from '../../base/read-checked.ts';
import { decompressBlob } from '../../compression/zstd-blob.ts';
import type { FileEntry, PackHash } from '../../model/entry.ts';
import type { FileRead } from '../../remotes/file-calls.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { packKey } from '../../repository/keys.ts';
import { planPackReads, storedBytesOf } from '../../repository/packs/pack-reads.ts';
import { readEntryStart } from './read-entry.ts';

interface ReadSmallOptions extends CallOptions {
  /** The most bytes of content in one answer, unless the first file alone is larger. */
  readonly bytesMax: number;
  readonly modeOf: (entry: FileEntry) => number;
}

interface PackedFile {
  readonly entry: FileEntry;
  readonly offset: number;
  readonly sizeBytes: number;
  readonly storedBytes?: number;
}

const NEVER = new AbortController().signal;
const REQUESTS_AT_ONCE = 8;
/** Reading this many unwanted bytes of a pack costs less than another request. */
const LIMITS = { gapBytesMax: 256 * 1024, rangeBytesMax: 8 * 1024 * 1024 };

/**
 * Each file is checked against its hash. A file that cannot be read is an error in its place.
 * @param files An error stands for what is no file.
 * @returns In this order: at least one, and fewer than asked for if all would be too large.
 */
export async function readSmallFiles(
  store: ObjectStore,
  files: readonly (FileEntry | DrayError)[],
  { bytesMax, modeOf, signal = NEVER }: ReadSmallOptions,
): Promise<readonly FileRead[]> {
  const answered = firstThatFit(files, bytesMax);
  const contents = new Map<FileEntry, Promise<Uint8Array>>();
  const packs = new Map<PackHash, PackedFile[]>();
  const limit = pLimit(REQUESTS_AT_ONCE);
  const readAlone = (entry: FileEntry) => readEntryStart(store, entry, { maxBytes: entry.sizeBytes, signal });
  for (const entry of answered) {
    if (entry instanceof DrayError) continue;
    const { location, sizeBytes } = entry;
    if (location.in === 'pack') {
      const packed = packs.get(location.pack) ?? [];
      packs.set(location.pack, packed);
      packed.push({ ...location, entry, sizeBytes });
    } else contents.set(entry, limit(readAlone, entry));
  }
  for (const [pack, packed] of packs)
    for (const { end, items, start } of planPackReads(packed, LIMITS)) {
      const range = { start, end };
      const reading = limit(() => store.read(packKey(pack), { range, maxBytes: end - start, signal }));
      for (const item of items) {
        const content = reading.then((read) => read && contentIn(read.bytes, start, item));
        // Read alone, it is read a second time if it is damaged, and fails with its own error.
        contents.set(
          item.entry,
          content.then((bytes) => bytes ?? limit(readAlone, item.entry)),
        );
      }
    }
  return Promise.all(answered.map((file) => readOf(file, contents, modeOf)));
}

async function readOf(
  file: FileEntry | DrayError,
  contents: ReadonlyMap<FileEntry, Promise<Uint8Array>>,
  modeOf: ReadSmallOptions['modeOf'],
): Promise<FileRead> {
  try {
    if (file instanceof DrayError) throw file;
    const bytes = await contents.get(file)!;
    return { bytes, mtimeNs: file.mtimeNs, mode: modeOf(file), etag: file.blob };
  } catch (error) {
    if (error instanceof DrayError && (error === file || isDamage(error)))
      return { error: toErrorRecord(error) };
    throw error;
  }
}

/** Undefined: these are not the bytes of the file. */
function contentIn(bytes: Uint8Array, start: number, file: PackedFile): Uint8Array | undefined {
  const at = file.offset - start;
  const stored = bytes.subarray(at, at + storedBytesOf(file));
  const content = file.storedBytes === undefined ? stored : decompressBlob(stored, file.sizeBytes);
  if (!content || createHash('sha256').update(content).digest('hex') !== file.entry.blob) return undefined;
  return content;
}

function firstThatFit(files: readonly (FileEntry | DrayError)[], bytesMax: number) {
  let bytes = 0;
  const end = files.findIndex((file, at) => {
    bytes += file instanceof DrayError ? 0 : file.sizeBytes;
    return at > 0 && bytes > bytesMax;
  });
  return end < 0 ? files : files.slice(0, end);
}
