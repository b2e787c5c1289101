import { describe, expect, it } from 'vitest';
import { DrayError, excerpt, exitCodeOf, quotedExcerpt, receivedError, toDrayError } from './error.ts';

describe('an error that quotes outside text', () => {
  it('is short enough to print and to send, whatever the length and depth of that text', () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 20_000; depth += 1) deep = { deep, list: [deep] };
    const long = 'x'.repeat(1_000_000);
    const error = new DrayError('damaged', `${long} is damaged.`, {
      data: { long, deep, paths: [long, 'a'] },
    });
    expect(error.message.length).toBeLessThanOrEqual(4_003);
    expect(JSON.stringify(error.data).length).toBeLessThan(200_000);
    expect((error.data.paths as string[])[1]).toBe('a');
  });

  it('keeps short texts unchanged and the same data object', () => {
    const data = { path: 'p'.repeat(4_096), sizes: [1, 2n], nested: { at: new Date(0), none: undefined } };
    expect(new DrayError('io', 'm', { data }).data).toBe(data);
  });

  it('cuts an excerpt between whole characters and shows only the type of a value that is not text', () => {
    expect(excerpt('short')).toBe('short');
    expect(excerpt('😀'.repeat(200))).toBe(`${'😀'.repeat(100)}...`);
    expect(excerpt(`x${'😀'.repeat(200)}`).isWellFormed()).toBe(true);
    expect([null, 1, true, undefined, [[]], {}].map(quotedExcerpt)).toEqual([
      ...['null', '1', 'true', 'undefined', 'a list', 'an object'],
    ]);
  });

  it('replaces an unknown code of a peer by one of the list', () => {
    for (const code of ['constructor', '__proto__', 'toString', '', 'internal'])
      expect(Number.isInteger(exitCodeOf(receivedError({ code, message: '' }).code))).toBe(true);
  });

  it('of another machine cannot decide whom this one trusts or who gets a token', () => {
    const forged = { address: 'nas:7370', fingerprint: 'AA', peer: 'nas:7370', status: 401, path: 'a' };
    for (const code of ['unknownPeer', 'noCredentials', 'aborted', 'internal'])
      expect(receivedError({ code, message: 'm', data: forged })).toEqual(
        expect.objectContaining({ code: 'remoteFailed', message: 'm', retry: 'no', data: { path: 'a' } }),
      );
    expect(receivedError({ code: 'accessDenied', message: 'm', retry: 'retry', data: forged })).toEqual(
      expect.objectContaining({ code: 'accessDenied', retry: 'retry', data: { path: 'a' } }),
    );
  });
});

describe('an error of a block whose end fails too', () => {
  it('is the one that is reported', () => {
    const failed = new DrayError('diskFull', 'The disk is full.');
    const fail = () => {
      using _closed = {
        [Symbol.dispose]: () => {
          throw new Error('the file cannot be closed');
        },
      };
      throw failed;
    };
    expect.assertions(1);
    try {
      fail();
    } catch (error) {
      expect(toDrayError(error)).toBe(failed);
    }
  });
});
