import { describe, expect, it } from 'vitest';
import type { Transfer } from '../host/transfers.ts';
import { findEndings } from './transfer-endings.ts';

const RUNNING: Transfer = {
  id: 'a',
  order: { kind: 'push', root: '/data' },
  title: 'Push data',
  state: 'running',
  filesDone: 1,
  bytesDone: 1,
  bytesPerSecond: 1,
  startedMs: 0,
  failed: 0,
  warnings: [],
};
const FAILED: Transfer = { ...RUNNING, state: 'failed', endedMs: 5 };
const DONE: Transfer = { ...RUNNING, state: 'done', endedMs: 60_000 };

describe('the end of a transfer', () => {
  it('is reported once per run', () => {
    expect(findEndings([RUNNING], [DONE])).toEqual([{ title: 'Done: Push data', body: '1 file.' }]);
    expect(findEndings([DONE], [DONE])).toEqual([]);
    expect(findEndings([FAILED], [{ ...FAILED, endedMs: 9 }])).toHaveLength(1);
  });

  it('is reported even if the transfer was never seen running', () => {
    expect(findEndings([], [FAILED])).toHaveLength(1);
  });

  it('gives the cause of a failure, without command-line options that a window does not have', () => {
    const bodyOf = (code: 'unreachable' | 'unknownPeer') => {
      const error = { code, message: 'Use --trust-peer.', retry: 'no', data: {} } as const;
      return findEndings([RUNNING], [{ ...FAILED, error }])[0]?.body;
    };
    expect(bodyOf('unreachable')).toBe('Use --trust-peer.');
    expect(bodyOf('unknownPeer')).toBe('Dray shows what to do.');
  });

  it('is not reported for earlier, short or cancelled transfers', () => {
    expect(findEndings(undefined, [FAILED, DONE])).toEqual([]);
    expect(findEndings([RUNNING], [{ ...DONE, endedMs: 9_000 }])).toEqual([]);
    expect(findEndings([RUNNING], [{ ...FAILED, state: 'cancelled' }])).toEqual([]);
    expect(findEndings([RUNNING], [{ ...RUNNING, state: 'paused' }])).toEqual([]);
  });
});
