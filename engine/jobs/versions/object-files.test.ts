import { createHash } from 'node:crypto';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFileStore } from '../../remotes/file/file-store.ts';
import type { ByteRange, ObjectStore } from '../../remotes/object-store.ts';
import { hashOfText } from '../../repository/entries.fixture.ts';
import { packKey } from '../../repository/keys.ts';
import { createSandbox, type Sandbox } from '../session/job.fixture.ts';
import { createBlockMemory, withBlockCache } from './block-cache.ts';
import { BLOCK_BYTES, type BlockCacheFile } from './block-file.ts';
import { openObjectFiles } from './object-files.ts';

const KEY = packKey(hashOfText('pack') as Parameters<typeof packKey>[0]);
const BLOCKS = 4;
const CONTENT = Buffer.concat(
  Array.from({ length: BLOCKS * 16_384 + 10 }, (_, at) => createHash('sha256').update(`${at}`).digest()),
);

let sandbox: Sandbox;
let reads: (ByteRange | undefined)[];
let file: BlockCacheFile;
let store: ObjectStore;
beforeEach(async () => {
  sandbox = createSandbox();
  reads = [];
  const inner = await openFileStore({ root: sandbox.path('store'), create: true });
  await inner.put(KEY, CONTENT);
  const counted: ObjectStore = {
    ...inner,
    read(key, options) {
      reads.push(options.range);
      return inner.read(key, options);
    },
  };
  file = openObjectFiles(sandbox.path('store'), 100 * BLOCK_BYTES);
  // Room for one block in memory.
  store = withBlockCache(counted, { file, memory: createBlockMemory(BLOCK_BYTES) });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await store.close();
  sandbox[Symbol.dispose]();
});

async function expectRead(start: number, end: number, content = CONTENT): Promise<void> {
  const read = await store.read(KEY, { range: { start, end }, maxBytes: end - start });
  expect(content.subarray(start, end).equals(read!.bytes), `${start} to ${end}`).toBe(true);
}

async function readEachBlock(): Promise<void> {
  for (let at = 0; at <= BLOCKS; at += 1) await expectRead(at * BLOCK_BYTES, at * BLOCK_BYTES + 9);
  await file.settled();
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

const objectPath = () => join(sandbox.path('store'), KEY);

describe('the objects of a folder as their own cache', () => {
  it('are read from their files, after one read of each block, and nothing is written', async () => {
    const before = readdirSync(sandbox.path('.'), { recursive: true }).length;
    await readEachBlock();
    expect(reads).toHaveLength(BLOCKS + 1);
    for (const size of [1, 5_000, BLOCK_BYTES, 2 * BLOCK_BYTES + 17])
      for (const start of [0, 3, BLOCK_BYTES - 2, BLOCK_BYTES, CONTENT.length - size])
        await expectRead(start, Math.min(CONTENT.length, start + size));
    await expectRead(0, CONTENT.length);
    expect(reads).toHaveLength(BLOCKS + 1);
    expect(readdirSync(sandbox.path('.'), { recursive: true })).toHaveLength(before);
  });

  it.runIf(process.platform === 'linux')(
    'are open for 10 s at most, so that a collection frees room',
    async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
      const openFiles = () =>
        readdirSync('/proc/self/fd').filter(
          (fd) => linkOf(`/proc/self/fd/${fd}`) === realpathSync(objectPath()),
        );
      await readEachBlock();
      await Promise.all(Array.from({ length: 50 }, (_, at) => expectRead(at * 1_000, at * 1_000 + 999)));
      expect(openFiles()).toHaveLength(1);
      now.mockReturnValue(11_001);
      vi.advanceTimersByTime(10_001);
      await vi.waitUntil(() => openFiles().length === 0);
      await expectRead(5, 90);
      expect(openFiles()).toHaveLength(1);
      expect(reads).toHaveLength(BLOCKS + 1);
    },
  );

  it('are not taken from another file than the store has read', async () => {
    // The time of one and the bytes of another.
    const info = { ...(await store.head(KEY))!, etag: 'another' };
    file.write(`${KEY}#0`, { bytes: CONTENT.subarray(0, BLOCK_BYTES), info });
    await file.settled();
    expect(file.has(`${KEY}#0`)).toBe(false);
  });

  it('are asked of the store again after they were cut, and when a reader found them damaged', async () => {
    await readEachBlock();
    const whole = readFileSync(objectPath());
    truncateSync(objectPath(), 2 * BLOCK_BYTES + 5);
    await store.read(KEY, { range: { start: 2 * BLOCK_BYTES, end: 2 * BLOCK_BYTES + 9 }, maxBytes: 9 });
    expect(reads).toHaveLength(BLOCKS + 2);
    writeFileSync(sandbox.path('healed'), whole);
    renameSync(sandbox.path('healed'), objectPath());
    const range = { start: BLOCK_BYTES, end: BLOCK_BYTES + 9 };
    const healed = await store.read(KEY, { range, maxBytes: 9, isAgain: true });
    expect(CONTENT.subarray(range.start, range.end).equals(healed!.bytes)).toBe(true);
    expect(reads).toHaveLength(BLOCKS + 3);
  });

  it('as a whole are one read', async () => {
    const key = packKey(hashOfText('small') as Parameters<typeof packKey>[0]);
    await store.put(key, CONTENT.subarray(0, 1_000));
    await store.read(key, { maxBytes: 1_000 });
    await readEachBlock();
    const before = reads.length;
    const read = await store.read(key, { maxBytes: 1_000 });
    expect(CONTENT.subarray(0, 1_000).equals(read!.bytes)).toBe(true);
    expect(reads).toHaveLength(before);
  });
});
