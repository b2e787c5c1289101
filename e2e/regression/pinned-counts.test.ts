import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { findWhyNotTraced, parseStraceSummary } from './kernel-calls.ts';
import { compareCounts, describeDifferences, writePinned } from './pinned-counts.ts';

describe('A run is compared with the table:', () => {
  it('requests, syncs, renames, commits and threads must be equal', () => {
    const was = {
      requests: { PutObject: 5, HeadObject: 2 },
      kernel: { syncs: 4 },
      serving: { renames: 100 },
    };
    const is = { requests: { PutObject: 5, HeadObject: 3 }, kernel: { syncs: 3 }, serving: { renames: 101 } };
    expect(compareCounts(was, was)).toEqual([]);
    expect(compareCounts(was, is)).toEqual([
      { group: 'requests', count: 'HeadObject', was: 2, is: 3, slack: 0 },
      { group: 'kernel', count: 'syncs', was: 4, is: 3, slack: 0 },
      { group: 'serving', count: 'renames', was: 100, is: 101, slack: 0 },
    ]);
  });

  it('other counts may differ by a twentieth, and small ones by three', () => {
    const was = { calls: { opens: 1_000, reads: 10 } };
    expect(compareCounts(was, { calls: { opens: 1_050, reads: 13 } })).toEqual([]);
    expect(compareCounts(was, { calls: { opens: 950, reads: 7 } })).toEqual([]);
    expect(compareCounts(was, { calls: { opens: 1_051, reads: 14 } })).toHaveLength(2);
    expect(compareCounts(was, { calls: { opens: 949, reads: 6 } })).toHaveLength(2);
  });

  it('bytes of buffers may differ by a fifth', () => {
    const was = { calls: { bufferBytes: 1_000 } };
    expect(compareCounts(was, { calls: { bufferBytes: 800 } })).toEqual([]);
    expect(compareCounts(was, { calls: { bufferBytes: 1_201 } })).toHaveLength(1);
  });

  it('an absent count is zero, and a group that was not counted is skipped', () => {
    expect(compareCounts({ requests: { PutObject: 1 } }, { requests: { HeadObject: 1 } })).toEqual([
      { group: 'requests', count: 'PutObject', was: 1, is: 0, slack: 0 },
      { group: 'requests', count: 'HeadObject', was: 0, is: 1, slack: 0 },
    ]);
    expect(compareCounts({ kernel: { syncs: 4 } }, { requests: {} })).toEqual([]);
  });

  it('the message names the job, the count, both values and the command', () => {
    const differences = compareCounts(
      { calls: { syncs: 1, opens: 90 } },
      { calls: { syncs: 2_001, opens: 190 } },
    );
    expect(describeDifferences('a push', differences, 'npm run rewrite').split('\n')).toEqual([
      '"a push" costs more or less than before:',
      '  calls syncs: was 1 (exactly), is 2,001',
      '  calls opens: was 90 (give or take 4), is 190',
      'If that is intended, write a new table, review its changes, and commit it: npm run rewrite',
    ]);
  });

  it('a new table keeps counts within the slack and drops jobs that are gone', () => {
    using sandbox = createSandbox();
    const path = sandbox.path('table.json');
    const before = {
      gone: { calls: { opens: 1 } },
      kept: { calls: { opens: 100, reads: 100, writes: 9 }, kernel: { syncs: 4 } },
    };
    const now = {
      kept: { calls: { opens: 104, reads: 106, writes: 0 } },
      fresh: { requests: { GetObject: 1 } },
    };
    writePinned(path, before, now);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      kept: { calls: { opens: 100, reads: 106 }, kernel: { syncs: 4 } },
      fresh: { requests: { GetObject: 1 } },
    });
  });
});

describe("The kernel's calls", () => {
  it("are read from strace's summary, with and without errors", () => {
    const summary = [
      '% time     seconds  usecs/call     calls    errors syscall',
      '------ ----------- ----------- --------- --------- ----------------',
      ' 60.00    0.000272          17        16         1 openat',
      ' 30.00    0.000172          17        10           fsync',
      ' 10.00    0.000072          17         2           fdatasync',
      '------ ----------- ----------- --------- --------- ----------------',
      '100.00    0.000516          17        28         1 total',
    ].join('\n');
    expect(parseStraceSummary(summary)).toEqual({
      opens: 16,
      reads: 0,
      writes: 0,
      syncs: 12,
      renames: 0,
      removals: 0,
    });
    expect(parseStraceSummary('')).toMatchObject({ opens: 0, syncs: 0 });
  });

  it('are skipped with a reason where strace is missing', async () => {
    const { PATH } = process.env;
    process.env.PATH = '/nowhere';
    try {
      expect(await findWhyNotTraced()).toContain('ENOENT');
    } finally {
      process.env.PATH = PATH;
    }
  });
});
