/**
 * Converts an entry of a manifest to one line of JSON and back.
 *
 *     file     {"path":"a.csv","size":12,"mtime":"1700000000.000000000","exec":true,"blob":"<hex>", where}
 *              where: "pack":[index into the segment's packs, offset], or "chunks":[["<hex>",size],...],
 *              or nothing: an object of its own, or nowhere for a file of no bytes.
 *              "generation":g for an object of its own with a key of a later generation
 *     link     {"path":"b","link":"target"}
 *     folder   {"path":"c/"}, an empty folder: its path ends in a slash
 *
 * A compressed blob has `"encoding":"zstd"` and says its stored size: `"stored":n`, `"pack":[index,offset,n]`
 * or `["<hex>",size,n]`. A chunk of a later generation is `["<hex>",size,stored,generation]`. `exec` is
 * written only when true. Readers refuse another encoding and ignore other unknown fields.
 */

import assert from 'node:assert/strict';
import { DrayError, quotedExcerpt } from '../../api/error.ts';
import { COMPRESSED_CONTENT_BYTES_MAX } from '../../compression/zstd-blob.ts';
import {
  type BlobHash,
  type BlobLocation,
  type Chunk,
  EMPTY_BLOB,
  type Entry,
  type FileEntry,
  type PackHash,
  type StoredBlob,
} from '../../model/entry.ts';
import { checkEntryPath } from '../../model/safe-path.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { damaged, isJsonObject, type JsonObject, tooNew } from '../document.ts';
import { isHash } from '../keys.ts';
import { formatModifiedTime, parseModifiedTime } from '../modified-time.ts';
import { hashOfChunks } from '../packs/chunked-blob.ts';
import { BLOB_MAX_BYTES, PACK_MAX_BYTES } from '../packs/pack-format.ts';

/** The longest link target, in UTF-16 units. Linux allows 4,095 bytes, Windows 32,767 units. */
const LINK_TARGET_MAX = 32_767;

/**
 * @param packIndex Returns a pack's index in the segment's list.
 * @throws `unsafePath` for a path or a target that readers refuse.
 */
export function entryToText(entry: Entry, packIndex: (pack: PackHash) => number): string {
  const unsafe =
    checkPath(entry.path, entry.kind) ?? (entry.kind === 'link' ? checkTarget(entry.target) : undefined);
  if (unsafe !== undefined) {
    const message = `${quotedExcerpt(entry.path)} cannot be stored: ${unsafe}.`;
    throw new DrayError('unsafePath', message, { data: { path: entry.path } });
  }
  const start = `{"path":${JSON.stringify(entry.path)}`;
  if (entry.kind === 'folder') return `${start}}`;
  if (entry.kind === 'link') return `${start},"link":${JSON.stringify(entry.target)}}`;
  // Never commit what a reader would refuse.
  const wrong = checkFile(entry);
  assert(wrong === undefined, `${entry.path}: ${wrong}`);
  const executable = entry.executable ? ',"exec":true' : '';
  const mtime = formatModifiedTime(entry.mtimeNs);
  return `${start},"size":${entry.sizeBytes},"mtime":"${mtime}"${executable},"blob":"${entry.blob}"${locationToText(entry.location, packIndex)}}`;
}

/** The only transformation of stored bytes. */
const ENCODING = 'zstd';

/** @param key The object with the entry, for errors. @throws `damaged`, `formatTooNew`. */
export function parseEntry(key: RemoteKey, value: unknown, packs: readonly PackHash[]): Entry {
  if (!isJsonObject(value)) throw damaged(key, 'an entry is not a JSON object');
  const { path } = value;
  if (typeof path !== 'string') throw damaged(key, 'an entry has no path');
  const unsafe = checkPath(path, path.endsWith('/') ? 'folder' : 'file');
  if (unsafe !== undefined) throw damagedEntry(key, path, unsafe);
  if (value.encoding !== undefined && value.encoding !== ENCODING) {
    throw tooNew(key, `contains ${quotedExcerpt(path)} in the encoding ${quotedExcerpt(value.encoding)}`, {
      path,
    });
  }
  if (path.endsWith('/')) {
    if (value.link !== undefined || value.size !== undefined)
      throw damagedEntry(key, path, 'a folder has content');
    return { kind: 'folder', path };
  }
  if (value.link === undefined) return parseFile(key, path, value, packs);
  const target = value.link;
  if (typeof target !== 'string') throw damagedEntry(key, path, 'the link is not text');
  const wrong = value.size === undefined ? checkTarget(target) : 'a link has a size';
  if (wrong !== undefined) throw damagedEntry(key, path, wrong);
  return { kind: 'link', path, target };
}

function parseFile(key: RemoteKey, path: string, value: JsonObject, packs: readonly PackHash[]): FileEntry {
  const { size, exec, blob } = value;
  if (!isSize(size)) throw damagedEntry(key, path, 'the size is not a whole number of bytes');
  const mtimeNs = parseModifiedTime(value.mtime);
  if (mtimeNs === undefined) throw damagedEntry(key, path, 'the modification time is invalid');
  if (exec !== undefined && typeof exec !== 'boolean')
    throw damagedEntry(key, path, '"exec" is not true or false');
  if (!isHash(blob)) throw damagedEntry(key, path, 'the blob is not a hash');
  const location = parseLocation(value, size, packs);
  if (typeof location === 'string') throw damagedEntry(key, path, location);
  if (value.encoding === undefined && isCompressed(location))
    throw damagedEntry(key, path, 'a stored size has no encoding');
  const entry: FileEntry = {
    kind: 'file',
    path,
    sizeBytes: size,
    mtimeNs,
    executable: exec === true,
    blob: blob as BlobHash,
    location,
  };
  const wrong = checkFile(entry);
  if (wrong !== undefined) throw damagedEntry(key, path, wrong);
  return entry;
}

/** The location, or what is wrong with its form. */
function parseLocation(value: JsonObject, size: number, packs: readonly PackHash[]): BlobLocation | string {
  const { pack, chunks } = value;
  if (chunks !== undefined) {
    return pack === undefined ? parseChunks(chunks) : 'the file is both in a pack and in chunks';
  }
  if (pack === undefined) {
    if (size === 0) return { in: 'nowhere' };
    const stored = parseStored(value.stored ?? size, value.generation ?? 0, size);
    return stored ? { in: 'object', ...stored } : '"stored" or "generation" is not a possible number';
  }
  if (!Array.isArray(pack) || pack.length < 2 || pack.length > 3)
    return '"pack" is not an index and an offset';
  const [index, offset, storedSize = size] = pack as unknown[];
  const hash = isSize(index) ? packs[index] : undefined;
  if (hash === undefined) return 'the pack is not in the list of packs';
  if (!isSize(offset)) return 'the offset is not a whole number of bytes';
  const stored = parseStored(storedSize, 0, size);
  return stored ? { in: 'pack', pack: hash, offset, ...stored } : 'the stored size is not a possible number';
}

/** Undefined if the numbers are impossible: compressed content is smaller than the content. */
function parseStored(stored: unknown, generation: unknown, sizeBytes: number): StoredBlob | undefined {
  if (!isSize(stored) || stored === 0 || stored > sizeBytes || !isSize(generation)) return undefined;
  return {
    ...(stored === sizeBytes ? {} : { storedBytes: stored }),
    ...(generation === 0 ? {} : { generation }),
  };
}

function parseChunks(value: unknown): BlobLocation | string {
  if (!Array.isArray(value)) return '"chunks" is not a list';
  const chunks: Chunk[] = [];
  for (const item of value as unknown[]) {
    if (!Array.isArray(item) || item.length < 2 || item.length > 4) return 'a chunk is not a hash and a size';
    const [hash, sizeBytes, storedSize = sizeBytes, generation = 0] = item as unknown[];
    if (!isHash(hash)) return 'a chunk has no hash';
    if (!isSize(sizeBytes)) return 'a chunk has no size';
    const stored = parseStored(storedSize, generation, sizeBytes);
    if (!stored) return 'a chunk has an impossible stored size or generation';
    chunks.push({ hash: hash as BlobHash, sizeBytes, ...stored });
  }
  return { in: 'chunks', chunks };
}

/** Why a file's size, blob and location do not fit each other. Writers and readers apply the same rules. */
function checkFile({ sizeBytes, blob, location }: FileEntry): string | undefined {
  if (!isSize(sizeBytes)) return 'the size is not a whole number of bytes';
  if ((sizeBytes === 0) !== (location.in === 'nowhere')) {
    return sizeBytes === 0 ? 'an empty file has a location' : 'a file with content is stored nowhere';
  }
  switch (location.in) {
    case 'nowhere':
      return blob === EMPTY_BLOB ? undefined : 'an empty file has the hash of another';
    case 'object':
      return checkStored(location, sizeBytes);
    case 'pack': {
      const { offset, storedBytes = sizeBytes } = location;
      if (offset + storedBytes > PACK_MAX_BYTES || sizeBytes > BLOB_MAX_BYTES)
        return 'the file lies outside the pack';
      return checkStored(location, sizeBytes);
    }
    case 'chunks': {
      const isPossible = ({ sizeBytes: bytes }: Chunk) => bytes > 0 && bytes <= BLOB_MAX_BYTES;
      if (!location.chunks.every(isPossible)) return 'a chunk has an impossible size';
      for (const chunk of location.chunks) {
        const wrong = checkStored(chunk, chunk.sizeBytes);
        if (wrong !== undefined) return wrong;
      }
      const sum = location.chunks.reduce((total, chunk) => total + chunk.sizeBytes, 0);
      if (sum !== sizeBytes) return 'the chunks do not add up to the file';
      return hashOfChunks(location.chunks) === blob ? undefined : 'the blob is not the hash of its chunks';
    }
  }
}

function checkStored({ storedBytes, generation }: StoredBlob, sizeBytes: number): string | undefined {
  const isSmaller = storedBytes === undefined || (storedBytes > 0 && storedBytes < sizeBytes);
  if (!isSmaller) return 'the stored size is not smaller than the content';
  if (storedBytes !== undefined && sizeBytes > COMPRESSED_CONTENT_BYTES_MAX)
    return 'the compressed content is too large';
  return generation === 0 ? 'the first generation is written out' : undefined;
}

function locationToText(location: BlobLocation, packIndex: (pack: PackHash) => number): string {
  switch (location.in) {
    case 'nowhere':
      return '';
    case 'object': {
      const { generation, storedBytes } = location;
      const stored = storedBytes === undefined ? '' : `,"encoding":"${ENCODING}","stored":${storedBytes}`;
      return generation === undefined ? stored : `${stored},"generation":${generation}`;
    }
    case 'pack': {
      const { offset, pack, storedBytes } = location;
      if (storedBytes === undefined) return `,"pack":[${packIndex(pack)},${offset}]`;
      return `,"encoding":"${ENCODING}","pack":[${packIndex(pack)},${offset},${storedBytes}]`;
    }
    case 'chunks': {
      const encoding = isCompressed(location) ? `,"encoding":"${ENCODING}"` : '';
      return `${encoding},"chunks":[${location.chunks.map(chunkToText).join(',')}]`;
    }
  }
}

function isCompressed(location: BlobLocation): boolean {
  if (location.in === 'chunks') return location.chunks.some(({ storedBytes }) => storedBytes !== undefined);
  return location.in !== 'nowhere' && location.storedBytes !== undefined;
}

function chunkToText({ generation, hash, sizeBytes, storedBytes }: Chunk): string {
  if (generation !== undefined) return `["${hash}",${sizeBytes},${storedBytes ?? sizeBytes},${generation}]`;
  return storedBytes === undefined ? `["${hash}",${sizeBytes}]` : `["${hash}",${sizeBytes},${storedBytes}]`;
}

/** Whether the entry names a key of a later generation, which format 1 without features does not have. */
export function hasGeneration(entry: Entry): boolean {
  if (entry.kind !== 'file') return false;
  const { location } = entry;
  if (location.in === 'object') return location.generation !== undefined;
  return location.in === 'chunks' && location.chunks.some(({ generation }) => generation !== undefined);
}

/** A commit reads the same on every system: a writer on Windows refuses what it cannot write. */
function checkPath(path: string, kind: Entry['kind']): string | undefined {
  const unsafe = checkEntryPath(path, { kind, platform: 'linux' });
  return unsafe && `the path ${unsafe}`;
}

function checkTarget(target: string): string | undefined {
  if (target.length === 0 || target.length > LINK_TARGET_MAX) return 'the link target is empty or too long';
  if (target.includes('\0')) return 'the link target contains NUL';
  return target.isWellFormed() ? undefined : 'the link target is not valid Unicode';
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function damagedEntry(key: RemoteKey, path: string, why: string): DrayError {
  return damaged(key, `the entry ${quotedExcerpt(path)} is invalid: ${why}`);
}
