import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../jobs/session/job.fixture.ts';
import { openUsageFile } from './usage-file.ts';

const requests = {
  reads: 1,
  writes: 2,
  lists: 3,
  deletes: 4,
  total: 10,
  sentBytes: 100,
  receivedBytes: 50,
  dollars: 0.25,
};

describe('the usage of remotes', () => {
  it('adds up by month and place, the newest month first', () => {
    using sandbox = createSandbox();
    const file = openUsageFile(sandbox.folder);
    const january = Date.UTC(2026, 0, 31);
    const february = Date.UTC(2026, 1, 1);
    file.add({ place: 's3://a', nowMs: january, requests });
    file.add({ place: 's3://a', nowMs: january, requests });
    file.add({ place: 's3://a', nowMs: february, requests });
    file.add({ place: 's3://b', nowMs: january, requests: { ...requests, total: 0 } });
    const [first, second, ...rest] = openUsageFile(sandbox.folder).read();
    expect(first).toEqual({ month: '2026-02', place: 's3://a', transfers: 1, requests });
    expect(second).toMatchObject({ month: '2026-01', transfers: 2, requests: { total: 20, dollars: 0.5 } });
    expect(rest).toEqual([]);
  });
});
