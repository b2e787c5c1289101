import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { Budget } from '../base/budget.ts';
import { crc64Nvme, loadCrc64 } from '../checksums/crc64-nvme.ts';
import { noise } from './peer.fixture.ts';
import type { PeerCall } from './peer-call.ts';
import { createRangeReceiver } from './peer-ranges.ts';

beforeAll(loadCrc64);

const MIB = 1024 * 1024;
const NEVER_MS = 2 ** 30;

/** A request whose body the test writes, with only what a receiver uses. */
function openCall(sizeBytes: number, paceMs = NEVER_MS) {
  const body = new PassThrough({ highWaterMark: 4 * MIB });
  const stop = new AbortController();
  const request = Object.assign(body, { headers: { 'content-length': String(sizeBytes) } });
  const call = {
    request: request as unknown as IncomingMessage,
    signal: stop.signal,
    patience: { headersMs: NEVER_MS, paceMs, stallMs: NEVER_MS, aliveMs: NEVER_MS },
  } as PeerCall;
  return { body, call, stop };
}

describe('a receiver of ranges', () => {
  it('hands the body out in order within its memory limit, and returns its checksum', async () => {
    const content = noise(3 * MIB + 5, 1);
    const { body, call } = openCall(content.length);
    const budget = new Budget(2 * MIB);
    const arrived = Buffer.alloc(content.length);
    let out = 0;
    let outMost = 0;
    const receiving = createRangeReceiver(budget).receive(call, async (offset, chunks) => {
      out += 1;
      outMost = Math.max(outMost, out);
      expect(budget.used).toBeLessThanOrEqual(2 * MIB);
      let at = offset;
      for (const chunk of chunks) at += Buffer.from(chunk).copy(arrived, at);
      await new Promise((resolve) => setImmediate(resolve));
      out -= 1;
    });
    for (let at = 0; at < content.length; at += 50_000)
      body.write(Buffer.from(content.subarray(at, at + 50_000)));
    body.end();
    expect(await receiving).toBe(crc64Nvme(content));
    expect(arrived.equals(content)).toBe(true);
    expect(outMost).toBeLessThanOrEqual(2);
    expect(budget.used).toBe(0);
  });

  it('does not count the time in which it does not read from the client', async () => {
    const content = noise(100_000, 3);
    const { body, call } = openCall(content.length, 50);
    const budget = new Budget(MIB);
    const others = await budget.acquire(MIB);
    const receiving = createRangeReceiver(budget).receive(call, async () => {});
    // Several times as long as a client may take.
    await new Promise((resolve) => setTimeout(resolve, 300));
    others.release();
    body.end(Buffer.from(content));
    expect(await receiving).toBe(crc64Nvme(content));
  });

  it('does not collect thousands of tiny chunks in one piece', async () => {
    const content = noise(3_000, 2);
    const { body, call } = openCall(content.length);
    const counts: number[] = [];
    const receiving = createRangeReceiver(new Budget(MIB)).receive(call, async (_, chunks) => {
      counts.push(chunks.length);
    });
    for (const byte of content) body.write(Buffer.of(byte));
    body.end();
    expect(await receiving).toBe(crc64Nvme(content));
    // And handles what arrived before the pause.
    expect(Math.max(...counts)).toBeLessThanOrEqual(260);
    expect(counts.reduce((total, count) => total + count)).toBe(content.length);
  });

  it.each([
    ['is cut short', ({ body }: ReturnType<typeof openCall>) => body.end(), { status: 400 }],
    ['is broken off', ({ stop }: ReturnType<typeof openCall>) => stop.abort(), { code: 'aborted' }],
  ])('releases its memory when the body %s', async (_, end, expected) => {
    const opened = openCall(2 * MIB);
    const budget = new Budget(4 * MIB);
    const receiving = createRangeReceiver(budget).receive(opened.call, async () => {});
    opened.body.write(Buffer.alloc(MIB + 7));
    setImmediate(() => end(opened));
    await expect(receiving).rejects.toMatchObject(expected);
    expect(budget.used).toBe(0);
  });

  it('reports why a piece could not be written', async () => {
    const { body, call } = openCall(2 * MIB);
    const budget = new Budget(4 * MIB);
    const receiving = createRangeReceiver(budget).receive(call, () => Promise.reject(new Error('full')));
    body.end(Buffer.alloc(2 * MIB));
    await expect(receiving).rejects.toThrow('full');
    expect(budget.used).toBe(0);
  });
});
