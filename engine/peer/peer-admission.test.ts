/** Clients without the token cannot use up the connections and tries of clients with it. */
import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../base/clock.ts';
import { startTestPeer, TEST_TOKEN, type TestPeer } from './peer.fixture.ts';
import { createAdmission, WRONG_TOKENS_MAX } from './peer-admission.ts';

interface FakeClock extends Clock {
  pass(ms: number): void;
}

function createFakeClock(): FakeClock {
  let nowMs = 0;
  return {
    ...systemClock,
    monotonicMs: () => nowMs,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

interface FakeSocket extends Socket {
  isEnded: boolean;
}

let port = 1;
function socketFrom(remoteAddress: string): FakeSocket {
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress,
    remotePort: port++,
    isEnded: false,
    destroy() {
      socket.isEnded = true;
      socket.emit('close');
    },
  });
  return socket as unknown as FakeSocket;
}

const LIMITED = expect.objectContaining({ status: 429, code: 'slowDown' });

describe('Connections that have not shown the token', () => {
  it('are at most a quarter of all: one more closes the oldest of them, never an admitted one', () => {
    const admission = createAdmission({ clock: createFakeClock(), connectionsMax: 80, waitMs: 1_000 });
    const known = Array.from({ length: 30 }, () => socketFrom('10.0.0.1'));
    for (const socket of known) {
      admission.arrived(socket);
      admission.letIn(socket);
    }
    const strangers = Array.from({ length: 25 }, () => socketFrom('10.0.0.2'));
    for (const socket of strangers) admission.arrived(socket);
    expect(strangers.map(({ isEnded }) => isEnded)).toEqual(strangers.map((_, at) => at < 5));
    expect(known.filter(({ isEnded }) => isEnded)).toEqual([]);
  });

  it.each([
    [2, 1],
    [8, 4],
    [32, 16],
    [64, 16],
    [256, 64],
  ])(
    'out of a limit of %i are at most %i: as many as one client opens, if that is not more than half',
    (connectionsMax, waiting) => {
      const admission = createAdmission({ clock: createFakeClock(), connectionsMax, waitMs: 1_000 });
      const sockets = Array.from({ length: 100 }, () => socketFrom('10.0.0.1'));
      for (const socket of sockets) admission.arrived(socket);
      expect(sockets.filter(({ isEnded }) => !isEnded)).toHaveLength(waiting);
    },
  );

  it('of an address with many are closed before one of another address', () => {
    const admission = createAdmission({ clock: createFakeClock(), connectionsMax: 16, waitMs: 1_000 });
    const honest = socketFrom('10.0.0.1');
    const flood = Array.from({ length: 50 }, (_, at) => socketFrom(`2001:db8:1:2::${at}`));
    for (const socket of [honest, ...flood]) admission.arrived(socket);
    expect(honest.isEnded).toBe(false);
    expect(flood.map(({ isEnded }) => isEnded)).toEqual(flood.map((_, at) => at < 43));
  });

  it('are closed when their time is over, and a closed one frees its place', () => {
    const clock = createFakeClock();
    const admission = createAdmission({ clock, connectionsMax: 16, waitMs: 1_000 });
    const [early, known, gone] = [socketFrom('a'), socketFrom('a'), socketFrom('a')];
    for (const socket of [early, known, gone]) admission.arrived(socket);
    admission.letIn(known);
    gone.destroy();
    clock.pass(600);
    const late = Array.from({ length: 3 }, () => socketFrom('a'));
    for (const socket of late) admission.arrived(socket);
    expect(early.isEnded).toBe(false);
    admission.expire();
    expect(early.isEnded).toBe(false);
    clock.pass(400);
    admission.expire();
    expect([early, known, ...late].map(({ isEnded }) => isEnded)).toEqual([true, false, false, false, false]);
  });
});

describe('Wrong tokens', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1', '10.0.0.2'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
    ['::1', '::1', '::ffff:10.0.0.1'],
  ])('from %s count for %s and not for %s, and one per second is forgiven', (from, same, other) => {
    const clock = createFakeClock();
    const admission = createAdmission({ clock, connectionsMax: 256, waitMs: 10_000 });
    const guess = (address: string) => admission.refused(socketFrom(address));
    for (let count = 0; count < WRONG_TOKENS_MAX; count += 1) guess(from);
    for (let count = 0; count < 1_000; count += 1) expect(() => guess(same)).toThrow(LIMITED);
    guess(other);
    clock.pass(999);
    expect(() => guess(same)).toThrow(LIMITED);
    clock.pass(1);
    guess(same);
    expect(() => guess(from)).toThrow(LIMITED);
  });

  it('are remembered for at most 1,024 addresses', () => {
    const admission = createAdmission({ clock: createFakeClock(), connectionsMax: 256, waitMs: 10_000 });
    const first = socketFrom('first');
    for (let count = 0; count < WRONG_TOKENS_MAX; count += 1) admission.refused(first);
    for (let at = 0; at < 1_023; at += 1) admission.refused(socketFrom(`10.1.${at >> 8}.${at & 255}`));
    expect(() => admission.refused(first)).toThrow(LIMITED);
    admission.refused(socketFrom('one more'));
    admission.refused(first);
  });
});

describe('A peer', () => {
  let peer: TestPeer;
  afterEach(() => peer?.[Symbol.asyncDispose]());

  /** Sends everything, and resolves with the answer once the peer has closed the connection. */
  function sendRaw(text: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(peer.port(), '127.0.0.1');
      let answer = '';
      socket.setEncoding('latin1').on('data', (piece) => {
        answer += piece;
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(answer));
      socket.write(text);
    });
  }

  const get = (token: string) =>
    `GET /v1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n${token && `Authorization: Bearer ${token}\r\n`}\r\n`;

  it.each(['', 'wrong'])('closes the connection after 401 for the token "%s", unasked', async (token) => {
    peer = await startTestPeer();
    const answer = await sendRaw(get(token).repeat(3));
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
    expect(answer).toMatch(/connection: close/i);
  });

  it('answers a client with the token while clients without it hold all the connections they can', async () => {
    peer = await startTestPeer({ connectionsMax: 8 });
    const strangers: Socket[] = [];
    for (let count = 0; count < 40; count += 1) {
      const socket = connect(peer.port(), '127.0.0.1');
      socket.on('error', () => {});
      strangers.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve));
      if (count % 2 === 0) socket.write('GET /v1/ HTTP/1.1\r\n');
    }
    expect(await sendRaw(get(TEST_TOKEN).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))).toMatch(
      /^HTTP\/1\.1 200/,
    );
    for (const socket of strangers) socket.destroy();
  });

  it('answers 401 to ten of many guesses at once, 429 to the others, and the right token at any time', async () => {
    const clock = createFakeClock();
    peer = await startTestPeer({ clock, connectionsMax: 1_024 });
    const statusOf = async (token: string) => (await sendRaw(get(token))).slice(9, 12);
    const answersTo = async (guesses: number) => {
      const statuses = await Promise.all(Array.from({ length: guesses }, (_, at) => statusOf(`guess-${at}`)));
      return {
        401: statuses.filter((one) => one === '401').length,
        429: statuses.filter((one) => one === '429').length,
      };
    };
    expect(await answersTo(200)).toEqual({ 401: WRONG_TOKENS_MAX, 429: 200 - WRONG_TOKENS_MAX });
    const right = get(TEST_TOKEN).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    expect((await sendRaw(right)).slice(9, 12)).toBe('200');
    const limited = await sendRaw(get('wrong').repeat(3));
    expect(limited.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 429']);
    expect(limited).toMatch(/retry-after: 1[\s\S]*connection: close|connection: close[\s\S]*retry-after: 1/i);
    clock.pass(1_000);
    expect(await answersTo(20)).toEqual({ 401: 1, 429: 19 });
    expect((await sendRaw(right)).slice(9, 12)).toBe('200');
  });
});
