import { describe, expect, it } from 'vitest';
import type { JobEvent, ProgressEvent } from '../../api/events.ts';
import { createTransferCalls } from './transfer-calls.ts';
import { createTransferRecord } from './transfer-record.ts';

const upload = (counts: Partial<ProgressEvent>): JobEvent => ({
  type: 'progress',
  phase: 'upload',
  filesDone: 0,
  bytesDone: 0,
  requests: 0,
  ...counts,
});
const retrying: JobEvent = { type: 'warning', warning: 'retrying', message: 'Away. Trying again.' };

function begun() {
  const counts = { filesDone: 0, bytesDone: 0, failed: 0, warnings: [], failures: [] };
  const order = { kind: 'push', root: '/w' } as const;
  const record = createTransferRecord({ id: 't', order, title: 'Push w', state: 'waiting', ...counts });
  record.begin(0);
  return record;
}

describe('a transfer as windows see it', () => {
  it('shows requests in flight only while it runs, and does not count existing files in its rate', () => {
    const record = begun();
    record.note(upload({ inFlight: 3, inFlightMax: 12, bytesTotal: 1_000 }), 0);
    record.note(upload({ bytesDone: 600, bytesKept: 500, inFlight: 4, inFlightMax: 14 }), 4_000);
    const running = { bytesDone: 600, inFlight: 4, inFlightMax: 14, bytesPerSecond: 25 };
    expect(record.read(4_000)).toMatchObject(running);
    record.facts.state = 'paused';
    const { bytesPerSecond, inFlight, inFlightMax } = record.read(4_000);
    expect([bytesPerSecond, inFlight, inFlightMax]).toEqual([0, undefined, undefined]);
  });

  it('shows why it is delayed until data arrives again, and does not list that as a warning', () => {
    const record = begun();
    record.note(upload({ bytesDone: 10, wireBytes: 10 }), 0);
    record.note(retrying, 10);
    record.note(upload({ bytesDone: 10, wireBytes: 99 }), 20);
    expect(record.read(20)).toMatchObject({ notice: 'Away. Trying again.', warnings: [] });
    record.note(upload({ bytesDone: 11, wireBytes: 99 }), 30);
    expect(record.read(30).notice).toBeUndefined();
  });

  it('names the request that waits or is retried after ten seconds without progress', () => {
    let nowMs = 0;
    const record = begun();
    record.calls = createTransferCalls(() => nowMs);
    const { onCall } = record.calls;
    record.note(upload({ bytesDone: 10, wireBytes: 10 }), 0);
    expect(record.read(9_000).stall).toBeUndefined();
    expect(record.read(10_000).stall).toEqual({ sinceMs: 0 });
    const endFirst = onCall('multipart.uploadPart', `${'k'.repeat(500)}`);
    nowMs = 11_000;
    endFirst('unreachable');
    const failed = { method: 'PUT PART', key: expect.stringMatching(/^k{190,200}/), retries: 0 };
    expect(record.read(nowMs).stall?.call).toMatchObject({
      ...failed,
      isOpen: false,
      failure: 'unreachable',
    });
    onCall('multipart.uploadPart', `${'k'.repeat(500)}`);
    const again = { ...failed, isOpen: true, startedMs: 11_000, retries: 1 };
    expect(record.read(12_000).stall?.call).toMatchObject(again);
    // The same count says nothing new; one more byte does.
    record.note(upload({ bytesDone: 10, wireBytes: 10 }), 13_000);
    expect(record.read(13_000).stall).toBeDefined();
    record.note(upload({ bytesDone: 10, wireBytes: 11 }), 14_000);
    expect(record.read(14_000).stall).toBeUndefined();
    for (let at = 0; at < 100; at += 1) onCall('head', `${at}`)();
    expect(record.calls.read()).toHaveLength(50);
  });

  it('keeps showing the moved bytes while the commit is made', () => {
    const record = begun();
    record.note(upload({ filesDone: 2, filesTotal: 2, bytesDone: 9, bytesTotal: 9 }), 0);
    record.note({ type: 'phase', phase: 'commit' }, 10);
    expect(record.read(10)).toMatchObject({ phase: 'commit', filesDone: 2, bytesDone: 9, bytesTotal: 9 });
  });

  it('counts all files that failed and names the first thousand', () => {
    const record = begun();
    const error = { code: 'io', message: 'No.', retry: 'no', data: {} } as const;
    for (let at = 0; at < 1_200; at += 1) record.note({ type: 'fileFailed', path: `${at}`, error }, at);
    expect(record.read(2_000).failed).toBe(1_200);
    expect(record.read(2_000)).not.toHaveProperty('failures');
    expect(record.facts.failures).toHaveLength(1_000);
  });
});
