import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readDropped } from './dropped-body.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the body of a dropped file', () => {
  it('waits for a reader that takes an hour over each piece', async () => {
    const request = new PassThrough();
    const pieces = readDropped(request);
    request.write('first');
    expect(String((await pieces.next()).value)).toBe('first');
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(request.destroyed).toBe(false);
    request.end('last');
    expect(String((await pieces.next()).value)).toBe('last');
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(await pieces.next()).toMatchObject({ done: true });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fails when an awaited piece does not come', async () => {
    const request = new PassThrough();
    const piece = readDropped(request).next();
    const failed = expect(piece).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(60_000);
    await failed;
    expect(request.destroyed).toBe(true);
  });

  it('leaves the request open for an answer when reading stops early', async () => {
    const request = new PassThrough();
    request.write('first');
    for await (const piece of readDropped(request)) {
      expect(String(piece)).toBe('first');
      break;
    }
    expect(request.destroyed).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
