import { describe, expect, it } from 'vitest';
import { unpackHadoopLz4, unpackLz4 } from './lz4.ts';

/** Packed by pyarrow 26 (`lz4_raw`): rows with repetitions, with runs, and with far matches. */
const PACKED = {
  rows:
    '8QBzaXRlIDAsbm9ydGgsMAoPABMxDwASMQ8AEzIPABIyDwATMw8AEjMPABM0DwASNA8AEzUPABI1DwATNg8AEjYPAARpABI3' +
    'DwAEaQASOA8ABGkAEjkPAARpABMxlwAEagATMZgABGsAEzGZAARsABMxmgAEbQATMZsABG4AEzGcAARvABMxnQAFcAADngAF' +
    'cAADnwAFcAADoAAEcAATMqAABHAAEzKgAARwABMyoAAEcAATMqAABHAAEzKgAARwABMyoAAEcAATMqAABXAAA6AABXAAA6AA' +
    'BXAAA6AABHAAEzOgAARwABMzoAAEcAATM6AABHAAEzOgAARwABMzoAAEcAATM6AABHAAEzOgAAVwAAOgAAVwAAOgALA0LG5v' +
    'cnRoLDM5Cg==',
  run: 'H3gBAP////////////////////////+CUHh4eHh4',
  far:
    '////T0Zva2Q6QztUZ2koR2g9dEssWUUkSTZlIjwlOG9gTio/OlplYVcnXiZFdEBhQkVkSF1ONE5GRGBAMjxseCtPeDQ6bjF3' +
    'Y0Fobl9eKjNVUTU4ciF6KSkvVjhqZDNnQSpOXT53b150LyRcVWcweVhXMFFnVDB5Xy4oMFtQVV0xYHcscW1sb3EqXW4hJUg6' +
    'PD4nYHp5I2h1NGF5Xk54bTtHJERabCJEW3pfXEdeNyJLJyZxa3JzLjZGdSImSmIxaHdvXz5jcFBoSiQ+RVtYWltJXF4iYE5q' +
    'Zm8ndnk1bm0qWmVJSy45KiRQeVB0ZEtqXG90SzBHLW9jLkcoJHZXZ1lnY2dzVSROemdSYHEkZ3B1Tz1oWiViRjV5OWR0Q3c2' +
    'NGNwOTRdNyl2cDZHXlM0WjwkV2Rydl9xYEAtSDxjalMncyMlUVMsOVcqJzU9cj4kNkpWY2luRy0hZkgyV203YW9PQTZvK2xU' +
    'YVlAJi4zPFpPOjN2OXZyUVZOOF8vc2Q3IjsuNEFLJlc9Rzw4IT1mek0hMDwsZiRzKSZJPDNga0diZitpPixGQEV4ISh1WiNJ' +
    'Mz8iamBdLXUqRFRvcG9iQUd5QVIkNWFuPGRocVFrXVliTWI5SClycmpXLD5CNU8pYyIrIXdOZnBBVkJjISgmTCUjcnpyO0d0' +
    'YD5nUDlreW1wIXpfKlA2ZG1aU1JMJClAKzIxeCUodiEldCtmNyFLJ108VGEpR29iWGhialRgQUNURUgvcFd4P0BWZFQweSVw' +
    'WT47eEE7enNJZ05lP1s6SicwLDQ3c1xeOnIwby0tLS0EAC8PngL//0JQXjpyMG8=',
};
const TEXTS = {
  rows: Array.from({ length: 40 }, (_, row) => `site ${row % 7},north,${row}\n`).join(''),
  run: 'x'.repeat(5_000),
  far: `${noise(600)}${'-'.repeat(70)}${noise(600)}`,
} as const;
type Name = keyof typeof TEXTS;
const NAMES = Object.keys(TEXTS) as Name[];

/** Text without repetitions, the same each time. */
function noise(length: number): string {
  let state = 7;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 90));
  }).join('');
}

const packed = (name: Name) => Buffer.from(PACKED[name], 'base64');
const size = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** As Hadoop writes it: the size of all blocks of a frame, then each block after its own. */
const frame = (sizeBytes: number, blocks: readonly Buffer[]) =>
  Buffer.concat([size(sizeBytes), ...blocks.flatMap((block) => [size(block.length), block])]);

describe('LZ4', () => {
  it.each(NAMES)('unpacks %s as it was packed elsewhere, with and without frames', (name) => {
    const { length } = TEXTS[name];
    const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
    expect(textOf(unpackLz4(packed(name), length))).toBe(TEXTS[name]);
    expect(textOf(unpackHadoopLz4(packed(name), length))).toBe(TEXTS[name]);
    expect(textOf(unpackHadoopLz4(frame(length, [packed(name)]), length))).toBe(TEXTS[name]);
  });

  it('unpacks several frames, and frames of several blocks', () => {
    const { rows, run } = TEXTS;
    const both = frame(rows.length + run.length, [packed('rows'), packed('run')]);
    const bytes = Buffer.concat([both, frame(run.length, [packed('run')])]);
    const length = rows.length + run.length * 2;
    expect(Buffer.from(unpackHadoopLz4(bytes, length)).toString()).toBe(rows + run + run);
  });

  it('is empty for an empty page', () => {
    expect([unpackLz4(new Uint8Array(0), 0), unpackHadoopLz4(new Uint8Array(0), 0)]).toEqual([
      new Uint8Array(0),
      new Uint8Array(0),
    ]);
    expect(unpackLz4(Buffer.from([0]), 0)).toHaveLength(0);
  });

  it.each([
    ['ends within its literals', [0x50, 65, 65], 100],
    ['ends within an offset', [0x10, 65, 1], 100],
    ['ends within a length', [0xf0, 255, 255], 10_000],
    ['refers to bytes before its start', [0x10, 65, 2, 0, 0], 100],
    ['refers to the byte that it writes', [0x10, 65, 0, 0, 0], 100],
    ['unpacks to more than its header claims', [0x1f, 65, 1, 0, 255, 255, 255, 255, 0], 1_000],
    ['unpacks to less than its header claims', [0x10, 65], 2],
    ['has more literals than its header claims', [0x30, 65, 65, 65], 2],
    ['claims a length of gigabytes', [0xff, ...Array<number>(5_000).fill(255)], 1_000_000],
    ['has frames of more than its header claims', [255, 255, 255, 255, 0, 0, 0, 1, 0], 100],
    ['has an empty block', [0, 0, 0, 9, 0, 0, 0, 0], 9],
    ['has a block longer than itself', [0, 0, 0, 1, 255, 255, 255, 255, 0x10, 65], 1],
  ])('is refused where it %s', (_, bytes, sizeBytes) => {
    for (const unpack of [unpackLz4, unpackHadoopLz4])
      expect(() => unpack(Buffer.from(bytes), sizeBytes)).toThrow('its LZ4 compression is damaged');
  });

  it('does not refer to an earlier block in the same frame', () => {
    const own = Buffer.from([0x10, 65]);
    const reaching = Buffer.from([0x10, 66, 2, 0, 0]);
    expect(() => unpackHadoopLz4(frame(7, [own, reaching]), 7)).toThrow('damaged');
  });

  it('cut anywhere or with any byte changed is refused, or has the size that was claimed', () => {
    const good = frame(TEXTS.rows.length, [packed('rows')]);
    let refused = 0;
    const attempt = (bytes: Buffer) => {
      try {
        expect(unpackHadoopLz4(bytes, TEXTS.rows.length)).toHaveLength(TEXTS.rows.length);
      } catch (error) {
        expect((error as Error).message).toBe('its LZ4 compression is damaged');
        refused += 1;
      }
    };
    for (let at = 0; at < good.length; at += 1) {
      attempt(good.subarray(0, at));
      for (const value of [0, 255, good[at]! ^ 8]) {
        const bytes = Buffer.from(good);
        bytes[at] = value;
        attempt(bytes);
      }
    }
    expect(refused).toBeGreaterThan(good.length);
  });
});
