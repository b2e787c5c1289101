import { describe, expect, it } from 'vitest';
import { DrayError } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import { collect, MIB, noise, PART_BYTES, pieces, same, sha256 } from './contract/awkward-objects.fixture.ts';
import { computeChecksum } from './contract/compute-checksum.fixture.ts';
import { createMemoryStore } from './memory/memory-store.fixture.ts';
import type { MultipartStore, ObjectStore } from './object-store.ts';
import { putStreamInParts } from './stream-in-parts.ts';
import { createFaults, withFaults } from './wrappers/with-faults.fixture.ts';
import { createMeter, withMeter } from './wrappers/with-meter.ts';
import { withRetry } from './wrappers/with-retry.ts';

const OPTIONS = { partSizeBytes: PART_BYTES };
const still: Clock = { nowMs: () => 0, monotonicMs: () => 0, random: () => 0, sleep: async () => {} };

function setUp() {
  const memory = createMemoryStore({ partSizeMinBytes: PART_BYTES });
  const faults = createFaults();
  const meter = createMeter('local');
  const store = withMeter(withFaults(memory, faults), meter);
  const write = (bytes: Uint8Array, options = {}) =>
    putStreamInParts({ ...store, multipart: store.multipart! }, 'k', pieces(bytes, 65_537), {
      ...OPTIONS,
      ...options,
    });
  return { memory, faults, meter, write };
}

async function pendingIn(store: ObjectStore): Promise<number> {
  return (await store.multipart!.listUploads({ prefix: '' })).uploads.length;
}

describe('A stream that is sent in parts', () => {
  it('arrives intact at each length around part boundaries, with the checksum of the whole', async () => {
    const lengths = [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 3 * PART_BYTES + 7];
    for (const length of lengths) {
      const bytes = noise(length, 60);
      for (const sizeBytes of [undefined, length, Math.floor(length / 2)]) {
        const { memory, meter, write } = setUp();
        const outcome = await write(bytes, sizeBytes === undefined ? {} : { sizeBytes });
        expect(outcome).toMatchObject({ written: true });
        const body = (await memory.get('k'))!.body;
        expect(same(await collect(body), bytes), `${length} bytes`).toBe(true);
        const sum = await computeChecksum('crc64nvme', bytes);
        expect((await memory.head('k', { checksums: true }))!.checksums).toMatchObject(sum);
        const partCount = Math.ceil(length / PART_BYTES);
        expect(meter.totals().writes).toBe(partCount <= 1 ? 1 : partCount + 2);
        expect(await pendingIn(memory)).toBe(0);
      }
    }
  });

  it("is cut to the store's part sizes, which the store learns", async () => {
    const memory = createMemoryStore();
    const sizes: (number | undefined)[] = [];
    const multipart: MultipartStore = {
      ...memory.multipart!,
      putStreamBy: putStreamInParts,
      partBytesMax: PART_BYTES,
      create: (key, options) => {
        sizes.push(options?.partSizeBytes);
        return memory.multipart!.create(key, options);
      },
    };
    const meter = createMeter('local');
    const metered = withMeter({ ...memory, multipart }, meter);
    const store = withRetry(metered, { clock: still });
    const bytes = noise(2 * PART_BYTES + 1, 67);
    for (const options of [{ partSizeBytes: 3 * PART_BYTES }, { partSizeBytes: 1 }, { sizeBytes: 700e9 }])
      await store.putStream('k', pieces(bytes, 65_537), options);
    expect(sizes).toEqual([PART_BYTES, PART_BYTES, PART_BYTES]);
    expect((await memory.head('k', { partNumber: 1 }))!.partCount).toBe(3);
    expect(meter.totals().writes).toBe(15);
  });

  it('keeps its description, short or long', async () => {
    for (const length of [10, PART_BYTES + 1]) {
      const { memory, write } = setUp();
      await write(noise(length, 61), { contentType: 'text/plain', metadata: { mtime: '1.5' } });
      expect(await memory.head('k')).toMatchObject({
        contentType: 'text/plain',
        metadata: { mtime: '1.5' },
      });
    }
  });

  it('is not written if its bytes are not the announced ones', async () => {
    for (const length of [10, 2 * PART_BYTES + 1]) {
      const { memory, write } = setUp();
      const bytes = noise(length, 62);
      const wrong = { checksum: { sha256: sha256(noise(5, 1)) } };
      await expect(write(bytes, wrong)).rejects.toMatchObject({ code: 'checksumRefused' });
      expect(await memory.head('k')).toBeUndefined();
      expect(await pendingIn(memory)).toBe(0);
      await write(bytes, { checksum: { sha256: sha256(bytes) } });
    }
  });

  it('checks the condition before a long one is sent, and again at its completion', async () => {
    const { memory, faults, meter, write } = setUp();
    const bytes = noise(2 * PART_BYTES, 63);
    const condition = { absent: true } as const;
    await memory.put('k', new Uint8Array(1));
    expect(await write(bytes, { condition })).toEqual({ written: false });
    expect(meter.totals().sentBytes).toBe(0);
    await memory.delete(['k']);
    faults.add('complete').before(async () => void (await memory.put('k', new Uint8Array(2))));
    expect(await write(bytes, { condition })).toEqual({ written: false });
    expect((await memory.head('k'))!.sizeBytes).toBe(2);
    expect(await pendingIn(memory)).toBe(0);
    faults.verifyAllExercised();
  });

  it('frees its parts and closes the source when a part or the completion fails', async () => {
    for (const method of ['uploadPart', 'complete'] as const) {
      const { memory, faults, meter, write } = setUp();
      faults.add(method).errorInstead(new DrayError('accessDenied', 'No.'));
      await expect(write(noise(6 * PART_BYTES, 64))).rejects.toMatchObject({ code: 'accessDenied' });
      expect(await memory.head('k')).toBeUndefined();
      expect(await pendingIn(memory)).toBe(0);
      expect(meter.totals().deletes).toBe(1);
      faults.verifyAllExercised();
    }
  });

  it('stops at once when the signal fires, while the source gives nothing', async () => {
    const { memory } = setUp();
    const control = new AbortController();
    let isLeft = false;
    async function* silent() {
      yield noise(2 * PART_BYTES + 1, 65);
      control.abort();
      await new Promise<void>((resolve) => {
        control.signal.addEventListener('abort', () => setTimeout(resolve, 60_000).unref());
      });
      isLeft = true;
    }
    const store = { ...memory, multipart: memory.multipart! };
    const call = putStreamInParts(store, 'k', silent(), { ...OPTIONS, signal: control.signal });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(isLeft).toBe(false);
    expect(await memory.head('k')).toBeUndefined();
    expect(await pendingIn(memory)).toBe(0);
  });
});

describe('Streams behind the retry wrapper', () => {
  it('continue after failures of single parts, if the store sends them in parts', async () => {
    const memory = createMemoryStore();
    const carrying: ObjectStore = {
      ...memory,
      multipart: { ...memory.multipart!, putStreamBy: putStreamInParts },
    };
    const faults = createFaults();
    const cut = new DrayError('unreachable', 'The wire was cut.', { retry: 'retry' });
    for (const method of ['create', 'uploadPart', 'complete'] as const) faults.add(method).errorInstead(cut);
    const store = withRetry(withFaults(carrying, faults), { clock: still });
    const bytes = noise(2 * PART_BYTES + MIB, 66);
    expect(await store.putStream('k', pieces(bytes, 100_000), OPTIONS)).toMatchObject({ written: true });
    expect(same((await memory.read('k', { maxBytes: bytes.byteLength }))!.bytes, bytes)).toBe(true);
    faults.verifyAllExercised();
  });
});
