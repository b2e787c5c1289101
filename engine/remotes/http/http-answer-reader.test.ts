/**
 * An answer reads the same however its bytes are split, and any input ends with an answer or an HttpError.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { AnswerReader } from './http-answer-reader.ts';
import { type AnswerReceiver, type HttpAnswer, HttpError } from './http-message.ts';

const SEED = 20260101;

describe('The reader of answers', () => {
  it('gives the same answer wherever its bytes are split', () => {
    const wires = [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0b \r\nhello world\r\n0\r\nx-t: 1\r\n\r\n',
      'HTTP/1.0 200 \r\n\r\nuntil it is closed',
    ];
    for (const wire of wires) {
      const bytes = Buffer.from(wire);
      const whole = read('GET', [bytes]);
      expect(whole.isDone).toBe(true);
      for (let at = 0; at <= bytes.length; at += 1)
        expect(read('GET', [bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole);
      expect(
        read(
          'GET',
          [...bytes].map((byte) => Buffer.of(byte)),
        ),
      ).toEqual(whole);
    }
  });

  it('returns the written bytes, in any framing and any pieces', () => {
    fc.assert(
      fc.property(anyAnswer, cuts, (answer, sizes) => {
        const wire = Buffer.concat([
          ...answer.informational.map((head) => Buffer.from(head)),
          wireOf(answer),
        ]);
        const found = read('GET', cut(wire, sizes));
        expect(found.isDone).toBe(true);
        expect(found.answer?.status).toBe(answer.status);
        expect(found.answer?.headers).toMatchObject(
          Object.fromEntries(answer.headers.map(([name, value]) => [name.toLowerCase(), value])),
        );
        expect(found.body.equals(answer.body)).toBe(true);
        expect(found.announcedBytes).toBe(answer.framing === 'length' ? answer.body.length : undefined);
        expect(found.leftBytes).toBe(0);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('leaves the bytes after an answer, and reports when a connection cannot be reused', () => {
    fc.assert(
      fc.property(anyAnswer, cuts, fc.uint8Array({ minLength: 1, maxLength: 40 }), (answer, sizes, more) => {
        if (answer.framing === 'untilClose') return;
        const found = read('GET', cut(Buffer.concat([wireOf(answer), more]), sizes));
        expect(found.isDone).toBe(true);
        expect(found.body.equals(answer.body)).toBe(true);
        expect(found.leftBytes).toBe(more.length);
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('reports every answer that ends early as cut short', () => {
    fc.assert(
      fc.property(anyAnswer, cuts, fc.nat(), (answer, sizes, where) => {
        if (answer.framing === 'untilClose') return;
        const wire = wireOf(answer);
        const found = read('GET', cut(wire.subarray(0, where % wire.length), sizes));
        expect(found.isDone).toBe(false);
        expect(found.error?.code).toBe(where % wire.length === 0 ? 'ECONNRESET' : 'HTTP_CUT_SHORT');
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('ends on garbage with an answer or an HttpError, the same in any pieces', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc
        .tuple(anyAnswer, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }))
        .map(([answer, changes]) => {
          const wire = wireOf(answer);
          for (const [at, byte] of changes) wire[at % wire.length] = byte;
          return wire;
        }),
      fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 20 }).map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, cuts, (garbage, sizes) => {
        const whole = read('GET', [garbage]);
        const pieces = read('GET', cut(garbage, sizes));
        expect(pieces.isDone).toBe(whole.isDone);
        expect(pieces.error?.code).toBe(whole.error?.code);
        if (whole.isDone) expect(pieces).toEqual(whole);
        else expect(whole.error).toBeInstanceOf(HttpError);
      }),
      { seed: SEED, numRuns: runBudget({ short: 500, long: 2_000 }) },
    );
  });

  it('reads no body if there can be none', () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n';
    expect(read('HEAD', [Buffer.from(head)])).toMatchObject({ isDone: true, isKeptAlive: true });
    expect(read('HEAD', [Buffer.from(head)]).answer?.headers['content-length']).toBe('5');
    for (const status of ['204 No Content', '304 Not Modified'])
      expect(read('GET', [Buffer.from(`HTTP/1.1 ${status}\r\n\r\n`)])).toMatchObject({ isDone: true });
  });

  it.each([
    ['a status line of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['HTTP/2 in the open', 'HTTP/2 200\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nnothing\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\nlength : 1\r\n\r\n'],
    ['a folded header', 'HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n'],
    ['a line feed alone', 'HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n'],
    ['a null byte', 'HTTP/1.1 200 OK\r\na: \0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
    ['an unknown encoding', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\nabc'],
    ['a chunk that is too long', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n'],
    ['a giant chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffff\r\n'],
    ['an endless line', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${'x'.repeat(5000)}`],
    ['an endless head', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(70_000)}`],
    ['endless informational answers', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3000)],
    [
      'an endless trailer',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(20_000)}`,
    ],
  ])('refuses %s', (_name, wire) => {
    expect(read('GET', [Buffer.from(wire)]).error).toMatchObject({ code: 'HTTP_MALFORMED' });
  });

  it('returns whether the connection may be reused', () => {
    const isKept = (start: string, headers: string) =>
      read('GET', [Buffer.from(`${start} 200 OK\r\ncontent-length: 0\r\n${headers}\r\n`)]).isKeptAlive;
    expect(isKept('HTTP/1.1', '')).toBe(true);
    expect(isKept('HTTP/1.1', 'Connection: Close\r\n')).toBe(false);
    expect(isKept('HTTP/1.0', '')).toBe(false);
    expect(isKept('HTTP/1.0', 'connection: keep-alive\r\n')).toBe(true);
    const both = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(read('GET', [Buffer.from(both)])).toMatchObject({ isDone: true, isKeptAlive: false });
  });
});

const FRAGMENTS = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'content-length: 3\r\n',
  'transfer-encoding: chunked\r\n',
  '\r\n',
  '\r',
  '\n',
  '0\r\n',
  '3\r\nabc\r\n',
  'abc',
  'ffff\r\n',
  ': ',
] as const;

interface SomeAnswer {
  readonly status: number;
  readonly informational: readonly string[];
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly framing: 'length' | 'chunked' | 'untilClose';
  readonly chunkSizes: readonly number[];
}

const anyAnswer: fc.Arbitrary<SomeAnswer> = fc.record({
  status: fc.constantFrom(200, 206, 307, 404, 412, 500, 503),
  informational: fc.array(
    fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Hints\r\na: b\r\n\r\n'),
    {
      maxLength: 2,
    },
  ),
  headers: fc.uniqueArray(
    fc.tuple(
      fc.stringMatching(/^X-[A-Za-z0-9_-]{1,10}$/),
      fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replace(/\p{Cc}|^ +| +$/gu, '')),
    ),
    { maxLength: 6, selector: ([name]) => name.toLowerCase() },
  ),
  // Above the size from which chunks are read in place, at times.
  body: fc.oneof(
    { arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)), weight: 9 },
    {
      arbitrary: fc.integer({ min: 16_000, max: 60_000 }).map((size) => Buffer.alloc(size, 'body ')),
      weight: 1,
    },
  ),
  framing: fc.constantFrom('length', 'chunked', 'untilClose'),
  chunkSizes: fc.array(fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(40_000)), { maxLength: 5 }),
});
const cuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 40_000 })), {
  maxLength: 30,
});

function wireOf({ status, headers, body, framing, chunkSizes }: SomeAnswer): Buffer {
  const framed = {
    length: `Content-Length: ${body.length}\r\n`,
    chunked: 'Transfer-Encoding: Chunked\r\n',
    untilClose: '',
  }[framing];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = Buffer.from(`HTTP/1.1 ${status} Some Reason\r\n${lines}${framed}\r\n`);
  if (framing !== 'chunked') return Buffer.concat([head, body]);
  const chunks = cut(body, chunkSizes).flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([head, ...chunks, Buffer.from('0\r\n\r\n')]);
}

/** Pieces of these sizes, and the rest. None is empty. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    if (at < bytes.length) pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

/** Like a connection: into the window if there is one, otherwise through one scratch buffer. */
function read(method: string, pieces: readonly Buffer[]) {
  const receiver = new Recorder();
  const reader = new AnswerReader(method, receiver);
  const scratch = Buffer.alloc(70_000 * 2);
  let leftBytes = 0;
  let error: HttpError | undefined;
  try {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        if (reader.isDone) {
          leftBytes += piece.length - at;
          break;
        }
        const window = reader.window();
        const length = Math.min(window?.byteLength ?? scratch.length, piece.length - at);
        const part = piece.subarray(at, at + length);
        at += length;
        if (window) {
          window.set(part);
          reader.filled(length);
        } else {
          scratch.fill(0xee);
          scratch.set(part);
          leftBytes += length - reader.read(scratch.subarray(0, length));
        }
      }
    }
    reader.close();
  } catch (thrown) {
    error = thrown as HttpError;
  }
  const { answer, announcedBytes } = receiver;
  const { isDone } = reader;
  const body = receiver.body();
  return { answer, announcedBytes, body, isDone, isKeptAlive: reader.isKeptAlive, leftBytes, error };
}

class Recorder implements AnswerReceiver {
  answer: HttpAnswer | undefined;
  announcedBytes: number | undefined;
  readonly #parts: Uint8Array[] = [];
  #place: Uint8Array = new Uint8Array(0);

  begin(answer: HttpAnswer, bodyBytes: number | undefined): void {
    expect(this.answer).toBeUndefined();
    this.answer = answer;
    this.announcedBytes = bodyBytes;
  }
  place(upToBytes: number): Uint8Array {
    expect(upToBytes).toBeGreaterThan(0);
    this.#place = new Uint8Array(Math.min(upToBytes, 50_000));
    return this.#place;
  }
  placed(sizeBytes: number): void {
    this.#parts.push(this.#place.slice(0, sizeBytes));
  }
  body(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
