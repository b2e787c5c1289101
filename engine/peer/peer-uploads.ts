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
import { formatCrc64 } from '../checksums/crc64-nvme.ts';
import type { FileMeta, TreeWriter } from '../files/write/tree-writer-types.ts';
import { MODE_BITS, travelling } from '../model/special-modes.ts';
import { PEER_LIMITS } from '../peer-protocol/messages.ts';
import { openRangeJournal } from '../transfer/download/range-journal.ts';
import { answerJson, bodyBytesOf, type PeerCall, PeerRefusal, receiveJson } from './peer-call.ts';
import { parsePeerPath } from './peer-paths.ts';
import { createRangeReceiver, type RangeReceiver } from './peer-ranges.ts';
import {
  endOfOpenRange,
  endOfRange,
  inTurn,
  noUpload,
  type PeerUploadSession,
  receiveRange,
  sizeOf,
  takeNoted,
  wholeSum,
} from './peer-upload-session.ts';
import { writtenResult } from './peer-writes.ts';

const KIB = 1024;
const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Begin = v.strictObject({
  path: v.string(),
  /** Absent if the client gives it at completion. */
  sizeBytes: v.optional(Size),
  mtimeNs: v.pipe(v.string(), v.regex(/^-?\d{1,20}$/)),
  mode: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MODE_BITS))),
  /** Identifies the content: equal only if every byte is. */
  content: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
  rangeBytes: v.pipe(Size, v.minValue(64 * KIB), v.maxValue(PEER_LIMITS.bodyBytesMax)),
  /** Only resume an upload of this content; 404 if there is none. */
  resume: v.optional(v.boolean()),
});
const Nothing = v.strictObject({});

const Complete = v.strictObject({
  crc64: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))),
  /** For uploads begun without a size. */
  sizeBytes: v.optional(Size),
});

const IDLE_MAX_MS = 60 * 60_000;
const SWEPT_EVERY_MS = 60_000;
const COMPLETED_MAX = 4_096;

interface PeerUploadsOptions {
  readonly writer: TreeWriter;
  readonly specialModes: boolean;
  readonly budget: Budget;
  readonly clock: Clock;
  /** Errors that have no caller. */
  readonly onFailure: (error: unknown) => void;
}

export class PeerUploads {
  readonly #options: PeerUploadsOptions;
  readonly #receiver: RangeReceiver;
  readonly #sessions = new Map<string, PeerUploadSession>();
  /** Keys of the uploads that are being opened. */
  readonly #beginning = new Set<string>();
  /** Answers to completions, for clients that lost the first one on the way. */
  readonly #completed = new Map<string, unknown>();
  readonly #completing = new Map<string, Promise<unknown>>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: PeerUploadsOptions) {
    this.#options = options;
    this.#receiver = createRangeReceiver(options.budget);
    this.#sweep = setInterval(() => this.#leaveIdle(), SWEPT_EVERY_MS);
    this.#sweep.unref();
  }

  async begin(call: PeerCall): Promise<void> {
    const session = await this.#open(
      await receiveJson(call, { budget: this.#options.budget, schema: Begin }),
    );
    session.usedMs = this.#options.clock.nowMs();
    answerJson(call.response, 200, { upload: session.id, received: [...session.ranges.keys()] });
  }

  put(call: PeerCall, id: string): Promise<void> {
    return this.#using(id, async (session) => {
      const start = Number(call.query.get('at') ?? Number.NaN);
      const sentBytes = bodyBytesOf(call.request);
      const end = session.isOpenEnded
        ? endOfOpenRange(session, start, sentBytes)
        : endOfRange(session, start);
      if (sentBytes !== end - start)
        throw new PeerRefusal(400, 'usage', `The range at ${start} has ${end - start} bytes.`);
      const receiver = this.#receiver;
      await inTurn(session, start, () => receiveRange(session, { start, end }, { call, receiver }));
      answerJson(call.response, 200, {});
    });
  }

  /** The received ranges, for a client that resumes. */
  state(call: PeerCall, id: string): Promise<void> {
    return this.#using(id, async ({ isOpenEnded, meta, rangeBytes, ranges }) => {
      await receiveJson(call, { budget: this.#options.budget, schema: Nothing });
      const received = [...ranges].map(([start, { sizeBytes, sum }]) => [start, formatCrc64(sum), sizeBytes]);
      const size = isOpenEnded ? {} : { sizeBytes: meta.sizeBytes };
      answerJson(call.response, 200, { path: meta.path, ...size, rangeBytes, received });
    });
  }

  async complete(call: PeerCall, id: string): Promise<void> {
    const { crc64, sizeBytes: given } = await receiveJson(call, {
      budget: this.#options.budget,
      schema: Complete,
    });
    const done = this.#completed.get(id) ?? this.#completing.get(id);
    if (done) return answerJson(call.response, 200, await done);
    const session = this.#sessions.get(id);
    if (!session) throw noUpload(id);
    const sizeBytes = sizeOf(session, given);
    // Checked before anything ends: the client can still send a missing range.
    wholeSum(session, sizeBytes);
    const work = this.#finish(session, { sizeBytes, crc64 });
    this.#completing.set(id, work);
    try {
      const answer = await work;
      this.#remember(id, answer);
      answerJson(call.response, 200, answer);
    } finally {
      this.#completing.delete(id);
    }
  }

  async discard(call: PeerCall, id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (session) await this.#drop(session);
    answerJson(call.response, 200, {});
  }

  /** Keeps running uploads for another run of the server. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.allSettled([...this.#sessions.values()].map((session) => this.#leave(session)));
  }

  /** Checks and reserves the key in one tick: two clients may begin the same upload at once. */
  async #open(begun: v.InferOutput<typeof Begin>): Promise<PeerUploadSession> {
    const { mode, mtimeNs, rangeBytes, sizeBytes } = begun;
    const path = parsePeerPath(begun.path);
    if (sizeBytes === undefined && begun.content !== undefined)
      throw new PeerRefusal(
        400,
        'usage',
        'An upload of unknown size cannot be resumed. Leave out "content".',
      );
    const content = begun.content ?? randomBytes(16).toString('hex');
    const key = [path, content, rangeBytes, sizeBytes, mtimeNs, mode].join('\0');
    const known = [...this.#sessions.values()].find((one) => one.content === key);
    if (known) return known;
    if (this.#sessions.size + this.#beginning.size >= PEER_LIMITS.uploadsMax)
      throw new DrayError('slowDown', 'Too many uploads are running. Try again later.', { retry: 'backoff' });
    if (this.#beginning.has(key))
      throw new DrayError('slowDown', 'The same upload is being started. Try again.', { retry: 'retry' });
    this.#beginning.add(key);
    try {
      return await this.#openFile({ ...begun, path, content }, key);
    } finally {
      this.#beginning.delete(key);
    }
  }

  async #openFile(
    begun: v.InferOutput<typeof Begin> & { readonly content: string },
    key: string,
  ): Promise<PeerUploadSession> {
    const { content, mode, path, rangeBytes, resume = false, sizeBytes } = begun;
    const { budget, clock, specialModes, writer } = this.#options;
    const isOpenEnded = sizeBytes === undefined;
    const meta: FileMeta = {
      path,
      sizeBytes: sizeBytes ?? 0,
      mtimeNs: BigInt(begun.mtimeNs),
      executable: false,
      ...travelling(mode, { specialModes }),
    };
    const file = await writer.openLarge(meta, isOpenEnded ? { isOpenEnded } : { content: key });
    try {
      const journal = isOpenEnded
        ? undefined
        : await openRangeJournal(file.notesPath!, { etag: content, sizeBytes, rangeBytes });
      const session: PeerUploadSession = {
        id: randomBytes(16).toString('hex'),
        content: key,
        meta,
        isOpenEnded,
        rangeBytes,
        file,
        journal,
        ranges: new Map(),
        writing: new Map(),
        isEnded: false,
        usedMs: clock.nowMs(),
        calls: new Set(),
      };
      await takeNoted(session, budget);
      if (resume && session.ranges.size === 0) {
        await journal?.remove();
        throw noUpload(session.id);
      }
      this.#sessions.set(session.id, session);
      return session;
    } catch (error) {
      await file.discard();
      throw error;
    }
  }

  async #using<T>(id: string, work: (session: PeerUploadSession) => Promise<T>): Promise<T> {
    const session = this.#sessions.get(id);
    if (!session) throw noUpload(id);
    const call = work(session);
    session.calls.add(call);
    try {
      return await call;
    } finally {
      session.calls.delete(call);
      session.usedMs = this.#options.clock.nowMs();
    }
  }

  /**
   * From here on no range is accepted, and running ones are awaited: the verified bytes are the ones put in
   * place.
   */
  async #finish(
    session: PeerUploadSession,
    { crc64, sizeBytes }: { readonly sizeBytes: number; readonly crc64: string | undefined },
  ): Promise<unknown> {
    this.#end(session);
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
      await this.#drop(session);
      throw error;
    }
  }

  #leaveIdle(): void {
    const { clock, onFailure } = this.#options;
    for (const session of this.#sessions.values())
      if (session.calls.size === 0 && clock.nowMs() - session.usedMs > IDLE_MAX_MS)
        this.#leave(session).catch(onFailure);
  }

  async #leave(session: PeerUploadSession): Promise<void> {
    this.#end(session);
    await Promise.allSettled(session.calls);
    await session.journal?.close();
    await session.file.leave();
  }

  async #drop(session: PeerUploadSession): Promise<void> {
    this.#end(session);
    await session.journal?.remove();
    await session.file.discard();
  }

  /** No client can use it any more. */
  #end(session: PeerUploadSession): void {
    session.isEnded = true;
    this.#sessions.delete(session.id);
  }

  #remember(id: string, answer: unknown): void {
    this.#completed.set(id, answer);
    for (const oldest of this.#completed.keys()) {
      if (this.#completed.size <= COMPLETED_MAX) break;
      this.#completed.delete(oldest);
    }
  }
}
