/** Reads requests and writes answers of Linux's FUSE protocol (include/uapi/linux/fuse.h), version 7.31. */
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:os';

const FUSE_MINOR = 31;
export const ROOT_NODE = 1n;
export const WRITE_BYTES_MAX = 128 * 1024;
const REQUEST_HEAD_BYTES = 40;
const ANSWER_HEAD_BYTES = 16;
const ATTRIBUTE_BYTES = 88;

const OPCODES: Readonly<Record<number, string>> = {
  1: 'lookup',
  2: 'forget',
  3: 'getattr',
  4: 'setattr',
  5: 'readlink',
  6: 'symlink',
  9: 'mkdir',
  10: 'unlink',
  11: 'rmdir',
  12: 'rename',
  13: 'link',
  14: 'open',
  15: 'read',
  16: 'write',
  17: 'statfs',
  18: 'release',
  20: 'fsync',
  25: 'flush',
  26: 'init',
  27: 'opendir',
  28: 'readdir',
  29: 'releasedir',
  30: 'fsyncdir',
  35: 'create',
  36: 'interrupt',
  42: 'batchForget',
  45: 'rename2',
};

export interface FuseRequest {
  readonly kind: string | undefined;
  readonly unique: bigint;
  readonly node: bigint;
  readonly body: Buffer;
}

export function parseRequest(bytes: Buffer): FuseRequest {
  return {
    kind: OPCODES[bytes.readUInt32LE(4)],
    unique: bytes.readBigUInt64LE(8),
    node: bytes.readBigUInt64LE(16),
    body: bytes.subarray(REQUEST_HEAD_BYTES, bytes.readUInt32LE(0)),
  };
}

/** @param errno Such as `EIO`; undefined for success. */
export function answerOf(
  unique: bigint,
  errno: string | undefined,
  body: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(ANSWER_HEAD_BYTES);
  const content = errno === undefined ? body : Buffer.alloc(0);
  head.writeUInt32LE(ANSWER_HEAD_BYTES + content.length, 0);
  head.writeInt32LE(errno === undefined ? 0 : -errnoNumber(errno), 4);
  head.writeBigUInt64LE(unique, 8);
  return Buffer.concat([head, content]);
}

function errnoNumber(errno: string): number {
  return (constants.errno as Readonly<Record<string, number>>)[errno] ?? constants.errno.EIO;
}

/** The names at the end of a body, each ending in a zero byte. */
export function namesAt(body: Buffer, offset: number): readonly string[] {
  return body.subarray(offset, -1).toString().split('\0');
}

function attributes(stats: BigIntStats): Buffer {
  const bytes = Buffer.alloc(ATTRIBUTE_BYTES);
  const times = [stats.atimeNs, stats.mtimeNs, stats.ctimeNs];
  for (const [index, value] of [stats.ino, stats.size, stats.blocks].entries())
    bytes.writeBigUInt64LE(value, 8 * index);
  for (const [index, ns] of times.entries()) {
    bytes.writeBigInt64LE(ns / 1_000_000_000n, 24 + 8 * index);
    bytes.writeUInt32LE(Number(ns % 1_000_000_000n), 48 + 4 * index);
  }
  for (const [index, value] of [stats.mode, stats.nlink, stats.uid, stats.gid, 0n, 4096n].entries())
    bytes.writeUInt32LE(Number(value), 60 + 4 * index);
  return bytes;
}

/** An answer to `lookup` and all that make something. Nothing is kept by the kernel: its times are 0. */
export function entryAnswer(node: bigint, stats: BigIntStats): Buffer {
  const head = Buffer.alloc(40);
  head.writeBigUInt64LE(node, 0);
  return Buffer.concat([head, attributes(stats)]);
}

export function attributeAnswer(stats: BigIntStats): Buffer {
  return Buffer.concat([Buffer.alloc(16), attributes(stats)]);
}

/** @param isDirect Reads and writes bypass the kernel's cache, and the file cannot be shared memory. */
export function openAnswer(handle: number, isDirect: boolean): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(handle), 0);
  bytes.writeUInt32LE(isDirect ? 1 : 0, 8);
  return bytes;
}

export function initAnswer(): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32LE(7, 0);
  bytes.writeUInt32LE(FUSE_MINOR, 4);
  bytes.writeUInt32LE(WRITE_BYTES_MAX, 8);
  // FUSE_BIG_WRITES
  bytes.writeUInt32LE(1 << 5, 12);
  bytes.writeUInt16LE(16, 16);
  bytes.writeUInt16LE(12, 18);
  bytes.writeUInt32LE(WRITE_BYTES_MAX, 20);
  bytes.writeUInt32LE(1, 24);
  return bytes;
}

export function statfsAnswer(): Buffer {
  const bytes = Buffer.alloc(80);
  for (let index = 0; index < 5; index += 1) bytes.writeBigUInt64LE(1_000_000n, 8 * index);
  for (const [index, value] of [4096, 255, 4096].entries()) bytes.writeUInt32LE(value, 40 + 4 * index);
  return bytes;
}

export interface FolderEntry {
  readonly name: string;
  /** The kind in the way of `st_mode`, shifted by 12. */
  readonly kind: number;
}

/** As many entries from `start` on as fit. */
export function folderPage(entries: readonly FolderEntry[], start: number, bytesMax: number): Buffer {
  const records: Buffer[] = [];
  let bytes = 0;
  for (let index = start; index < entries.length; index += 1) {
    const name = Buffer.from(entries[index]!.name);
    const record = Buffer.alloc(Math.ceil((24 + name.length) / 8) * 8);
    record.writeBigUInt64LE(BigInt(index + 1), 0);
    record.writeBigUInt64LE(BigInt(index + 1), 8);
    record.writeUInt32LE(name.length, 16);
    record.writeUInt32LE(entries[index]!.kind, 20);
    name.copy(record, 24);
    bytes += record.length;
    if (bytes > bytesMax) break;
    records.push(record);
  }
  return Buffer.concat(records);
}
