/**
 * `/v1/uploads`: large files that arrive in ranges, over any number of connections, and resume after an
 * interruption. Received ranges stay when the client disconnects: the session for an hour, the bytes for a
 * week. A client that begins the same content again learns which ranges are there. Only the session's number
 * gives access to it, and nothing of the file is visible until it is completed.
 */

import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import type { Clock } from '../base/clock.ts';
import { combineCrc64 } from '../checksums/crc-combine.ts';
import { crc64Nvme, formatCrc64 } from '../checksums/crc64-nvme.ts';
import type { FileMeta, LargeFile, TreeWriter } from '../files/write/tree-writer-types.ts';
import { travelling } from '../model/special-modes.ts';
import { PEER_HEADER, PEER_LIMITS } from '../peer-protocol/messages.ts';
import { openRangeJournal, type RangeJournal } from '../transfer/download/range-journal.ts';
import { answerJson, bodyBytesOf, type PeerCall, PeerRefusal, parseJson, receiveBody } from './peer-call.ts';
import { parsePeerPath } from './peer-paths.ts';
import { createRangeReceiver } from './peer-ranges.ts';
import { writtenResult } from './peer-writes.ts';

export interface PeerUploads {
  begin(call: PeerCall): Promise<void>;
  put(call: PeerCall, id: string): Promise<void>;
  holes(call: PeerCall, id: string): Promise<void>;
  /** The received ranges, for a client that resumes. */
  state(call: PeerCall, id: string): Promise<void>;
  complete(call: PeerCall, id: string): Promise<void>;
  discard(call: PeerCall, id: string): Promise<void>;
  /** Keeps running uploads for another run of the server. */
  close(): Promise<void>;
}

interface Session {
  readonly id: string;
  readonly content: string;
  readonly meta: FileMeta;
  /**
   * Its size is given at the end: every range but the last has `rangeBytes`. It does not outlive the server.
   */
  readonly isOpenEnded: boolean;
  readonly rangeBytes: number;
  readonly file: LargeFile;
  readonly journal: RangeJournal | undefined;
  /** Written ranges, by start. */
  readonly ranges: Map<number, WrittenRange>;
  /** Ranges being received, by start. */
  readonly writing: Map<number, Promise<void>>;
  usedMs: number;
  /** Running calls. */
  readonly calls: Set<Promise<unknown>>;
}

interface WrittenRange {
  readonly sum: bigint;
  readonly sizeBytes: number;
}

const KIB = 1024;
const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Begin = v.strictObject({
  path: v.string(),
  /** Absent: given at completion. */
  sizeBytes: v.optional(Size),
  mtimeNs: v.pipe(v.string(), v.regex(/^-?\d{1,20}$/)),
  mode: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0o7777))),
  /** Identifies the content: equal only if every byte is. */
  content: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
  rangeBytes: v.pipe(Size, v.minValue(64 * KIB), v.maxValue(PEER_LIMITS.bodyBytesMax)),
  /** Only resume an upload of this content; 404 if there is none. */
  resume: v.optional(v.boolean()),
});
const Nothing = v.strictObject({});
const Holes = v.strictObject({ ranges: v.pipe(v.array(Size), v.maxLength(100_000)) });
const Complete = v.strictObject({
  crc64: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))),
  /** For uploads begun without a size. */
  sizeBytes: v.optional(Size),
});

const IDLE_MAX_MS = 60 * 60_000;
const SWEPT_EVERY_MS = 60_000;
const COMPLETED_MAX = 4_096;

export function createPeerUploads({
  budget,
  clock,
  onFailure,
  specialModes,
  writer,
}: {
  readonly writer: TreeWriter;
  readonly specialModes: boolean;
  readonly budget: Budget;
  readonly clock: Clock;
  /** Errors that have no caller. */
  readonly onFailure: (error: unknown) => void;
}): PeerUploads {
  const receiver = createRangeReceiver(budget);
  const sessions = new Map<string, Session>();
  const beginning = new Set<string>();
  /** Answers to completions, for clients that lost the first one on the way. */
  const completed = new Map<string, unknown>();
  const completing = new Map<string, Promise<unknown>>();
  const remember = (id: string, answer: unknown) => {
    completed.set(id, answer);
    for (const oldest of completed.keys()) {
      if (completed.size <= COMPLETED_MAX) break;
      completed.delete(oldest);
    }
  };
  const sweep = setInterval(() => {
    for (const session of sessions.values())
      if (session.calls.size === 0 && clock.nowMs() - session.usedMs > IDLE_MAX_MS)
        leave(session).catch(onFailure);
  }, SWEPT_EVERY_MS);
  sweep.unref();

  async function leave(session: Session): Promise<void> {
    sessions.delete(session.id);
    await Promise.allSettled(session.calls);
    await session.journal?.close();
    await session.file.leave();
  }

  /** No client can use it any more. */
  async function drop(session: Session): Promise<void> {
    sessions.delete(session.id);
    await session.journal?.remove();
    await session.file.discard();
  }

  async function json<T>(call: PeerCall, schema: v.GenericSchema<unknown, T>): Promise<T> {
    const body = await receiveBody(call, { budget, maxBytes: PEER_LIMITS.jsonBytesMax });
    try {
      const parsed = v.safeParse(schema, parseJson(body.bytes));
      if (parsed.success) return parsed.output;
      throw new PeerRefusal(400, 'usage', `The body is malformed: ${parsed.issues[0].message}.`);
    } finally {
      body.release();
    }
  }

  async function using<T>(id: string, work: (session: Session) => Promise<T>): Promise<T> {
    const session = sessions.get(id);
    if (!session) throw noUpload(id);
    const call = work(session);
    session.calls.add(call);
    try {
      return await call;
    } finally {
      session.calls.delete(call);
      session.usedMs = clock.nowMs();
    }
  }

  async function open({
    content: given,
    mode,
    mtimeNs,
    path: text,
    rangeBytes,
    resume = false,
    sizeBytes,
  }: v.InferOutput<typeof Begin>): Promise<Session> {
    const path = parsePeerPath(text);
    const isOpenEnded = sizeBytes === undefined;
    if (isOpenEnded && given !== undefined)
      throw new PeerRefusal(
        400,
        'usage',
        'An upload of unknown size cannot be resumed. Leave out "content".',
      );
    const content = given ?? randomBytes(16).toString('hex');
    const key = [path, content, rangeBytes, sizeBytes, mtimeNs, mode].join('\0');
    const known = [...sessions.values()].find((one) => one.content === key);
    if (known) return known;
    if (sessions.size + beginning.size >= PEER_LIMITS.uploadsMax)
      throw new DrayError('slowDown', 'Too many uploads are running. Try again later.', { retry: 'backoff' });
    if (beginning.has(key))
      throw new DrayError('slowDown', 'The same upload is being started. Try again.', { retry: 'retry' });
    beginning.add(key);
    try {
      const meta: FileMeta = {
        path,
        sizeBytes: sizeBytes ?? 0,
        mtimeNs: BigInt(mtimeNs),
        executable: false,
        ...travelling(mode, { specialModes }),
      };
      const file = await writer.openLarge(meta, isOpenEnded ? { isOpenEnded } : { content: key });
      try {
        const journal =
          sizeBytes === undefined
            ? undefined
            : await openRangeJournal(file.notesPath!, { etag: content, sizeBytes, rangeBytes });
        const session: Session = {
          id: randomBytes(16).toString('hex'),
          content: key,
          meta,
          isOpenEnded,
          rangeBytes,
          file,
          journal,
          ranges: new Map(),
          writing: new Map(),
          usedMs: clock.nowMs(),
          calls: new Set(),
        };
        await takeNoted(session, budget);
        if (resume && session.ranges.size === 0) {
          await journal?.remove();
          throw noUpload(session.id);
        }
        sessions.set(session.id, session);
        return session;
      } catch (error) {
        await file.discard();
        throw error;
      }
    } finally {
      beginning.delete(key);
    }
  }

  /** Written straight to the disk; it counts once its checksum was verified. */
  async function receiveRange(
    session: Session,
    { end, start }: { readonly start: number; readonly end: number },
    call: PeerCall,
  ): Promise<void> {
    const { file, id, journal, ranges } = session;
    const told = call.request.headers[PEER_HEADER.crc64];
    const sizeBytes = end - start;
    const known = ranges.get(start);
    // Sent again because its answer was lost: the range exists and stays unchanged.
    const isThere = known?.sizeBytes === sizeBytes && formatCrc64(known.sum) === told;
    if (!sessions.has(id)) throw noUpload(id);
    if (!isThere) ranges.delete(start);
    const sum = await receiver.receive(call, async (offset, chunks) => {
      if (!isThere) await file.place(start + offset, chunks);
    });
    if (formatCrc64(sum) !== told)
      throw new DrayError('checksumRefused', 'The range was damaged on its way. Send it again.', {
        retry: 'retry',
      });
    if (isThere) return;
    file.accept(start, sizeBytes);
    await journal?.note({ start, end }, sum);
    ranges.set(start, { sum, sizeBytes });
  }

  /** Bytes of an interrupted range, of this run or an earlier one, may be there. */
  async function makeHole(
    { file, id, ranges }: Session,
    { end, start }: { readonly start: number; readonly end: number },
  ): Promise<void> {
    if (ranges.has(start)) return;
    const sizeBytes = end - start;
    const sum = sumOfZeros(sizeBytes);
    const permit = await budget.acquire(sizeBytes);
    try {
      if (!sessions.has(id)) throw noUpload(id);
      const bytes = await file.read(start, Buffer.allocUnsafeSlow(sizeBytes));
      if (crc64Nvme(bytes) !== sum) await file.place(start, [bytes.fill(0)]);
    } finally {
      permit.release();
    }
    file.accept(start, sizeBytes);
    ranges.set(start, { sum, sizeBytes });
  }

  /**
   * From here on no range is accepted, and running ones are awaited: the verified bytes are the ones put in
   * place.
   */
  async function finish(
    session: Session,
    { crc64, sizeBytes }: { readonly sizeBytes: number; readonly crc64: string | undefined },
  ): Promise<unknown> {
    sessions.delete(session.id);
    await Promise.allSettled(session.calls);
    try {
      const sum = formatCrc64(wholeSum(session, sizeBytes));
      if (crc64 !== undefined && sum !== crc64)
        throw new DrayError('checksumRefused', `${session.meta.path} does not match the announced content.`, {
          data: { path: session.meta.path },
        });
      await session.journal?.remove();
      return { ...writtenResult(await session.file.commit({ sizeBytes })), crc64: sum };
    } catch (error) {
      // It can never be completed, so the next attempt starts again.
      await drop(session);
      throw error;
    }
  }

  return {
    async begin(call) {
      const session = await open(await json(call, Begin));
      session.usedMs = clock.nowMs();
      answerJson(call.response, 200, { upload: session.id, received: [...session.ranges.keys()] });
    },
    put: (call, id) =>
      using(id, async (session) => {
        const start = Number(call.query.get('at') ?? Number.NaN);
        const sentBytes = bodyBytesOf(call.request);
        const end = session.isOpenEnded
          ? endOfOpenRange(session, start, sentBytes)
          : endOfRange(session, start);
        if (sentBytes !== end - start)
          throw new PeerRefusal(400, 'usage', `The range at ${start} has ${end - start} bytes.`);
        await inTurn(session, start, () => receiveRange(session, { start, end }, call));
        answerJson(call.response, 200, {});
      }),
    holes: (call, id) =>
      using(id, async (session) => {
        const { ranges } = await json(call, Holes);
        if (session.isOpenEnded)
          throw new PeerRefusal(400, 'usage', 'An upload of unknown size cannot have holes.');
        for (const start of ranges) {
          const end = endOfRange(session, start);
          await inTurn(session, start, () => makeHole(session, { start, end }));
        }
        answerJson(call.response, 200, {});
      }),
    state: (call, id) =>
      using(id, async ({ isOpenEnded, meta, rangeBytes, ranges }) => {
        await json(call, Nothing);
        const received = [...ranges].map(([start, { sizeBytes, sum }]) => [
          start,
          formatCrc64(sum),
          sizeBytes,
        ]);
        const size = isOpenEnded ? {} : { sizeBytes: meta.sizeBytes };
        answerJson(call.response, 200, { path: meta.path, ...size, rangeBytes, received });
      }),
    complete: async (call, id) => {
      const { crc64, sizeBytes: told } = await json(call, Complete);
      const done = completed.get(id) ?? completing.get(id);
      if (done) return answerJson(call.response, 200, await done);
      const session = sessions.get(id);
      if (!session) throw noUpload(id);
      const sizeBytes = sizeOf(session, told);
      // Checked before anything ends: the client can still send a missing range.
      wholeSum(session, sizeBytes);
      const work = finish(session, { sizeBytes, crc64 });
      completing.set(id, work);
      try {
        const answer = await work;
        remember(id, answer);
        answerJson(call.response, 200, answer);
      } finally {
        completing.delete(id);
      }
    },
    discard: async (call, id) => {
      const session = sessions.get(id);
      if (session) await drop(session);
      answerJson(call.response, 200, {});
    },
    async close() {
      clearInterval(sweep);
      await Promise.allSettled([...sessions.values()].map(leave));
    },
  };
}

/** Bytes of an earlier run of the server count only as far as they are really there. */
async function takeNoted({ file, journal, rangeBytes, ranges }: Session, budget: Budget): Promise<void> {
  const noted = [...(journal?.noted.values() ?? [])];
  if (noted.length === 0) return;
  const permit = await budget.acquire(rangeBytes);
  try {
    for (const { crc64nvme, end, start } of noted) {
      const sizeBytes = end - start;
      const bytes = await file.read(start, Buffer.allocUnsafeSlow(sizeBytes));
      if (crc64Nvme(bytes) !== crc64nvme) continue;
      file.accept(start, sizeBytes);
      ranges.set(start, { sum: crc64nvme, sizeBytes });
    }
  } finally {
    permit.release();
  }
}

/** Equal ranges run one after another: two different ones never mix. */
function inTurn({ writing }: Session, start: number, work: () => Promise<void>): Promise<void> {
  const turn = (writing.get(start) ?? Promise.resolve()).then(work, work);
  writing.set(start, turn);
  const done = () => {
    if (writing.get(start) === turn) writing.delete(start);
  };
  turn.then(done, done);
  return turn;
}

function noUpload(id: string): DrayError {
  return new DrayError('notFound', 'This upload does not exist or has ended.', { data: { upload: id } });
}

function endOfRange({ meta, rangeBytes }: Session, start: number): number {
  const isOne =
    Number.isSafeInteger(start) && start >= 0 && start % rangeBytes === 0 && start < meta.sizeBytes;
  if (!isOne) throw new PeerRefusal(400, 'usage', `No range begins at ${start}.`);
  return Math.min(start + rangeBytes, meta.sizeBytes);
}

/** Only the last range may be shorter, which is checked once it is known to be the last. */
function endOfOpenRange({ rangeBytes }: Session, start: number, sentBytes: number): number {
  const isOne = Number.isSafeInteger(start) && start >= 0 && start % rangeBytes === 0;
  if (!isOne) throw new PeerRefusal(400, 'usage', `No range begins at ${start}.`);
  if (sentBytes < 1 || sentBytes > rangeBytes)
    throw new PeerRefusal(400, 'usage', `A range must have 1 to ${rangeBytes} bytes.`);
  return start + sentBytes;
}

function sizeOf({ isOpenEnded, meta }: Session, told: number | undefined): number {
  if (isOpenEnded && told === undefined)
    throw new PeerRefusal(400, 'usage', 'The upload began without a size. Give it in "sizeBytes" now.');
  if (!isOpenEnded && told !== undefined && told !== meta.sizeBytes)
    throw new PeerRefusal(400, 'usage', `The upload began with a size of ${meta.sizeBytes} bytes.`);
  return told ?? meta.sizeBytes;
}

/** @throws PeerRefusal 409 if something is missing, or too much. */
function wholeSum({ rangeBytes, ranges }: Session, sizeBytes: number): bigint {
  let sum = 0n;
  for (let start = 0; start < sizeBytes; start += rangeBytes) {
    const wantedBytes = Math.min(rangeBytes, sizeBytes - start);
    const next = ranges.get(start);
    if (next?.sizeBytes !== wantedBytes)
      throw new PeerRefusal(409, 'conflict', `The range at ${start} is missing.`);
    sum = start === 0 ? next.sum : combineCrc64(sum, next.sum, wantedBytes);
  }
  if (ranges.size > Math.ceil(sizeBytes / rangeBytes))
    throw new PeerRefusal(409, 'conflict', `More than ${sizeBytes} bytes arrived.`);
  return sum;
}

const zeroSums = new Map<number, bigint>();

/** At most two sizes of ranges occur in a file. */
function sumOfZeros(sizeBytes: number): bigint {
  const known = zeroSums.get(sizeBytes);
  if (known !== undefined) return known;
  const sum = crc64Nvme(Buffer.alloc(sizeBytes));
  if (zeroSums.size > 64) zeroSums.clear();
  zeroSums.set(sizeBytes, sum);
  return sum;
}
