/**
 * A thread that computes digests: one piece of one digest a message. The pieces of one digest are answered in
 * order. Those of several MD5s are worked on side by side: four take as long as one, so a piece waits a
 * moment for others.
 */
import { createHash, type Hash } from 'node:crypto';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import {
  MD5_LANES,
  type Md5Lanes,
  type Md5Piece,
  openMd5Lanes,
  type RunningMd5,
} from '../../checksums/md5-lanes.ts';

export interface DigestRequest {
  readonly id: number;
  readonly algorithm: 'md5' | 'sha256';
  /** The next bytes; absent at the end. */
  readonly bytes?: Uint8Array;
}

export interface DigestAnswer {
  readonly id: number;
  /** At the end; otherwise the bytes are no longer needed. */
  readonly digest?: Uint8Array;
}

/** An MD5 and what is to come into it. */
interface Line {
  readonly id: number;
  readonly md5: RunningMd5;
  /** In order; without a piece: the end. */
  readonly requests: (Md5Piece | 'end')[];
}

const port = parentPort!;
const lanes = openLanes();
const running = new Map<number, Hash>();
const lines = new Map<number, Line>();

/** What a piece waits for others at most; less than it takes to fetch the next. */
const WAIT_MS = 2;
let waiting: NodeJS.Timeout | undefined;

port.on('message', (message: DigestRequest | 'end') => {
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

/** Of the MD5s that are open, as many have a piece here as fit side by side; or one is at its end. */
function isFull(): boolean {
  const fronts = [...lines.values()].flatMap(({ requests: [next] }) => (next === undefined ? [] : [next]));
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

function take(message: DigestRequest | 'end'): void {
  if (message === 'end') port.close();
  else if (lanes && message.algorithm === 'md5') queue(lanes, message);
  else port.postMessage(hash(message));
}

function hash({ algorithm, bytes, id }: DigestRequest): DigestAnswer {
  const known = running.get(id) ?? createHash(algorithm);
  if (bytes) {
    known.update(bytes);
    running.set(id, known);
    return { id };
  }
  running.delete(id);
  return { id, digest: known.digest() };
}

function queue({ start }: Md5Lanes, { bytes, id }: DigestRequest): void {
  const line = lines.get(id) ?? { id, md5: start(), requests: [] };
  lines.set(id, line);
  line.requests.push(bytes ? { md5: line.md5, bytes, takenBytes: 0 } : 'end');
}

/** Some of what is here; the next call goes on with the rest. */
function workOn({ end, take: takeTogether }: Md5Lanes): void {
  const pieces: Md5Piece[] = [];
  for (const line of lines.values()) {
    const [next] = line.requests;
    if (next === 'end') {
      lines.delete(line.id);
      port.postMessage({ id: line.id, digest: end(line.md5) } satisfies DigestAnswer);
    } else if (next && pieces.length < MD5_LANES) pieces.push(next);
  }
  if (pieces.length > 0) takeTogether(pieces);
  for (const line of lines.values()) answerDone(line);
}

function answerDone({ id, requests }: Line): void {
  for (
    let [next] = requests;
    next && next !== 'end' && next.takenBytes === next.bytes.length;
    [next] = requests
  ) {
    requests.shift();
    port.postMessage({ id } satisfies DigestAnswer);
  }
}
