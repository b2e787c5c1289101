/** Data to transfer: equal bytes and times for equal shapes on every machine, and incompressible. */
import { createCipheriv } from 'node:crypto';
import { closeSync, mkdirSync, openSync, statfsSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';

export interface DatasetShape {
  readonly files: number;
  readonly bytesMax: number;
  /**
   * `equal`: every file has `bytesMax`. `spread`: evenly from 0 to `bytesMax`. A list: the size of each file.
   */
  readonly sizes: 'equal' | 'spread' | readonly number[];
}

export const FILES_IN_FOLDER = 1_000;
const BLOCK_BYTES = 1024 * 1024;
const CLUSTER_BYTES = 4096;
const SIZE_STEP = 7_919;
/**
 * The first file's time in seconds; each later file is slightly older. All are older than any upload of them.
 */
const MODIFIED_S = Date.UTC(2026, 0, 1) / 1000;
const MODIFIED_STEP_S = 1.001;
const MB = 1_000_000;

/** A shape with files of these sizes, in this order. */
export function shapeOfSizes(sizes: readonly number[]): DatasetShape {
  return { files: sizes.length, bytesMax: Math.max(0, ...sizes), sizes };
}

export interface SizeRange {
  readonly files: number;
  readonly bytesMin: number;
  readonly bytesMax: number;
}

/**
 * The exponent of the logarithms: below 1 there are more large files. With 0.4, 35 files from 990 bytes to
 * 412 MB total 2.6 GB.
 */
const MIXED_EXPONENT = 0.4;

/**
 * Sizes over all powers of ten, in an order that does not put all large ones at the end. The order is always
 * the same.
 */
export function mixSizes({ files, bytesMin, bytesMax }: SizeRange): DatasetShape {
  const sizes = Array.from({ length: files }, (_, index) => {
    const share = files > 1 ? (((index * SIZE_STEP) % files) / (files - 1)) ** MIXED_EXPONENT : 1;
    return Math.round(bytesMin * (bytesMax / bytesMin) ** share);
  });
  return shapeOfSizes(sizes);
}

/** `50,000 x 1 KiB`, or `35 files from 990 B to 412 MB`. */
export function describeShape({ files, bytesMax, sizes }: DatasetShape): string {
  if (typeof sizes !== 'string')
    return `${formatCount(files)} files from ${formatSize(Math.min(...sizes))} to ${formatSize(bytesMax)}`;
  return `${formatCount(files)} x ${formatSize(bytesMax)}`;
}

function formatSize(bytes: number): string {
  return bytes > 0 && bytes % MB === 0 ? `${bytes / MB} MB` : formatBytes(bytes);
}

export function sizeOfFile({ bytesMax, sizes }: DatasetShape, index: number): number {
  if (sizes === 'equal') return bytesMax;
  if (sizes === 'spread') return (index * SIZE_STEP) % (bytesMax + 1);
  return sizes[index] ?? 0;
}

/** The bytes that the files take on a disk with whole clusters. */
export function diskBytesOf(shape: DatasetShape): number {
  if (typeof shape.sizes === 'string') return shape.files * clusterBytesOf(shape.bytesMax);
  return shape.sizes.reduce((sum, sizeBytes) => sum + clusterBytesOf(sizeBytes), 0);
}

function clusterBytesOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / CLUSTER_BYTES) * CLUSTER_BYTES;
}

/** `d0002/f00123`: a thousand files in each folder. */
export function pathOfFile(index: number): string {
  const number = (value: number, digits: number) => String(value).padStart(digits, '0');
  return `d${number(Math.floor(index / FILES_IN_FOLDER), 4)}/f${number(index % FILES_IN_FOLDER, 5)}`;
}

export function listPaths(files: number): readonly string[] {
  return Array.from({ length: files }, (_, index) => pathOfFile(index));
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
    // Tools consider a file changed when it is as young as its object, to the second.
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

/** The key stream of AES in counter mode: seeded, random enough here, and as fast as memory. */
export function createStream(seed = 'dray'): (bytes: number) => Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16));
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
  const neededBytes = diskBytesOf(shape);
  if (bavail * bsize < neededBytes)
    throw new Error(`${folder} has no room for ${neededBytes} bytes; choose another with --folder.`);
  // Some file systems have no fixed number of inodes and report 0 of 0.
  if (files > 0 && ffree < shape.files)
    throw new Error(`${folder} has ${ffree} inodes left for ${shape.files} files.`);
}
