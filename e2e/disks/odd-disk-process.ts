/**
 * A process for `odd-disk.ts`: a FUSE file system that shows a folder, with the faults that it was told.
 * Descriptor 3 is the open `/dev/fuse`. BACKING FAULTS
 */
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DiskFaults } from './disk-faults.ts';
import {
  answerOf,
  attributeAnswer,
  entryAnswer,
  type FuseRequest,
  folderPage,
  initAnswer,
  namesAt,
  openAnswer,
  parseRequest,
  ROOT_NODE,
  statfsAnswer,
  WRITE_BYTES_MAX,
} from './fuse-messages.ts';

const DEVICE = 3;
const backing = process.argv[2]!;
const faults = JSON.parse(process.argv[3]!) as DiskFaults;

/** Paths are relative to `backing`; '' is the root. */
const pathOfNode = new Map<bigint, string>([[ROOT_NODE, '']]);
const nodeOfPath = new Map<string, bigint>([['', ROOT_NODE]]);
/** By handle. */
const opened = new Map<number, { readonly fd: number; readonly node: bigint }>();
let lastNode = ROOT_NODE;
let lastHandle = 0;

class Refusal extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

function refuseIf(errno: string | undefined): void {
  if (errno !== undefined) throw new Refusal(errno);
}

function pathOf(node: bigint): string {
  const path = pathOfNode.get(node);
  if (path === undefined) throw new Refusal('ESTALE');
  return path;
}

const at = (path: string): string => join(backing, path);

function below(node: bigint, name: string): string {
  if (Buffer.byteLength(name) > (faults.nameBytesMax ?? 255)) throw new Refusal('ENAMETOOLONG');
  const folder = pathOf(node);
  const folded = name.toLowerCase();
  const known = faults.foldsCase && readdirSync(at(folder)).find((other) => other.toLowerCase() === folded);
  return join(folder, known || name);
}

function nodeFor(path: string): bigint {
  const known = nodeOfPath.get(path);
  if (known !== undefined) return known;
  lastNode += 1n;
  nodeOfPath.set(path, lastNode);
  pathOfNode.set(lastNode, path);
  return lastNode;
}

function forget(path: string): void {
  const node = nodeOfPath.get(path);
  nodeOfPath.delete(path);
  if (node !== undefined) pathOfNode.delete(node);
}

function move(from: string, to: string): void {
  forget(to);
  for (const [path, node] of [...nodeOfPath]) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    const moved = to + path.slice(from.length);
    nodeOfPath.delete(path);
    nodeOfPath.set(moved, node);
    pathOfNode.set(node, moved);
  }
}

function isNamed(path: string, names: readonly string[] | undefined): boolean {
  return names?.some((name) => path.endsWith(name)) ?? false;
}

function shown(path: string, stats: BigIntStats): BigIntStats {
  const seen = Object.assign(Object.create(null) as BigIntStats, stats);
  if (isNamed(path, faults.sizesOfZero)) seen.size = 0n;
  if (isNamed(path, faults.sizesOf4096)) seen.size = 4096n;
  if (faults.timeStepS !== undefined) {
    const step = BigInt(faults.timeStepS) * 1_000_000_000n;
    for (const name of ['atimeNs', 'mtimeNs'] as const) seen[name] = (seen[name] / step) * step;
  }
  if (faults.chmod === 'ignored' && (stats.mode & 0o170000n) === 0o100000n) seen.mode = 0o100755n;
  return seen;
}

/** A removed file that is still open is reached by one of its descriptors. */
function statOf(node: bigint, handle?: number): Buffer {
  const path = pathOfNode.get(node);
  const byHandle = handle === undefined ? undefined : opened.get(handle);
  const any =
    byHandle ?? (path === undefined ? [...opened.values()].find((one) => one.node === node) : undefined);
  const stats = any ? fstatSync(any.fd, { bigint: true }) : lstatSync(at(pathOf(node)), { bigint: true });
  return attributeAnswer(shown(path ?? '', stats));
}

function entryOf(path: string): Buffer {
  const stats = lstatSync(at(path), { bigint: true });
  return entryAnswer(nodeFor(path), shown(path, stats));
}

function keep(fd: number, node: bigint): Buffer {
  lastHandle += 1;
  opened.set(lastHandle, { fd, node });
  return openAnswer(lastHandle, faults.noSharedMemory === true || faults.sizesOfZero !== undefined);
}

function setAttributes(node: bigint, body: Buffer): Buffer {
  const valid = body.readUInt32LE(0);
  const path = pathOf(node);
  const handle = (valid & 64) === 0 ? undefined : Number(body.readBigUInt64LE(8));
  const fd = handle === undefined ? undefined : opened.get(handle)?.fd;
  if ((valid & 1) !== 0 && faults.chmod !== 'ignored') {
    refuseIf(faults.chmod);
    chmodSync(at(path), body.readUInt32LE(68) & 0o7777);
  }
  if ((valid & 8) !== 0) {
    const size = Number(body.readBigUInt64LE(16));
    if (fd === undefined) truncateSync(at(path), size);
    else ftruncateSync(fd, size);
  }
  if ((valid & 32) !== 0 && faults.utimes !== 'ignored') {
    // The kernel sends a time of its own with a write or a truncation.
    if ((valid & (8 | 256)) === 0) refuseIf(faults.utimes);
    const seconds = Number(body.readBigInt64LE(40)) + body.readUInt32LE(60) / 1e9;
    const time = (valid & 256) === 0 ? seconds : Date.now() / 1000;
    lutimesSync(at(path), time, time);
  }
  return statOf(node, handle);
}

function readFolder(body: Buffer, node: bigint): Buffer {
  const kinds = readdirSync(at(pathOf(node)), { withFileTypes: true });
  const entries = kinds.map((entry) => ({
    name: entry.name,
    kind: entry.isDirectory() ? 4 : entry.isSymbolicLink() ? 10 : 8,
  }));
  return folderPage(entries, Number(body.readBigUInt64LE(8)), body.readUInt32LE(16));
}

function fdOf(body: Buffer): number {
  const fd = opened.get(Number(body.readBigUInt64LE(0)))?.fd;
  if (fd === undefined) throw new Refusal('EBADF');
  return fd;
}

function readContent(node: bigint, body: Buffer): Buffer {
  const path = pathOfNode.get(node) ?? '';
  const position = Number(body.readBigUInt64LE(8));
  const failure = faults.reads?.find(({ name }) => path.endsWith(name));
  if (failure && position >= (failure.from ?? 0)) throw new Refusal(failure.errno);
  const into = Buffer.alloc(body.readUInt32LE(16));
  return into.subarray(0, readSync(fdOf(body), into, 0, into.length, position));
}

function writeContent(body: Buffer): Buffer {
  const length = body.readUInt32LE(16);
  const answer = Buffer.alloc(8);
  const position = Number(body.readBigUInt64LE(8));
  answer.writeUInt32LE(writeSync(fdOf(body), body, 40, length, position), 0);
  return answer;
}

function rename(node: bigint, body: Buffer, nameOffset: number): void {
  const [from, to] = namesAt(body, nameOffset);
  const paths = { from: below(node, from!), to: below(body.readBigUInt64LE(0), to!) };
  renameSync(at(paths.from), at(paths.to));
  move(paths.from, paths.to);
}

function renameFlagged(node: bigint, body: Buffer): void {
  const flags = body.readUInt32LE(8);
  if (flags !== 0) {
    if (flags !== 1 || faults.renameNoReplace === 'EINVAL') throw new Refusal('EINVAL');
    const to = below(body.readBigUInt64LE(0), namesAt(body, 16)[1]!);
    if (lstatSync(at(to), { throwIfNoEntry: false })) throw new Refusal('EEXIST');
  }
  rename(node, body, 16);
}

function open(node: bigint, body: Buffer): Buffer {
  // The kernel sends appends as writes at a position.
  const flags = body.readUInt32LE(0) & ~(constants.O_APPEND | constants.O_NOFOLLOW | constants.O_CREAT);
  refuseIf(faults.opens?.find(({ name }) => pathOf(node).endsWith(name))?.errno);
  return keep(openSync(at(pathOf(node)), flags), node);
}

function create(node: bigint, body: Buffer): Buffer {
  const path = below(node, namesAt(body, 16)[0]!);
  const flags = (body.readUInt32LE(0) & ~constants.O_APPEND & ~constants.O_NOFOLLOW) | constants.O_CREAT;
  const fd = openSync(at(path), flags, body.readUInt32LE(4) & 0o7777);
  return Buffer.concat([entryOf(path), keep(fd, nodeFor(path))]);
}

const NONE = Buffer.alloc(0);
/** Answers with what it returns, if that is a buffer. */
type Handler = (request: FuseRequest) => unknown;

const HANDLERS: Readonly<Record<string, Handler>> = {
  init: () => initAnswer(),
  statfs: () => statfsAnswer(),
  lookup: ({ body, node }) => entryOf(below(node, namesAt(body, 0)[0]!)),
  getattr: ({ body, node }) =>
    statOf(node, (body.readUInt32LE(0) & 1) === 0 ? undefined : Number(body.readBigUInt64LE(8))),
  setattr: ({ body, node }) => setAttributes(node, body),
  readlink: ({ node }) => readlinkSync(at(pathOf(node)), 'buffer'),
  symlink({ body, node }) {
    refuseIf(faults.symlinks);
    const [name, target] = namesAt(body, 0);
    symlinkSync(target!, at(below(node, name!)));
    return entryOf(below(node, name!));
  },
  mkdir({ body, node }) {
    const path = below(node, namesAt(body, 8)[0]!);
    mkdirSync(at(path), body.readUInt32LE(0) & 0o7777);
    return entryOf(path);
  },
  unlink({ body, node }) {
    const path = below(node, namesAt(body, 0)[0]!);
    unlinkSync(at(path));
    forget(path);
  },
  rmdir({ body, node }) {
    const path = below(node, namesAt(body, 0)[0]!);
    rmdirSync(at(path));
    forget(path);
  },
  rename: ({ body, node }) => rename(node, body, 8),
  rename2: ({ body, node }) => renameFlagged(node, body),
  link({ body, node }) {
    refuseIf(faults.links);
    const path = below(node, namesAt(body, 8)[0]!);
    linkSync(at(pathOf(body.readBigUInt64LE(0))), at(path));
    return entryOf(path);
  },
  open: ({ body, node }) => open(node, body),
  create: ({ body, node }) => create(node, body),
  read: ({ body, node }) => readContent(node, body),
  write: ({ body }) => writeContent(body),
  release({ body }) {
    closeSync(fdOf(body));
    opened.delete(Number(body.readBigUInt64LE(0)));
  },
  fsync: ({ body }) => fsyncSync(fdOf(body)),
  flush: () => NONE,
  opendir: () => openAnswer(0, false),
  readdir: ({ body, node }) => readFolder(body, node),
  releasedir: () => NONE,
  fsyncdir: () => NONE,
};

function answer(request: FuseRequest): void {
  const { kind, unique } = request;
  if (kind === 'forget' || kind === 'batchForget' || kind === 'interrupt') return;
  let reply: Buffer;
  try {
    const handler = kind === undefined ? undefined : HANDLERS[kind];
    if (!handler) throw new Refusal('ENOSYS');
    const body = handler(request);
    reply = answerOf(unique, undefined, Buffer.isBuffer(body) ? body : NONE);
  } catch (error) {
    reply = answerOf(unique, (error as NodeJS.ErrnoException).code ?? 'EIO');
  }
  try {
    writeSync(DEVICE, reply);
  } catch (error) {
    // The caller was interrupted and does not wait any more.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const request = Buffer.alloc(WRITE_BYTES_MAX + 4096);
process.umask(0);

function next(): void {
  read(DEVICE, request, 0, request.length, null, (error, length) => {
    // The disk was unmounted.
    if (error?.code === 'ENODEV') process.exit(0);
    if (!error) answer(parseRequest(request.subarray(0, length)));
    next();
  });
}

process.send?.('ready');
next();
