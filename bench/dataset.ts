/** Data to move: the same bytes and times for the same shape, on every machine, and nothing that compresses. */
import { createCipheriv } from 'node:crypto';
import { closeSync, mkdirSync, openSync, statfsSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { formatBytes, formatCount } from '../engine/api/numbers.ts';

export interface DatasetShape {
  readonly files: number;
  readonly bytesMax: number;
  /** `equal`: all files are of `bytesMax`. `spread`: from none to `bytesMax`, evenly. */
  readonly sizes: 'equal' | 'spread';
}

const FILES_IN_FOLDER = 1_000;
const BLOCK_BYTES = 1024 * 1024;
const CLUSTER_BYTES = 4096;
const SIZE_STEP = 7_919;
/** Of the first file, in seconds; each one after it is a little younger. All are older than any store of them. */
const MODIFIED_S = Date.UTC(2026, 0, 1) / 1000;
const MODIFIED_STEP_S = 1.001;
const MB = 1_000_000;

/** `50,000 x 1 KiB`. */
export function describeShape({ files, bytesMax }: DatasetShape): string {
  const size = bytesMax % MB === 0 ? `${bytesMax / MB} MB` : formatBytes(bytesMax);
  return `${formatCount(files)} x ${size}`;
}

export function sizeOfFile(shape: DatasetShape, index: number): number {
  return shape.sizes === 'equal' ? shape.bytesMax : (index * SIZE_STEP) % (shape.bytesMax + 1);
}

/** `d0002/f00123`: a thousand files in each folder. */
export function pathOfFile(index: number): string {
  const number = (value: number, digits: number) => String(value).padStart(digits, '0');
  return `d${number(Math.floor(index / FILES_IN_FOLDER), 4)}/f${number(index % FILES_IN_FOLDER, 5)}`;
}

/** @throws Error when the disk lacks the room or the inodes. */
export function writeDataset(folder: string, shape: DatasetShape): void {
  mkdirSync(folder, { recursive: true });
  refuseFullDisk(folder, shape);
  const next = createStream();
  for (let index = 0; index < shape.files; index += 1) {
    const path = join(folder, pathOfFile(index));
    if (index % FILES_IN_FOLDER === 0) mkdirSync(join(path, '..'), { recursive: true });
    const sizeBytes = sizeOfFile(shape, index);
    if (sizeBytes <= BLOCK_BYTES) writeFileSync(path, next(sizeBytes));
    else writeLargeFile(path, sizeBytes, next);
    // Tools take a file for changed that is as young as its object, to the second.
    const modified = MODIFIED_S + index * MODIFIED_STEP_S;
    utimesSync(path, modified, modified);
  }
}

function writeLargeFile(path: string, sizeBytes: number, next: (bytes: number) => Buffer): void {
  const file = openSync(path, 'w');
  try {
    for (let written = 0; written < sizeBytes; written += BLOCK_BYTES)
      writeSync(file, next(Math.min(BLOCK_BYTES, sizeBytes - written)));
  } finally {
    closeSync(file);
  }
}

/** The key stream of AES in counter mode: seeded, random in every respect that matters here, and as fast as memory. */
function createStream(): (bytes: number) => Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 'dray'), Buffer.alloc(16));
  const zeros = Buffer.alloc(BLOCK_BYTES);
  let block = Buffer.alloc(0);
  return (bytes) => {
    if (bytes > block.length) block = cipher.update(zeros);
    const taken = block.subarray(0, bytes);
    block = block.subarray(bytes);
    return taken;
  };
}

function refuseFullDisk(folder: string, shape: DatasetShape): void {
  const { bavail, bsize, ffree, files } = statfsSync(folder);
  const neededBytes = shape.files * Math.ceil(shape.bytesMax / CLUSTER_BYTES) * CLUSTER_BYTES;
  if (bavail * bsize < neededBytes)
    throw new Error(`${folder} has no room for ${neededBytes} bytes; choose another with --folder.`);
  // Some file systems have no fixed number of inodes, and say 0 of 0.
  if (files > 0 && ffree < shape.files)
    throw new Error(`${folder} has ${ffree} inodes left for ${shape.files} files.`);
}
