/** Clients that do not read, do not finish, or send ahead. None of them holds memory or a turn for ever. */
import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Budget } from '../base/budget.ts';
import { createDecodedContents } from '../jobs/versions/decoded-contents.ts';
import type { BlobHash } from '../model/entry.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { fileEntry } from '../repository/entries.fixture.ts';
import { objectKey } from '../repository/keys.ts';
import { ask, openGateway, setRef, type TestGateway, writeCommit } from './gateway.fixture.ts';
import type { AnswerRecord, GatewayOptions } from './gateway-server.ts';

const MIB = 1024 * 1024;
/** More than the system keeps of a connection. */
const CONTENT = Buffer.alloc(40 * MIB, 'content that nobody reads ');
const BLOB = createHash('sha256').update(CONTENT).digest('hex') as BlobHash;
const PATH = '/data/main/large';
const CLIENTS = 64;

let store: ObjectStore;
let reads: number;
let begun: number;
let answers: AnswerRecord[];
const opened: (TestGateway | { [Symbol.asyncDispose](): Promise<void> })[] = [];

beforeEach(async () => {
  reads = 0;
  begun = 0;
  answers = [];
  const memory = createMemoryStore();
  await memory.put(objectKey(BLOB), CONTENT);
  const entries = [fileEntry('large', '', { sizeBytes: CONTENT.length, blob: BLOB })];
  await setRef(memory, 'heads/main', await writeCommit(memory, entries));
  store = {
    ...memory,
    read(key, options) {
      if (key === objectKey(BLOB)) reads += 1;
      return memory.read(key, options);
    },
  };
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

const reading = () => ({
  windowBytes: MIB,
  windowsBytes: 16 * MIB,
  readers: { count: 0 },
  ahead: new Budget(16),
  reads: new Budget(12),
  contents: createDecodedContents({ bytesMax: 64 * MIB }),
  doubtful: new Set<never>(),
});

async function open(
  more: Partial<GatewayOptions> & { readonly reading?: ReturnType<typeof reading> } = {},
): Promise<TestGateway> {
  const own = answers;
  const gateway = await openGateway(
    { data: store },
    {
      reading: reading(),
      onAnswer: (answer) => own.push(answer),
      around: (work) => {
        begun += 1;
        return work();
      },
      ...more,
    },
  );
  opened.push(gateway);
  return gateway;
}

/** The answer, of which nothing more is read. */
function readStart(port: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: PATH, agent: false }, (answer) => {
      answer.on('error', () => {});
      resolve(answer);
    }).on('error', reject);
  });
}

function converse(port: number, bytes: string): Socket {
  const socket = connect({ host: '127.0.0.1', port }, () => socket.write(bytes));
  socket.on('error', () => {});
  opened.push({
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  });
  return socket;
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));
const requestOf = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

describe('a client', () => {
  it('that does not read on is given up, with all that it held', async () => {
    const held = reading();
    const gateway = await open({ reading: held, patience: { headMs: 60_000, stallMs: 3_000 } });
    const stalled = await Promise.all(Array.from({ length: CLIENTS }, () => readStart(gateway.port)));
    await vi.waitFor(() => expect(answers).toHaveLength(CLIENTS), { timeout: 60_000 });
    expect([held.ahead.used, held.reads.used]).toEqual([0, 0]);
    expect(stalled.every(({ complete }) => !complete)).toBe(true);
    expect(gateway.failures).toEqual([]);
    expect((await ask(gateway.port, PATH)).body.equals(CONTENT)).toBe(true);
  });

  it('that goes away ends the reads that were for it', async () => {
    const held = reading();
    const gateway = await open({ reading: held });
    const answer = await readStart(gateway.port);
    answer.destroy();
    await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 60_000 });
    const before = reads;
    expect(before).toBeLessThan(CONTENT.length / MIB);
    expect([held.ahead.used, held.reads.used]).toEqual([0, 0]);
    await ask(gateway.port, PATH);
    expect(reads - before).toBe(CONTENT.length / MIB);
  });

  it('that sends requests ahead gets one answer after another', async () => {
    const gateway = await open();
    const paths = Array.from({ length: 50 }, (_, at) => (at % 3 === 0 ? '/data?location' : `/none-${at}`));
    const socket = converse(gateway.port, paths.map(requestOf).join(''));
    let text = '';
    socket.on('data', (piece) => {
      text += piece.toString();
    });
    await vi.waitFor(() => expect(answers).toHaveLength(paths.length), { timeout: 60_000 });
    await vi.waitFor(() => expect(text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(paths.length));
    const expected = paths.map((path) => (path.startsWith('/none') ? path : 'LocationConstraint'));
    expect([...text.matchAll(/\/none-\d+(?=<)|LocationConstraint/g)].map(String)).toEqual(expected);
  });

  it('that sends requests ahead and does not read has the memory of one', async () => {
    const gateway = await open();
    const socket = converse(gateway.port, requestOf(PATH).repeat(60));
    await new Promise<void>((resolve) => socket.once('readable', () => resolve()));
    // All were sent before this one.
    expect((await ask(gateway.port, '/data?location')).status).toBe(200);
    expect(begun).toBe(2);
    socket.destroy();
    await vi.waitFor(() => expect(answers).toHaveLength(2), { timeout: 60_000 });
    expect((await ask(gateway.port, '/data?location')).status).toBe(200);
    expect(begun).toBe(3);
  });

  it('that sends very many requests ahead loses its connection', async () => {
    const gateway = await open();
    const socket = converse(gateway.port, requestOf(PATH).repeat(1_000));
    await closed(socket);
    await vi.waitFor(() => expect(answers).toHaveLength(1), { timeout: 60_000 });
    expect(begun).toBe(1);
  });

  it('that sends requests behind one which ends the connection has no more answers', async () => {
    const gateway = await open();
    const put = 'PUT /data/main/new HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n';
    await closed(converse(gateway.port, put + requestOf(PATH)).resume());
    expect((await ask(gateway.port, '/data?location')).status).toBe(200);
    expect([begun, reads]).toEqual([2, 0]);
  });

  it.each(['', 'GET /data HTTP/1.1\r\nhost: localhost\r\nx-slow: '])(
    'that does not finish the head of a request loses its connection: %j',
    async (bytes) => {
      const gateway = await open({ patience: { headMs: 200, stallMs: 60_000 } });
      await closed(converse(gateway.port, bytes).resume());
      expect(begun).toBe(0);
    },
  );

  it('has no answer to what is in the body of a request that reads', async () => {
    const gateway = await open();
    const smuggled = requestOf('/data?versioning');
    const head = (framing: string) => `GET /data?location HTTP/1.1\r\nhost: localhost\r\n${framing}\r\n\r\n`;
    const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    for (const request of [
      `${head('transfer-encoding: chunked')}${chunked}`,
      `${head(`content-length: ${smuggled.length}`)}${smuggled}`,
    ]) {
      answers = [];
      const socket = converse(gateway.port, request + requestOf('/data?list-type=2&prefix=main/'));
      let text = '';
      socket.on('data', (piece) => {
        text += piece.toString();
      });
      await vi.waitFor(() => expect(text).toContain('</ListBucketResult>'), { timeout: 60_000 });
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
      expect(text).not.toContain('VersioningConfiguration');
    }
  });
});
