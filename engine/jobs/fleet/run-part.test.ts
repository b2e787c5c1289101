/** Parts with failures, and their limits, against a server that misbehaves on demand. */
import { describe, expect, it } from 'vitest';
import { runFleet } from '../../../e2e/fleet/run-fleet.ts';
import { contextIn, freshStorePerTest, store } from '../../../e2e/fresh-store.ts';
import type { FleetRequest } from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { fleetSteps as steps } from './fleet-steps.ts';

freshStorePerTest();

const request: FleetRequest = {
  kind: 'copy',
  source: { place: 's3://fake-bucket/from/' },
  destination: { place: 's3://fake-bucket/to/' },
};
const part = { range: 0, number: 0 };

function fill(files: number): void {
  for (let at = 0; at < files; at += 1) store.objects.set(`from/${at}`, Buffer.from(`content ${at}`));
}
const refused = { status: 403, code: 'AccessDenied' } as const;
/** Neither copied in the store nor read. */
const refuseOdd = () => {
  store.fault = ({ key, method }) =>
    /[13579]$/.test(key) && (method === 'COPY' || method === 'GET' || key.startsWith('to/'))
      ? refused
      : undefined;
};
const failuresOf = (id: string) =>
  Buffer.from(store.objects.get(`to/.dray-fleet/${id}/failures/00000-000000.jsonl`) ?? '').toString();

describe('A part in which files failed', () => {
  it('copies the others and names those, and a second attempt at them completes it', async () => {
    fill(20);
    refuseOdd();
    const { counts, work } = await runFleet({ context: contextIn(), id: 'half', request });
    expect(counts).toMatchObject({ files: 20, copiedFiles: 10, failed: 10, failedBy: { accessDenied: 10 } });
    const lines = failuresOf('half').trim().split('\n');
    expect(lines.length).toBe(10);
    expect(JSON.parse(lines[0]!)).toMatchObject({ path: '1', code: 'accessDenied' });
    const still = await steps.retryFailed(contextIn(), work, part);
    expect(still).toMatchObject({ retried: 10, counts: { failed: 10, files: 0 } });
    store.fault = () => undefined;
    const { counts: more, retried } = await steps.retryFailed(contextIn(), work, part);
    expect([retried, more.copiedFiles, more.failed, more.files]).toEqual([10, 10, 0, 0]);
    expect(failuresOf('half')).toBe('');
    expect(store.objects.get('to/7')?.toString()).toBe('content 7');
    expect(await steps.retryFailed(contextIn(), work, part)).toMatchObject({ retried: 0 });
  });

  it('runs again as a whole when the list of its failures is damaged', async () => {
    fill(20);
    refuseOdd();
    const { work } = await runFleet({ context: contextIn(), id: 'half', request });
    store.objects.set('to/.dray-fleet/half/failures/00000-000000.jsonl', Buffer.from('{"path":"1"\n'));
    store.fault = () => undefined;
    const { counts, retried } = await steps.retryFailed(contextIn(), work, part);
    expect([retried, counts.copiedFiles, counts.failed]).toEqual([1, 10, 0]);
    expect(failuresOf('half')).toBe('');
  });

  it('of a sync deletes nothing anywhere', async () => {
    fill(20);
    store.objects.set('to/extra', Buffer.from('x'));
    refuseOdd();
    const { report, verdict } = await runFleet({
      context: contextIn(),
      id: 'half',
      request: { ...request, kind: 'sync' },
    });
    expect(verdict).toMatchObject({ isAllowed: false, code: 'partial' });
    expect(report.reason).toMatch(/10 files failed/);
    expect(store.objects.has('to/extra')).toBe(true);
  });

  it('of a sync deletes no more than was approved, whatever happens to the source meanwhile', async () => {
    fill(4);
    for (const name of ['0', '1', '2', '3', 'extra']) store.objects.set(`to/${name}`, Buffer.from('old'));
    const { counts, verdict } = await runFleet({
      context: contextIn(),
      id: 's',
      request: { ...request, kind: 'sync' },
      around: async (name, step) => {
        const result = await step(contextIn());
        if (name === 'approveDeletes') for (const key of ['from/1', 'from/2']) store.objects.delete(key);
        return result;
      },
    });
    expect(verdict).toEqual({ isAllowed: true });
    expect(counts).toMatchObject({ deletedFiles: 0, failed: 1, failedBy: { tooManyDeletes: 1 } });
    expect(['to/1', 'to/2', 'to/extra'].every((key) => store.objects.has(key))).toBe(true);
  });

  it('reports differences to a check, which are not failures', async () => {
    fill(3);
    store.objects.set('to/0', Buffer.from('otherwise'));
    const { counts, work } = await runFleet({
      context: contextIn(),
      id: 'c',
      request: { ...request, kind: 'check' },
    });
    expect(counts).toMatchObject({ files: 3, onlyInSource: 2, differing: 1, failed: 0 });
    expect(failuresOf('c').trim().split('\n').length).toBe(3);
    expect(await steps.retryFailed(contextIn(), work, part)).toMatchObject({ retried: 0 });
  });
});

describe('A job that runs again under its name', () => {
  it('keeps no differences of an earlier run that had more parts', async () => {
    fill(9);
    const check = { ...request, kind: 'check', partFilesMax: 3, rangesWanted: 1 } as const;
    const nightly = async () => {
      await runFleet({ context: contextIn(), id: 'nightly', request: check });
      return [...store.objects.keys()].filter((key) => key.includes('/failures/')).length;
    };
    expect(await nightly()).toBe(3);
    for (let at = 1; at < 9; at += 1) store.objects.delete(`from/${at}`);
    expect(await nightly()).toBe(1);
  });
});

describe('A part of many files', () => {
  it('has few of them in flight, because a worker runs several parts', async () => {
    fill(1_500);
    const inFlight: number[] = [];
    const emit: JobContext['emit'] = (event) => {
      if (event.type === 'progress' && event.phase === 'upload')
        inFlight.push((event.filesTotal ?? 0) - event.filesDone);
    };
    const { counts } = await runFleet({ context: { ...contextIn(), emit }, id: 'many', request });
    expect(counts.copiedFiles).toBe(1_500);
    expect(Math.max(...inFlight)).toBeGreaterThan(0);
    expect(Math.max(...inFlight)).toBeLessThanOrEqual(256);
  });
});

describe('A worker with the settings of another store', () => {
  it('finds no job there, and does nothing', async () => {
    const work = { id: 'unknown', destination: 's3://fake-bucket/to/', digest: '' };
    await expect(steps.runPart(contextIn(), work, part)).rejects.toMatchObject({ code: 'notFound' });
    expect(store.log.filter((line) => !line.startsWith('GET'))).toEqual([]);
  });

  it('refuses a request that somebody has changed at the destination', async () => {
    fill(1);
    const work = await steps.begin(contextIn(), 'j', request);
    const key = 'to/.dray-fleet/j/job.json';
    const changed = Buffer.from(store.objects.get(key)!).toString().replace('/from/', '/secrets/');
    store.objects.set(key, Buffer.from(changed));
    await expect(steps.planRanges(contextIn(), work)).rejects.toMatchObject({ code: 'damaged' });
  });
});
