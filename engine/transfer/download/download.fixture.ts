/**
 * Shared by the tests of downloads and comparisons: objects with every kind of sum, a sink in memory, and
 * faulty stores.
 */

import { createHash } from 'node:crypto';
import { isMarkedAsUntransferable } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { Budget } from '../../base/budget.ts';
import { systemClock } from '../../base/clock.ts';
import { createLeasedMemory, type LeasedMemory } from '../../base/leased-memory.ts';
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';
import { createMemoryStore, type MemoryStoreOptions } from '../../remotes/memory/memory-store.fixture.ts';
import type { ByteRange, ObjectInfo, ObjectStore, PutOptions } from '../../remotes/object-store.ts';
import type { SumKind } from '../compare/object-sums.ts';
import { createAdaptiveLimit } from '../limit/adaptive-limit.ts';
import type { RangeSink } from './download-ranges.ts';
import type { NotedRange } from './range-journal.ts';

export const KEY = 'folder/object.bin';
export const never = new AbortController().signal;
const MEMORY_BYTES = 1024 * 1024;

export const SUM_KINDS: readonly SumKind[] = ['crc64nvme', 'crc32', 'sha256', 'md5', 'md5OfParts'];

export interface StoredExample {
  readonly store: ObjectStore;
  /** From a HEAD with checksums. */
  readonly info: ObjectInfo;
}

/** An object whose best sum is of this kind; `none`: only its size is known. */
export async function storedWith(
  kind: SumKind | 'none',
  bytes: Uint8Array,
  options: { readonly partBytes?: number } = {},
): Promise<StoredExample> {
  const keeps: MemoryStoreOptions = {
    keepsChecksums: !kind.startsWith('md5') && kind !== 'none',
    etags: kind === 'none' ? 'counted' : 'md5',
  };
  const store = createMemoryStore(keeps);
  if (kind === 'md5OfParts') await putInParts(store, cutEvenly(bytes, options.partBytes ?? 1_000));
  else await store.put(KEY, bytes, checksumOf(kind, bytes));
  return { store, info: await headOf(store) };
}

function checksumOf(kind: SumKind | 'none', bytes: Uint8Array): PutOptions {
  if (kind === 'crc64nvme') return { checksum: { crc64nvme: crc64Nvme(bytes) } };
  if (kind === 'crc32') return { checksum: { crc32: crc32(bytes) } };
  if (kind !== 'sha256') return {};
  return { checksum: { sha256: createHash('sha256').update(bytes).digest('hex') } };
}

export async function putInParts(store: ObjectStore, pieces: readonly Uint8Array[]): Promise<void> {
  const multipart = store.multipart!;
  const upload = { key: KEY, uploadId: await multipart.create(KEY) };
  const parts = [];
  for (const [at, piece] of pieces.entries()) parts.push(await multipart.uploadPart(upload, at + 1, piece));
  await multipart.complete(upload, parts);
}

export function cutEvenly(bytes: Uint8Array, pieceBytes: number): readonly Uint8Array[] {
  const pieces = [];
  for (let start = 0; start < bytes.length || pieces.length === 0; start += pieceBytes)
    pieces.push(bytes.subarray(start, start + pieceBytes));
  return pieces;
}

export async function headOf(store: ObjectStore): Promise<ObjectInfo> {
  return (await store.head(KEY, { checksums: true }))!;
}

/** The store with changed answers to reads. */
export function readingOtherwise(
  store: ObjectStore,
  change: (bytes: Uint8Array, start: number) => Uint8Array,
): ObjectStore {
  return {
    ...store,
    read: async (key, request) => {
      const answer = await store.read(key, request);
      return answer && { ...answer, bytes: change(answer.bytes, request.range?.start ?? 0) };
    },
  };
}

export function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 1;
  return copy;
}

export interface MemorySink extends RangeSink {
  readonly bytes: Uint8Array;
  /** The ranges written, in order. */
  readonly writes: number[];
}

export function memorySink(sizeBytes: number): MemorySink {
  const bytes = new Uint8Array(sizeBytes);
  const writes: number[] = [];
  return {
    bytes,
    writes,
    write: async (offset, piece) => {
      writes.push(offset);
      bytes.set(piece, offset);
    },
    read: async (offset, into) => {
      into.set(bytes.subarray(offset, offset + into.length));
      return into;
    },
  };
}

/** Moves bytes to another thread, as the threads that write files do. */
export function movingSink(sink: MemorySink): MemorySink {
  return {
    ...sink,
    write(offset, piece) {
      const written = sink.write(offset, piece.slice());
      const { buffer } = piece;
      const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength;
      if (isWhole && !isMarkedAsUntransferable(buffer)) structuredClone(buffer, { transfer: [buffer] });
      return written;
    },
  };
}

export interface BudgetedMemory {
  readonly memory: LeasedMemory;
  /** The memory in use. */
  readonly budget: Budget;
}

export function memoryOf(limitBytes = MEMORY_BYTES): BudgetedMemory {
  const budget = new Budget(limitBytes);
  const open = (lengthBytes: number) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 });
  return { budget, memory: createLeasedMemory({ budget, largestBytes: 16 * MEMORY_BYTES, open }) };
}

export function limitOf(requests = 4) {
  return createAdaptiveLimit({ clock: systemClock, fixed: requests });
}

/** The journal of an interrupted run; `notes` collects new entries. */
export function journalOf(noted: readonly NotedRange[] = []) {
  const notes: NotedRange[] = [];
  return {
    notes,
    noted: new Map(noted.map((range) => [range.start, range])),
    note: async (range: ByteRange, crc64nvme: bigint) => void notes.push({ ...range, crc64nvme }),
  };
}
