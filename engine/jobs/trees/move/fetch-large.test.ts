import { createHash, randomFillSync } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../../api/error.ts';
import { Budget } from '../../../base/budget.ts';
import { systemClock } from '../../../base/clock.ts';
import { createLeasedMemory } from '../../../base/leased-memory.ts';
import { longIt } from '../../../base/long-it.fixture.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import { openTreeWriter } from '../../../files/write/tree-writer.ts';
import { createMemoryStore } from '../../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore, ReadOptions } from '../../../remotes/object-store.ts';
import { createAdaptiveLimit } from '../../../transfer/limit/adaptive-limit.ts';
import { fetchLarge } from './fetch-large.ts';

const MIB = 1024 * 1024;
const SIZE_BYTES = 72 * MIB + 5;
const KEY = 'large.bin';

const content = randomFillSync(Buffer.alloc(SIZE_BYTES));
let store: ObjectStore;
let root: string;
beforeAll(loadCrc64);
beforeEach(async () => {
  store = createMemoryStore({ etags: 'md5' });
  await store.put(KEY, content);
  root = mkdtempSync(join(tmpdir(), 'dray-fetch-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** The file and the notes that the last run left. */
let fetchedBytes = 0;

/** A new run. `before` is called before each range is read. */
async function run(before: (start: number, stop: AbortController) => Promise<void> | void = () => {}) {
  const stop = new AbortController();
  fetchedBytes = 0;
  const onProgress = (bytes: number) => {
    fetchedBytes += bytes;
  };
  const reading: ObjectStore = {
    ...store,
    read: async (key, request: ReadOptions) => {
      await before(request.range!.start, stop);
      return store.read(key, request);
    },
  };
  const { signal } = stop;
  const temporaryFolder = join(root, '.dray-tmp');
  const writer = openTreeWriter({ root, temporaryFolder, isTemporaryFolderOwn: true, signal });
  const info = (await store.head(KEY, { checksums: true }))!;
  const limit = createAdaptiveLimit({ clock: systemClock, fixed: 2 });
  const memory = createLeasedMemory({
    budget: new Budget(64 * MIB),
    largestBytes: 64 * MIB,
    open: (lengthBytes) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 }),
  });
  const download = { store: reading, key: KEY, info, limit, memory, signal, onProgress };
  const meta = { path: 'folder/large.bin', sizeBytes: info.sizeBytes, mtimeNs: 1n, executable: false };
  try {
    return await fetchLarge({ writer, meta, download });
  } finally {
    await writer.close();
  }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const isArrived = (wanted: Uint8Array = content) =>
  sha256(readFileSync(join(root, 'folder/large.bin'))) === sha256(wanted);

describe('fetchLarge', () => {
  it('fetches a whole object and leaves no other file behind', async () => {
    expect((await run()).receivedBytes).toBe(SIZE_BYTES);
    expect(isArrived()).toBe(true);
    expect(readdirSync(root)).toEqual(['folder']);
  });

  it.each(['stopped', 'cut off'])('resumes after it was %s, with the missing ranges', async (end) => {
    const broken = run(async (start, stop) => {
      if (start < 40 * MIB) return;
      while (fetchedBytes < 24 * MIB) await new Promise(setImmediate);
      if (end === 'stopped') stop.abort();
      throw new DrayError(end === 'stopped' ? 'aborted' : 'unreachable', 'Gone.', { retry: 'no' });
    });
    await expect(broken).rejects.toBeInstanceOf(DrayError);
    expect(existsSync(join(root, 'folder/large.bin'))).toBe(false);
    expect((await run()).receivedBytes).toBeLessThanOrEqual(SIZE_BYTES - 24 * MIB);
    expect(isArrived()).toBe(true);
    expect(readdirSync(root)).toEqual(['folder']);
  });

  longIt('starts over when the object has been replaced', async () => {
    const cut = (start: number) => {
      if (start >= 40 * MIB) throw new DrayError('unreachable', 'Gone.');
    };
    await expect(run(cut)).rejects.toMatchObject({ code: 'unreachable' });
    const other = Buffer.from(content);
    other[0]! ^= 1;
    await store.put(KEY, other);
    expect((await run()).receivedBytes).toBe(SIZE_BYTES);
    expect(isArrived(other)).toBe(true);
  });

  it('keeps no bytes of an object that changed while it was read', async () => {
    const change = async (start: number) => {
      if (start === 40 * MIB) await store.put(KEY, Buffer.alloc(SIZE_BYTES));
    };
    await expect(run(change)).rejects.toMatchObject({ data: { reason: 'changedWhileRead' } });
    expect(readdirSync(root)).toEqual(['folder']);
    expect(readdirSync(join(root, 'folder'))).toEqual([]);
  });
});
