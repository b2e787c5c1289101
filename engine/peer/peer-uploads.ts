/**
 * `/v1/uploads`: large files that come in ranges, over any number of connections, and go on after a cut.
 *
 * What arrived is kept when the client goes away: the session for an hour, the bytes for a week. Who begins the same content again is told
 * which ranges are there. A session belongs to who knows its number, and until it is completed nothing is to be seen of the file.
 */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import type { Clock } from '../base/clock.ts';
import { combineCrc64 } from '../base/crc-combine.ts';
import { crc64Nvme } from '../base/crc64-nvme.ts';
import { PEER_HEADER, PEER_LIMITS } from '../model/peer-protocol.ts';
import { openRangeJournal, type RangeJournal } from '../transfer/range-journal.ts';
import type { FileMeta, LargeFile, TreeWriter } from '../workspace/tree-writer-contract.ts';
import { answerJson, bodyBytesOf, type PeerCall, PeerRefusal, parseJson, receiveBody } from './peer-call.ts';
import { parsePeerPath } from './peer-paths.ts';
import { writtenResult } from './peer-writes.ts';

export interface PeerUploads {
  begin(call: PeerCall): Promise<void>;
  put(call: PeerCall, id: string): Promise<void>;
  holes(call: PeerCall, id: string): Promise<void>;
  /** What is there, for who goes on with it. */
  state(call: PeerCall, id: string): Promise<void>;
  complete(call: PeerCall, id: string): Promise<void>;
  discard(call: PeerCall, id: string): Promise<void>;
  /** Leaves what is under way for another run of the server. */
  close(): Promise<void>;
}

interface Session {
  readonly id: string;
  readonly content: string;
  readonly meta: FileMeta;
  readonly rangeBytes: number;
  readonly file: LargeFile;
  readonly journal: RangeJournal;
  /** Sum by start of what is written. */
  readonly ranges: Map<number, bigint>;
  usedMs: number;
  callsUnderWay: number;
}

const KIB = 1024;
const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Begin = v.strictObject({
  path: v.string(),
  sizeBytes: Size,
  mtimeNs: v.pipe(v.string(), v.regex(/^-?\d{1,20}$/)),
  mode: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0o7777))),
  /** Stands for the content: the same only if every byte is. */
  content: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
  rangeBytes: v.pipe(Size, v.minValue(64 * KIB), v.maxValue(PEER_LIMITS.bodyBytesMax)),
});
const Nothing = v.strictObject({});
const Holes = v.strictObject({ ranges: v.pipe(v.array(Size), v.maxLength(100_000)) });
const Complete = v.strictObject({ crc64: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))) });

const IDLE_MAX_MS = 60 * 60_000;
const SWEPT_EVERY_MS = 60_000;
const COMPLETED_MAX = 4_096;

export function createPeerUploads({
  budget,
  clock,
  writer,
}: {
  readonly writer: TreeWriter;
  readonly budget: Budget;
  readonly clock: Clock;
}): PeerUploads {
  const sessions = new Map<string, Session>();
  const beginning = new Set<string>();
  /** Answers to completions, for those to whom the first one was lost on the way. */
  const completed = new Map<string, unknown>();
  const remember = (id: string, answer: unknown) => {
    completed.set(id, answer);
    for (const oldest of completed.keys()) {
      if (completed.size <= COMPLETED_MAX) break;
      completed.delete(oldest);
    }
  };
  const sweep = setInterval(() => {
    for (const session of sessions.values())
      if (session.callsUnderWay === 0 && clock.nowMs() - session.usedMs > IDLE_MAX_MS) void leave(session);
  }, SWEPT_EVERY_MS);
  sweep.unref();

  async function leave(session: Session): Promise<void> {
    sessions.delete(session.id);
    await session.journal.close();
    await session.file.leave();
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
    if (!session) throw new DrayError('notFound', 'There is no such upload.', { data: { upload: id } });
    session.callsUnderWay += 1;
    try {
      return await work(session);
    } finally {
      session.callsUnderWay -= 1;
      session.usedMs = clock.nowMs();
    }
  }

  async function open({
    content: given,
    mode,
    mtimeNs,
    path: text,
    rangeBytes,
    sizeBytes,
  }: v.InferOutput<typeof Begin>): Promise<Session> {
    const path = parsePeerPath(text);
    const content = given ?? randomBytes(16).toString('hex');
    const key = `${path}\0${content}\0${rangeBytes}`;
    const known = [...sessions.values()].find(
      (one) => one.content === key && one.meta.sizeBytes === sizeBytes,
    );
    if (known) return known;
    if (sessions.size + beginning.size >= PEER_LIMITS.uploadsMax)
      throw new DrayError('slowDown', 'Too many uploads are under way.', { retry: 'backoff' });
    if (beginning.has(key))
      throw new DrayError('slowDown', 'The same upload is being begun.', { retry: 'retry' });
    beginning.add(key);
    try {
      const meta: FileMeta = {
        path,
        sizeBytes,
        mtimeNs: BigInt(mtimeNs),
        executable: false,
        ...(mode === undefined ? {} : { mode }),
      };
      const file = await writer.openLarge(meta, { content: key });
      try {
        const journal = await openRangeJournal(file.notesPath!, { etag: content, sizeBytes, rangeBytes });
        const session: Session = {
          id: randomBytes(16).toString('hex'),
          content: key,
          meta,
          rangeBytes,
          file,
          journal,
          ranges: new Map(),
          usedMs: clock.nowMs(),
          callsUnderWay: 0,
        };
        await takeNoted(session);
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

  return {
    async begin(call) {
      const session = await open(await json(call, Begin));
      session.usedMs = clock.nowMs();
      answerJson(call.response, 200, { upload: session.id, received: [...session.ranges.keys()] });
    },
    put: (call, id) =>
      using(id, async (session) => {
        const start = Number(call.query.get('at') ?? Number.NaN);
        const end = endOfRange(session, start);
        if (bodyBytesOf(call.request) !== end - start)
          throw new PeerRefusal(400, 'usage', `The range at ${start} has ${end - start} bytes.`);
        const body = await receiveBody(call, { budget, maxBytes: session.rangeBytes });
        try {
          const sum = crc64Nvme(body.bytes);
          if (formatSum(sum) !== call.request.headers[PEER_HEADER.crc64])
            throw new DrayError('checksumRefused', 'The range arrived with other bytes than were sent.', {
              retry: 'retry',
            });
          await session.file.write(start, body.bytes);
          await session.journal.note({ start, end }, sum);
          session.ranges.set(start, sum);
        } finally {
          body.release();
        }
        answerJson(call.response, 200, {});
      }),
    holes: (call, id) =>
      using(id, async (session) => {
        const { ranges } = await json(call, Holes);
        for (const start of ranges) {
          const end = endOfRange(session, start);
          if (session.ranges.has(start)) continue;
          session.file.accept(start, end - start);
          session.ranges.set(start, sumOfZeros(end - start));
        }
        answerJson(call.response, 200, {});
      }),
    state: (call, id) =>
      using(id, async ({ meta, rangeBytes, ranges }) => {
        await json(call, Nothing);
        const received = [...ranges].map(([start, sum]) => [start, formatSum(sum)]);
        answerJson(call.response, 200, { path: meta.path, sizeBytes: meta.sizeBytes, rangeBytes, received });
      }),
    complete: async (call, id) => {
      const done = completed.get(id);
      if (done) return answerJson(call.response, 200, done);
      return using(id, async (session) => {
        const { crc64 } = await json(call, Complete);
        const sum = formatSum(wholeSum(session));
        if (crc64 !== undefined && sum !== crc64)
          throw new DrayError('checksumRefused', `${session.meta.path} is not what was sent.`, {
            data: { path: session.meta.path },
          });
        sessions.delete(id);
        await session.journal.remove();
        const answer = { ...writtenResult(await session.file.commit()), crc64: sum };
        remember(id, answer);
        answerJson(call.response, 200, answer);
      });
    },
    discard: async (call, id) => {
      const session = sessions.get(id);
      sessions.delete(id);
      await session?.journal.remove();
      await session?.file.discard();
      answerJson(call.response, 200, {});
    },
    async close() {
      clearInterval(sweep);
      await Promise.allSettled([...sessions.values()].map(leave));
    },
  };
}

/** What an earlier run of the server wrote counts only as far as it is really there. */
async function takeNoted(session: Session): Promise<void> {
  const { file, journal, ranges } = session;
  for (const noted of journal.noted.values()) {
    const bytes = await file.read(noted.start, Buffer.allocUnsafeSlow(noted.end - noted.start));
    if (crc64Nvme(bytes) !== noted.crc64nvme) continue;
    file.accept(noted.start, noted.end - noted.start);
    ranges.set(noted.start, noted.crc64nvme);
  }
}

function formatSum(sum: bigint): string {
  return sum.toString(16).padStart(16, '0');
}

function endOfRange({ meta, rangeBytes }: Session, start: number): number {
  const isOne =
    Number.isSafeInteger(start) && start >= 0 && start % rangeBytes === 0 && start < meta.sizeBytes;
  if (!isOne) throw new PeerRefusal(400, 'usage', `No range begins at ${start}.`);
  return Math.min(start + rangeBytes, meta.sizeBytes);
}

/** @throws PeerRefusal 409 when something is missing. */
function wholeSum(session: Session): bigint {
  const { meta, rangeBytes, ranges } = session;
  let sum = 0n;
  for (let start = 0; start < meta.sizeBytes; start += rangeBytes) {
    const next = ranges.get(start);
    if (next === undefined) throw new PeerRefusal(409, 'conflict', `The range at ${start} has not come.`);
    sum = start === 0 ? next : combineCrc64(sum, next, endOfRange(session, start) - start);
  }
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
