/**
 * `/v1/deltas`: one side of a block delta at this server. A client opens a delta, calls it, and completes or
 * ends it. The server ends a delta that gets no call for five minutes, and removes its new file unless the
 * delta writes in place.
 */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import type { Clock } from '../base/clock.ts';
import { createLeasedMemory, type LeasedMemory } from '../base/leased-memory.ts';
import { type BlockThreads, openBlockThreads } from '../files/blocks/block-threads.ts';
import type { TreeWriter } from '../files/write/tree-writer-types.ts';
import type { DeltaSource, DeltaStart, DeltaTarget } from '../model/delta-sides.ts';
import { totalBytes } from '../model/delta-sides.ts';
import { DELTA_CALLS, type DeltaCall, DeltaOpenSchema } from '../peer-protocol/deltas.ts';
import { PEER_HEADER, PEER_LIMITS } from '../peer-protocol/messages.ts';
import {
  answerBatch,
  answerJson,
  type PeerCall,
  PeerRefusal,
  parseJson,
  readOnlyRefusal,
  receiveBody,
  receiveJson,
  sent,
} from './peer-call.ts';
import { describeSide, openSide, type PeerDeltaSide } from './peer-delta-side.ts';
import { type OfferedFolder, parsePeerPath } from './peer-paths.ts';

export interface PeerDeltas {
  open(call: PeerCall): Promise<void>;
  answer(call: PeerCall, id: string, name: string): Promise<void>;
  end(call: PeerCall, id: string): Promise<void>;
  close(): Promise<void>;
}

export interface PeerDeltasOptions {
  readonly folder: OfferedFolder;
  readonly specialModes: boolean;
  readonly writer: TreeWriter;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly isReadOnly: boolean;
  readonly signal: AbortSignal;
  /** Errors that have no caller. */
  readonly onFailure: (error: unknown) => void;
}

interface Delta {
  readonly id: string;
  readonly side: PeerDeltaSide;
  /**
   * For a target: how it began or ended. A repeated call, whose first answer was lost, gets the same answer.
   */
  begun?: Promise<DeltaStart>;
  completed?: Promise<string>;
  usedMs: number;
  callsUnderWay: number;
  /** Running calls, except `complete`. A client that lost its connection may come back while they run. */
  readonly works: Set<Promise<void>>;
  /** A target for comparison only. */
  readonly isDryRun: boolean;
  /** A target that is overwritten in place. */
  readonly inPlacePath: string | undefined;
  /** Its client ended it, or another delta took over its file: it accepts no more calls. */
  isOver: boolean;
  /** Waits for the running calls. */
  readonly onIdle: (() => void)[];
}

const DELTAS_MAX = 64;
/** A slow disk or a bandwidth limit at the other end may leave minutes between two calls. */
const IDLE_MAX_MS = 5 * 60_000;
const COMPLETED_MAX = 4_096;
const SWEPT_EVERY_MS = 5_000;
const READ_BYTES_MAX = 16 * 1024 * 1024;
const HEAD_BYTES_MAX = 4 * 1024 * 1024;

/** The deltas of one server. */
interface Deltas extends PeerDeltasOptions {
  readonly running: Map<string, Delta>;
  /** Tokens of completed deltas, for clients that lost the answer on the way. */
  readonly completed: Map<string, string>;
  /** The memory that the threads of targets write from. */
  readonly shared: LeasedMemory;
  /** Opened for the first delta. */
  threads: BlockThreads | undefined;
}

export function createPeerDeltas(options: PeerDeltasOptions): PeerDeltas {
  const deltas: Deltas = {
    ...options,
    running: new Map(),
    completed: new Map(),
    shared: createLeasedMemory({
      budget: options.budget,
      largestBytes: PEER_LIMITS.bodyBytesMax + HEAD_BYTES_MAX,
      open: (lengthBytes) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 }),
    }),
    threads: undefined,
  };
  const sweep = setInterval(() => endIdle(deltas), SWEPT_EVERY_MS);
  sweep.unref();
  return {
    open: (call) => open(deltas, call),
    answer: (call, id, name) => answer(deltas, call, { id, name }),
    async end(call, id) {
      const delta = deltas.running.get(id);
      if (delta) await endOnceIdle(deltas, delta);
      answerJson(call.response, 200, {});
    },
    async close() {
      clearInterval(sweep);
      await Promise.allSettled([...deltas.running.values()].map((delta) => endOnceIdle(deltas, delta)));
      await deltas.threads?.close();
    },
  };
}

async function open(deltas: Deltas, call: PeerCall): Promise<void> {
  const { budget, clock, folder, isReadOnly, running, signal, specialModes, writer } = deltas;
  const wish = await receiveJson(call, { budget, schema: DeltaOpenSchema });
  if (isReadOnly && wish.side === 'target' && !wish.isDryRun) throw readOnlyRefusal();
  if (running.size >= DELTAS_MAX)
    throw new DrayError('slowDown', 'Too many deltas are running. Try again later.', { retry: 'backoff' });
  const id = randomBytes(16).toString('hex');
  const isOverwriting = wish.side === 'target' && wish.isInPlace === true && !wish.isDryRun;
  const inPlacePath = isOverwriting ? parsePeerPath(wish.path) : undefined;
  // No await between the last check and `running.set`, or another call opens the same file.
  if (inPlacePath !== undefined)
    for (let other = overwriting(deltas, inPlacePath); other; other = overwriting(deltas, inPlacePath))
      await endOnceIdle(deltas, other);
  deltas.threads ??= openBlockThreads({ threads: availableParallelism(), signal });
  const side = openSide({ clock, folder, specialModes, writer, threads: deltas.threads }, wish);
  running.set(id, {
    id,
    side,
    inPlacePath,
    usedMs: clock.nowMs(),
    callsUnderWay: 0,
    works: new Set(),
    isDryRun: wish.isDryRun === true,
    isOver: false,
    onIdle: [],
  });
  answerJson(call.response, 200, { delta: id, ...describeSide(side, clock.nowMs()) });
}

async function answer(
  { budget, clock, completed, running, shared }: Deltas,
  call: PeerCall,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<void> {
  const delta = running.get(id);
  if (name === 'complete' && completed.has(id))
    return answerJson(call.response, 200, { token: completed.get(id) });
  const isEnded = delta?.isOver || (delta?.completed !== undefined && name !== 'complete');
  if (!delta || isEnded)
    throw new DrayError('notFound', 'This delta does not exist or has ended.', { data: { delta: id } });
  if (!Object.hasOwn(DELTA_CALLS, name))
    throw new PeerRefusal(404, 'unsupported', `A delta has no call "${name}".`);
  delta.callsUnderWay += 1;
  try {
    const work = carryOut({ call, budget, shared, delta, name: name as DeltaCall });
    // A completion waits for all other calls, and would wait for itself.
    if (name !== 'complete') delta.works.add(work);
    await work.finally(() => delta.works.delete(work));
    const token = name === 'complete' ? await delta.completed : undefined;
    if (token !== undefined && running.delete(id)) {
      remember(completed, id, token);
      delta.side.close();
    }
  } catch (error) {
    throw delta.side.named(error);
  } finally {
    delta.callsUnderWay -= 1;
    if (delta.callsUnderWay === 0) for (const resolve of delta.onIdle.splice(0)) resolve();
    delta.usedMs = clock.nowMs();
  }
}

function remember(completed: Map<string, string>, id: string, token: string): void {
  completed.set(id, token);
  for (const oldest of completed.keys()) {
    if (completed.size <= COMPLETED_MAX) break;
    completed.delete(oldest);
  }
}

async function end({ running }: Deltas, delta: Delta): Promise<void> {
  running.delete(delta.id);
  if (delta.side.kind === 'target') await delta.side.target.discard();
  delta.side.close();
}

/**
 * Only after its calls: a descriptor closed under a running thread could become the next file's, and that
 * file would be overwritten.
 */
async function endOnceIdle(deltas: Deltas, delta: Delta): Promise<void> {
  delta.isOver = true;
  if (delta.callsUnderWay > 0) await new Promise<void>((resolve) => delta.onIdle.push(resolve));
  if (deltas.running.has(delta.id)) await end(deltas, delta);
}

/**
 * Two deltas that overwrite one file at once would mix their content, and so would a client that returns
 * while its earlier writes still run. The newer one wins: the older ends once its calls have ended.
 */
function overwriting({ running }: Deltas, path: string): Delta | undefined {
  return [...running.values()].find((delta) => delta.inPlacePath === path);
}

function endIdle(deltas: Deltas): void {
  const { clock, onFailure, running } = deltas;
  for (const delta of running.values())
    if (delta.callsUnderWay === 0 && clock.nowMs() - delta.usedMs > IDLE_MAX_MS)
      end(deltas, delta).catch(onFailure);
}

interface Carrying {
  /** The memory that its threads write from. */
  readonly shared: LeasedMemory;
  readonly call: PeerCall;
  readonly budget: Budget;
  readonly delta: Delta;
  readonly name: DeltaCall;
}

async function carryOut({ budget, call, delta, name, shared }: Carrying): Promise<void> {
  const { side } = delta;
  const { request, response, signal } = call;
  using body = await receiveBody(call, {
    budget,
    maxBytes: PEER_LIMITS.bodyBytesMax + HEAD_BYTES_MAX,
    ...(name === 'write' ? { shared } : {}),
  });
  const headBytes = Number(request.headers[PEER_HEADER.headBytes] ?? body.bytes.length);
  if (!Number.isSafeInteger(headBytes) || headBytes < 0 || headBytes > body.bytes.length)
    throw new PeerRefusal(
      400,
      'usage',
      `The header ${PEER_HEADER.headBytes} does not say where the bytes begin.`,
    );
  const parsed = v.safeParse(DELTA_CALLS[name], parseJson(new Uint8Array(body.bytes.subarray(0, headBytes))));
  if (!parsed.success)
    throw new PeerRefusal(400, 'usage', `The call is malformed: ${parsed.issues[0].message}.`);
  const input = parsed.output as never;
  const bytes = body.bytes.subarray(headBytes);
  if (name === 'sign') {
    const { end, start } = input as { start: number; end: number };
    if (end < start || end - start > PEER_LIMITS.signedBytesMax) throw outOfBounds();
    const of = side.kind === 'source' ? side.source : side.target;
    const limit = side.kind === 'source' ? side.source.sizeBytes : side.target.oldBytes;
    if (end > limit) throw outOfBounds();
    return answerBytes(call, {}, await of.sign(start, end, signal));
  }
  if (name === 'cut') {
    const { digests, lengths } = await (side.kind === 'source' ? side.source : side.target).cut(signal);
    const lengthBytes = new Uint8Array(lengths.buffer, lengths.byteOffset, lengths.byteLength);
    return answerBatch(
      response,
      { chunks: lengths.length },
      { pieces: [lengthBytes, digests], sizeBytes: lengthBytes.length + digests.length },
    );
  }
  if (side.kind === 'source') {
    // From here on it may wait, and other calls must be able to free memory.
    body[Symbol.dispose]();
    return await carryOutAtSource({ call, shared, name }, side.source, input);
  }
  return await carryOutAtTarget({ call, delta, name, bytes }, side.target, input);
}

async function carryOutAtSource(
  { call, name, shared }: Pick<Carrying, 'call' | 'name' | 'shared'>,
  source: DeltaSource,
  input: never,
): Promise<void> {
  const { response, signal } = call;
  switch (name) {
    case 'read': {
      const { ranges, sign } = input as { ranges: number[]; sign: boolean };
      const list = rangesOf(ranges, source.sizeBytes);
      const sizeBytes = totalBytes(list);
      if (sizeBytes > READ_BYTES_MAX) throw outOfBounds();
      const lease = await shared.take(sizeBytes, signal);
      try {
        const into = lease.bytes.subarray(0, sizeBytes);
        const digests = await source.read(list, into, { sign, signal });
        // A socket does not accept shared memory.
        const content = Buffer.from(into);
        const pieces = digests ? [digests, content] : [content];
        const head = { digestBytes: digests?.length ?? 0 };
        answerBatch(response, head, { pieces, sizeBytes: head.digestBytes + content.length });
        await sent(call);
      } finally {
        lease.release();
      }
      return;
    }
    case 'check':
      await source.checkUnchanged();
      return answerJson(response, 200, {});
    default:
      throw new PeerRefusal(409, 'usage', `The source of a delta has no call "${name}".`);
  }
}

async function carryOutAtTarget(
  { bytes, call, delta, name }: Omit<Carrying, 'budget' | 'shared'> & { readonly bytes: Buffer },
  target: DeltaTarget,
  input: never,
): Promise<void> {
  const { response, signal } = call;
  if (delta.isDryRun) throw new PeerRefusal(403, 'accessDenied', 'A dry run writes nothing.');
  if (name !== 'begin') {
    if (!delta.begun) throw new PeerRefusal(409, 'usage', `Call "begin" before "${name}".`);
    await delta.begun;
  }
  switch (name) {
    case 'begin':
      delta.begun ??= target.begin(input);
      return answerJson(response, 200, { starts: await delta.begun });
    case 'write': {
      const { ranges } = input as { ranges: number[] };
      const list = rangesOf(ranges, Number.MAX_SAFE_INTEGER);
      if (totalBytes(list) !== bytes.length)
        throw new PeerRefusal(400, 'usage', 'The ranges do not match the bytes.');
      return answerBytes(call, {}, await target.write(list, bytes, signal));
    }
    case 'clear':
      await target.clear(rangesOf((input as { ranges: number[] }).ranges, Number.MAX_SAFE_INTEGER), signal);
      return answerJson(response, 200, {});
    case 'copy':
      await target.copy(Float64Array.from((input as { moves: number[] }).moves), signal);
      return answerJson(response, 200, {});
    case 'complete':
      delta.completed ??= Promise.allSettled(delta.works).then(() => target.complete());
      return answerJson(response, 200, { token: await delta.completed });
    default:
      throw new PeerRefusal(409, 'usage', `The target of a delta has no call "${name}".`);
  }
}

function answerBytes({ response }: PeerCall, head: object, bytes: Uint8Array): void {
  answerBatch(response, head, { pieces: [bytes], sizeBytes: bytes.length });
}

function rangesOf(list: readonly number[], limit: number): Float64Array<ArrayBuffer> {
  let last = 0;
  for (let at = 0; at < list.length; at += 2) {
    const [start, end] = [list[at]!, list[at + 1] ?? -1];
    if (start < last || end <= start || end > limit) throw outOfBounds();
    last = end;
  }
  return Float64Array.from(list);
}

function outOfBounds(): PeerRefusal {
  return new PeerRefusal(416, 'usage', 'A range is outside the file, or too long for one call.');
}
