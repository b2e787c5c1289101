/** Shared by the tests of uploads: a source in memory, a readable journal, and faulty stores. */
import { Budget } from '../../base/budget.ts';
import { systemClock } from '../../base/clock.ts';
import { createLeasedMemory } from '../../base/leased-memory.ts';
import { createMemoryStore, type MemoryStoreOptions } from '../../remotes/memory/memory-store.fixture.ts';
import type { MultipartStore, ObjectStore } from '../../remotes/object-store.ts';
import { createFaults, type Faults, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import { createAdaptiveLimit } from '../limit/adaptive-limit.ts';
import type { ObjectSource } from './object-source.ts';
import type { PartsUpload } from './parts-upload.ts';
import type { JournaledUpload, UploadJournal } from './upload-journal.ts';

export const PART_BYTES = 1_000;
export const KEY = 'folder/large.bin';
const MEMORY_BYTES = 1024 * 1024;

export function createJournal(): UploadJournal & { readonly rows: Map<string, JournaledUpload> } {
  const rows = new Map<string, JournaledUpload>();
  return {
    rows,
    load: (key) => rows.get(key),
    save: (key, upload) => rows.set(key, upload),
    forget: (key) => rows.delete(key),
  };
}

export interface BytesSource extends ObjectSource {
  /** The ranges read, in order. */
  readonly reads: number[];
}

/** Like a local file: cheap to read again. */
export function bytesSource(bytes: Uint8Array, token = 'first'): BytesSource {
  const reads: number[] = [];
  return {
    name: 'large.bin',
    sizeBytes: bytes.byteLength,
    token,
    reads,
    read: async (start, into) => {
      reads.push(start);
      into.set(bytes.subarray(start, start + into.byteLength));
      return into;
    },
    checkUnchanged: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

export function uploadOf(
  store: ObjectStore,
  source: ObjectSource,
  more: Partial<PartsUpload> = {},
): PartsUpload {
  return {
    store,
    source,
    key: KEY,
    checksum: 'crc64nvme',
    partSizeBytes: PART_BYTES,
    limit: createAdaptiveLimit({ clock: systemClock, fixed: 4 }),
    memory: createLeasedMemory({
      budget: new Budget(MEMORY_BYTES),
      largestBytes: MEMORY_BYTES,
      open: (lengthBytes) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 }),
    }),
    journal: createJournal(),
    ...more,
  };
}

export async function storedBytes(store: ObjectStore, key = KEY): Promise<Uint8Array | undefined> {
  const read = await store.read(key, { maxBytes: 10_000_000 });
  return read && new Uint8Array(read.bytes);
}

/** A store like AWS without encryption, with injectable faults. */
export function faultyStore(options: MemoryStoreOptions = {}): {
  readonly inner: ObjectStore;
  readonly store: ObjectStore;
  readonly faults: Faults;
} {
  const inner = createMemoryStore({ etags: 'md5', ...options });
  const faults = createFaults();
  return { inner, faults, store: withFaults(inner, faults) };
}

/** The same store with a few of its multipart calls replaced. */
export function withMultipart(
  store: ObjectStore,
  change: (multipart: MultipartStore) => Partial<MultipartStore>,
): ObjectStore {
  const multipart = store.multipart!;
  return { ...store, multipart: { ...multipart, ...change(multipart) } };
}
