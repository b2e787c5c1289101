/** A sample dataset: equal bytes for equal seeds on every machine. */
import { chmod, mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface SampleShape {
  readonly seed: number;
  readonly smallFiles: number;
  /** The exclusive upper limit of the small files' sizes, which are spread evenly. */
  readonly smallBytesMax: number;
  readonly largeFiles: number;
  readonly largeBytes: number;
}

export const SAMPLE: SampleShape = {
  seed: 20_260_101,
  smallFiles: 400,
  smallBytesMax: 48 * 1024,
  largeFiles: 3,
  largeBytes: 80 * 1024 * 1024,
};

const FOLDERS = ['images/train', 'images/test', 'labels', 'notes'];
const BLOCK_BYTES = 1024 * 1024;

/** Also makes a link, an executable and an empty folder, because those must arrive as well. */
export async function writeSample(folder: string, shape: SampleShape): Promise<void> {
  const fill = createRandomFill(shape.seed);
  for (const name of [...FOLDERS, 'recordings', 'empty'])
    await mkdir(join(folder, name), { recursive: true });
  for (let index = 0; index < shape.smallFiles; index += 1) {
    const name = `${FOLDERS[index % FOLDERS.length]}/sample-${String(index).padStart(4, '0')}.bin`;
    const sizeBytes = (index * 7_919) % shape.smallBytesMax;
    await writeFile(
      join(folder, name),
      fill(new Uint32Array(Math.ceil(sizeBytes / 4))).subarray(0, sizeBytes),
    );
  }
  const block = new Uint32Array(BLOCK_BYTES / 4);
  for (let index = 0; index < shape.largeFiles; index += 1) {
    await using file = await open(join(folder, 'recordings', `recording-${index + 1}.raw`), 'w');
    for (let written = 0; written < shape.largeBytes; written += BLOCK_BYTES) {
      await file.write(fill(block).subarray(0, Math.min(BLOCK_BYTES, shape.largeBytes - written)));
    }
  }
  await writeFile(join(folder, 'convert.sh'), '#!/bin/sh\necho "converting $1"\n');
  await chmod(join(folder, 'convert.sh'), 0o755);
  await symlink('recordings/recording-1.raw', join(folder, 'newest.raw'));
}

/** Marsaglia's xorshift32: fast, and random enough to be incompressible. */
function createRandomFill(seed: number): (words: Uint32Array) => Uint8Array {
  let state = seed >>> 0 || 1;
  return (words) => {
    for (let at = 0; at < words.length; at += 1) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      words[at] = state;
    }
    return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  };
}
