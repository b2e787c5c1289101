/**
 * A version as a store that can only be read, so that `copy`, `check`, `ls`, `du` and `cat` work on a commit
 * as on any place. It is like a peer's folder: files have times and modes, and many small ones are read at
 * once.
 */
import { Buffer } from 'node:buffer';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import type { Entry, FileEntry } from '../../model/entry.ts';
import { formatObjectTime, MTIME_METADATA } from '../../model/object-time.ts';
import { checkReadSize, resolveRange } from '../../remotes/byte-range.ts';
import { sourceChanged } from '../../remotes/copy-source.ts';
import { type FileCalls, MODE_METADATA, type ServedEntry } from '../../remotes/file-calls.ts';
import { decodeContinuation, encodeContinuation } from '../../remotes/list-continuation.ts';
import type {
  ByteRange,
  GetOptions,
  ObjectInfo,
  ObjectRead,
  ObjectStore,
  ReadOptions,
  RemoteKey,
} from '../../remotes/object-store.ts';
import { readSmallFiles } from './read-small-files.ts';
import type { FileRange, Version } from './version.ts';

export interface VersionStoreOptions {
  /** The repository's store, which is closed with this one. */
  readonly repository: ObjectStore;
  readonly version: Version;
  /** Only what is below: '' or ending in `/`. */
  readonly prefix: string;
  readonly address: string;
}

/** As `FileCalls.read` of a peer. */
const FILES_MAX = 1_000;
const BYTES_MAX = 16 * 1024 * 1024;
const PAGE_ENTRIES = 1_000;
/** A commit says only whether a file is executable. The mask of the process takes away the rest. */
const MODES = { file: 0o666, executable: 0o777 };

/** @throws (its calls that write) `usage` */
export function createVersionStore(options: VersionStoreOptions): ObjectStore {
  const { address, prefix, repository, version } = options;
  const refuse = async (): Promise<never> => {
    throw versionIsFixed(address);
  };
  const findFile = async (key: RemoteKey, call: GetOptions = {}): Promise<FileEntry | undefined> => {
    const entry = await version.find(prefix + key, call);
    if (entry?.kind !== 'file') return undefined;
    if (call.ifMatch !== undefined && call.ifMatch !== entry.blob) throw sourceChanged(key);
    return entry;
  };
  return {
    address,
    provider: repository.provider,
    confirmsWrites: true,
    async head(key, call) {
      const entry = await findFile(key, call);
      return entry && infoOf(key, entry);
    },
    async get(key, call = {}) {
      const entry = await findFile(key, call);
      return entry && openBody(version, key, entry, call);
    },
    async read(key, call) {
      const entry = await findFile(key, call);
      if (!entry) return undefined;
      const range = resolveRange(key, entry.sizeBytes, call.range);
      checkReadSize(key, range.end - range.start, call.maxBytes);
      const bytes = await readRange(version, entry, range, call);
      return { bytes, etag: entry.blob, info: infoOf(key, entry) };
    },
    async list({ continuation, delimiter, limit, prefix: below, startAfter }, call) {
      const page = await version.list(
        {
          prefix: prefix + below,
          ...(delimiter && { delimiter }),
          ...(limit !== undefined && { limit }),
          ...(startAfter !== undefined && { startAfter: prefix + startAfter }),
          ...(continuation !== undefined && {
            continuesAfter: prefix + decodeContinuation(continuation).last,
          }),
        },
        call,
      );
      const files = page.entries.filter((entry) => entry.kind === 'file');
      return {
        objects: files.map((entry) => ({
          key: entry.path.slice(prefix.length),
          sizeBytes: entry.sizeBytes,
          etag: entry.blob,
          modifiedMs: msOf(entry),
          isFile: true as const,
        })),
        folders: page.folders.map((folder) => folder.slice(prefix.length)),
        ...(page.next !== undefined && { continuation: encodeContinuation(page.next.slice(prefix.length)) }),
      };
    },
    put: refuse,
    putStream: refuse,
    delete: refuse,
    copy: refuse,
    files: createFileCalls(options, refuse),
    close: () => repository.close(),
  };
}

function infoOf(key: RemoteKey, entry: FileEntry): ObjectInfo {
  const { blob, location, mtimeNs, sizeBytes } = entry;
  const sha256 = Buffer.from(blob, 'hex').toString('base64');
  return {
    key,
    sizeBytes,
    etag: blob,
    modifiedMs: msOf(entry),
    metadata: { [MTIME_METADATA]: formatObjectTime(mtimeNs), [MODE_METADATA]: modeOf(entry).toString(8) },
    // The name of a file in chunks is not the hash of its bytes.
    ...(location.in !== 'chunks' && { checksums: { covers: 'whole', sha256 } }),
  };
}

function msOf({ mtimeNs }: FileEntry): number {
  return Number(mtimeNs / 1_000n) / 1_000;
}

function modeOf({ executable }: FileEntry): number {
  return (executable ? MODES.executable : MODES.file) & ~process.umask();
}

function openBody(version: Version, key: RemoteKey, entry: FileEntry, call: GetOptions): ObjectRead {
  const range = resolveRange(key, entry.sizeBytes, call.range);
  const ending = new AbortController();
  const signal = call.signal ? AbortSignal.any([call.signal, ending.signal]) : ending.signal;
  const body = readBody(version, entry, range, signal);
  return {
    sizeBytes: range.end - range.start,
    etag: entry.blob,
    body: Object.assign(body, { destroy: () => ending.abort() }),
    info: infoOf(key, entry),
  };
}

async function readRange(
  version: Version,
  entry: FileEntry,
  range: ByteRange,
  { into, signal }: ReadOptions,
): Promise<Uint8Array> {
  const sizeBytes = range.end - range.start;
  const bytes =
    into && into.byteLength >= sizeBytes ? into.subarray(0, sizeBytes) : new Uint8Array(sizeBytes);
  let filled = 0;
  for await (const piece of version.read(entry, range, signal && { signal })) {
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return bytes;
}

async function* readBody(version: Version, entry: FileEntry, range: FileRange, signal: AbortSignal) {
  for await (const piece of version.read(entry, range, { signal })) {
    checkAborted(signal);
    yield piece;
  }
}

function createFileCalls(
  { address, prefix, repository, version }: VersionStoreOptions,
  refuse: () => Promise<never>,
): FileCalls {
  return {
    machine: `${address} ${version.hash}`,
    pathOf: (key) => prefix + key,
    isReadOnly: async () => true,
    filesMax: FILES_MAX,
    bytesMax: BYTES_MAX,
    async *entries({ after, signal }) {
      const call = signal ? { signal } : {};
      for (let from = after === undefined ? {} : { startAfter: prefix + after }; ; ) {
        const page = await version.list({ prefix, limit: PAGE_ENTRIES, ...from }, call);
        const below = page.entries.filter(({ path }) => path !== prefix);
        if (below.length > 0) yield below.map((entry) => servedEntry(entry, prefix));
        if (page.next === undefined) return;
        from = { startAfter: page.next };
      }
    },
    async findSpecial(key, { signal }) {
      const entry = await version.find(prefix + key, signal ? { signal } : {});
      return entry && entry.kind !== 'file' ? servedEntry(entry, prefix) : undefined;
    },
    async read(keys, { signal }) {
      const call = signal ? { signal } : {};
      const found = await Promise.all(keys.map((key) => version.find(prefix + key, call)));
      const files = found.map((entry, at) => (entry?.kind === 'file' ? entry : noFile(keys[at]!)));
      return readSmallFiles(repository, files, { bytesMax: BYTES_MAX, modeOf, ...call });
    },
    write: refuse,
    keep: refuse,
    touch: refuse,
    sync: async () => {},
    folders: {
      isRootTheirs: true,
      async read(keys, { signal }) {
        const isThere = async (key: string) => {
          if (prefix + key === '') return true;
          const { entries } = await version.list(
            { prefix: prefix + key, limit: 1 },
            signal ? { signal } : {},
          );
          return entries.length > 0;
        };
        const found = await Promise.all(keys.map(isThere));
        return found.map((isFolder) => (isFolder ? { mtimeNs: 0n, mode: MODES.executable } : undefined));
      },
      set: refuse,
    },
    deltas: {
      async source() {
        throw new DrayError('unsupported', `${address} is a version, which is sent whole.`);
      },
      target: refuse,
    },
  };
}

function noFile(key: string): DrayError {
  return new DrayError('notFound', `The version has no file ${key}.`, { data: { key } });
}

function servedEntry(entry: Entry, prefix: string): ServedEntry {
  const key = entry.path.slice(prefix.length);
  const common = { key, sizeBytes: 0, modifiedMs: 0, etag: '' };
  switch (entry.kind) {
    case 'file':
      return {
        ...common,
        sizeBytes: entry.sizeBytes,
        modifiedMs: msOf(entry),
        etag: entry.blob,
        mode: modeOf(entry),
      };
    case 'link':
      return { ...common, mode: MODES.executable, special: { kind: 'link', target: entry.target } };
    case 'folder':
      return { ...common, mode: MODES.executable & ~process.umask(), special: { kind: 'folder' } };
  }
}

export function versionIsFixed(address: string): DrayError {
  return new DrayError('usage', `${address} is a version of a repository, which never changes.`, {
    advice: 'Clone the repository, change the files there, and push.',
  });
}
