/**
 * A thread that computes digests: one piece of one digest a message. The pieces of one digest are answered in
 * order. Those of several MD5s are worked on side by side: four take as long as one, so a piece waits a
 * moment for others.
 */
import { createHash, type Hash } from 'node:crypto';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { POOL_END, type PoolAnswer, type PoolRequest } from '../../base/worker-pool.ts';
import {
  MD5_LANES,
  type Md5Lanes,
  type Md5Piece,
  openMd5Lanes,
  type RunningMd5,
} from '../../checksums/md5-lanes.ts';

export interface DigestTask {
  /** The id of a digest within its thread. */
  readonly digest: number;
  readonly algorithm: 'md5' | 'sha256';
  /** The next bytes; absent at the end. */
  readonly bytes?: Uint8Array;
}

type DigestRequest = PoolRequest<DigestTask>;

/** An MD5 and its unanswered requests, in order; without a piece: the end. */
interface Line {
  readonly md5: RunningMd5;
  readonly requests: { readonly id: number; readonly piece: Md5Piece | 'end' }[];
}

const port = parentPort!;
const lanes = openLanes();
const running = new Map<number, Hash>();
const lines = new Map<number, Line>();

/** The longest that a piece waits for others; less than the fetch of the next one takes. */
const WAIT_MS = 2;
let waiting: NodeJS.Timeout | undefined;

port.on('message', (message: DigestRequest | typeof POOL_END) => {
  take(message);
  if (lanes) workWhileFull(lanes);
});

function workWhileFull(open: Md5Lanes): void {
  workWhile(open, isFull);
  if (waiting || !hasWork()) return;
  waiting = setTimeout(() => {
    waiting = undefined;
    workWhile(open, hasWork);
  }, WAIT_MS);
}

function workWhile(open: Md5Lanes, isWorth: () => boolean): void {
  for (takeAll(); isWorth(); takeAll()) workOn(open);
}

function takeAll(): void {
  for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port)) take(more.message);
}

/** Enough open MD5s have a piece here to fill the lanes, or one is at its end. */
function isFull(): boolean {
  const fronts = [...lines.values()].flatMap(({ requests: [next] }) => (next ? [next.piece] : []));
  return fronts.includes('end') || (fronts.length > 0 && fronts.length >= Math.min(MD5_LANES, lines.size));
}

function hasWork(): boolean {
  return [...lines.values()].some(({ requests }) => requests.length > 0);
}

/** Undefined where the processor has no vectors; what Node has does it then, one after the other. */
function openLanes(): Md5Lanes | undefined {
  try {
    return openMd5Lanes();
  } catch {
    return undefined;
  }
}

function take(message: DigestRequest | typeof POOL_END): void {
  if (message === POOL_END) port.close();
  else if (lanes && message.task.algorithm === 'md5') queue(lanes, message);
  else answer(message.id, hash(message.task));
}

/** @param result The digest, for the last request. Other answers report that the bytes are free. */
function answer(id: number, result: Uint8Array | undefined): void {
  port.postMessage({ id, result } satisfies PoolAnswer<Uint8Array | undefined>);
}

function hash({ algorithm, bytes, digest }: DigestTask): Uint8Array | undefined {
  const known = running.get(digest) ?? createHash(algorithm);
  if (bytes) {
    known.update(bytes);
    running.set(digest, known);
    return undefined;
  }
  running.delete(digest);
  return known.digest();
}

function queue({ start }: Md5Lanes, { id, task: { bytes, digest } }: DigestRequest): void {
  const line = lines.get(digest) ?? { md5: start(), requests: [] };
  lines.set(digest, line);
  line.requests.push({ id, piece: bytes ? { md5: line.md5, bytes, takenBytes: 0 } : 'end' });
}

/** Takes a part of the waiting pieces; the next call continues with the rest. */
function workOn({ end, take: takeTogether }: Md5Lanes): void {
  const pieces: Md5Piece[] = [];
  for (const [digest, { md5, requests }] of lines) {
    const [next] = requests;
    if (next?.piece === 'end') {
      lines.delete(digest);
      answer(next.id, end(md5));
    } else if (next && pieces.length < MD5_LANES) pieces.push(next.piece);
  }
  if (pieces.length > 0) takeTogether(pieces);
  for (const line of lines.values()) answerDone(line);
}

function answerDone({ requests }: Line): void {
  for (
    let [next] = requests;
    next && next.piece !== 'end' && next.piece.takenBytes === next.piece.bytes.length;
    [next] = requests
  ) {
    requests.shift();
    answer(next.id, undefined);
  }
}
