/** One huge file in two versions that are mostly equal. */
import { createCipheriv } from 'node:crypto';
import { closeSync, copyFileSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../machines/bench.ts';
import { datasetHolding, type Holding } from '../scenarios/holding.ts';
import { roomOf } from '../scenarios/room.ts';
import { type DatasetShape, pathOfFile } from './dataset.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';

/** Its name, in its own folder. */
export const CHANGED_FILE = 'file';
/** Each change covers a whole block, at a multiple of this offset. */
export const BLOCK_BYTES = 4096;

export interface ChangedFile {
  readonly old: string;
  /** A folder. */
  readonly source: string;
  /** The fingerprint of that folder. */
  readonly fingerprint: Fingerprint;
}

export interface Change {
  readonly fileBytes: number;
  /** The share of its blocks that change, or one byte inserted at its start. */
  readonly by: { readonly percent: number } | 'insertion';
}

/** The old file as a holding. */
export function oldFileHolding({ fileBytes }: Pick<Change, 'fileBytes'>): Holding {
  return datasetHolding(shapeOf(fileBytes), OWNER);
}

export function changedHolding({ by, fileBytes }: Change): Holding {
  const name = JSON.stringify(['changed', fileBytes, by]);
  return { name, at: 'source', how: 'made', room: roomOf(shapeOf(fileBytes)) };
}

/** Makes the old file and the new one. */
export async function makeChanged(bench: Bench, change: Change): Promise<ChangedFile> {
  const { by, fileBytes } = change;
  const { folder } = await bench.dataset(shapeOf(fileBytes), OWNER);
  const old = join(folder, pathOfFile(0));
  const made = await bench.hold(changedHolding(change), async () => {
    const source = bench.newPath('changed');
    await mkdir(source);
    const path = join(source, CHANGED_FILE);
    if (by === 'insertion') insertByte(path, old);
    else {
      copyFileSync(old, path);
      changeBlocks(path, by.percent);
    }
    if (statSync(path).size === 0) throw new Error('There is nothing in the file.');
    return { thing: { source, fingerprint: fingerprintOf(source) }, folders: [source] };
  });
  return { old, ...made };
}

const OWNER = 'delta';

function shapeOf(fileBytes: number): DatasetShape {
  return { files: 1, bytesMax: fileBytes, sizes: 'equal' };
}

/** Replaces all bytes of the chosen blocks. The blocks are spread evenly, without a period. */
function changeBlocks(path: string, percent: number): void {
  const blocks = Math.ceil(statSync(path).size / BLOCK_BYTES);
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 'changed'), Buffer.alloc(16));
  const zeros = Buffer.alloc(BLOCK_BYTES);
  const sizeBytes = statSync(path).size;
  const file = openSync(path, 'r+');
  try {
    for (const block of chooseBlocks(blocks, Math.round((blocks * percent) / 100))) {
      const at = block * BLOCK_BYTES;
      writeSync(file, cipher.update(zeros), 0, Math.min(BLOCK_BYTES, sizeBytes - at), at);
    }
  } finally {
    closeSync(file);
  }
}

const LCG_FACTOR = 1_664_525;
const LCG_STEP = 1_013_904_223;

/**
 * Chooses `wanted` of the first `blocks` numbers, in order and each with the same probability. Equal at every
 * call.
 */
export function chooseBlocks(blocks: number, wanted: number): readonly number[] {
  const chosen: number[] = [];
  let state = 1;
  for (let block = 0; block < blocks; block += 1) {
    state = (Math.imul(state, LCG_FACTOR) + LCG_STEP) >>> 0;
    // Selection sampling (Knuth, algorithm S): exactly `wanted` are left over at the end.
    if ((state / 2 ** 32) * (blocks - block) < wanted - chosen.length) chosen.push(block);
  }
  return chosen;
}

const COPY_BYTES = 1024 * 1024;

function insertByte(path: string, old: string): void {
  const [from, to] = [openSync(old, 'r'), openSync(path, 'w')];
  try {
    writeSync(to, Buffer.from('x'));
    const piece = Buffer.alloc(COPY_BYTES);
    for (let read = readSync(from, piece); read > 0; read = readSync(from, piece))
      writeSync(to, piece, 0, read);
  } finally {
    closeSync(from);
    closeSync(to);
  }
}
