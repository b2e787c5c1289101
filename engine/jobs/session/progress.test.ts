/**
 * Progress counts only what has arrived, its totals are honest, and what was there already does not count as
 * speed.
 */
import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent, ProgressEvent } from '../../api/events.ts';
import { systemClock } from '../../base/clock.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { copyTree } from '../trees/copy-tree.ts';
import { createSandbox, eventsOf, type Sandbox, type TestContext, testContext } from './job.fixture.ts';
import { createProgress } from './progress.ts';

const MIB = 1024 * 1024;
const FILES = 6;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

async function workspace(): Promise<string> {
  const root = sandbox.path('work');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('remote') });
  for (let at = 0; at < FILES; at += 1) sandbox.write(`work/${at}.bin`, Buffer.alloc(2 * MIB, at + 1));
  return root;
}

const moving = (context: TestContext, phase: ProgressEvent['phase']) =>
  eventsOf(context, 'progress').filter((event) => event.phase === phase);

describe('the progress of a push', () => {
  it('counts what is on the remote, and reports how many requests are in flight', async () => {
    const context = testContext(await workspace());
    await push(context, {});
    const reported = moving(context, 'upload');
    expect(reported[0]!.bytesDone).toBeLessThan(FILES * 2 * MIB);
    expect(reported.every(({ inFlightMax = 0 }) => inFlightMax > 0)).toBe(true);
    expect(Math.max(...reported.map(({ inFlight = 0 }) => inFlight))).toBeGreaterThan(0);
    const size = { filesTotal: FILES, bytesTotal: FILES * 2 * MIB };
    expect(reported.at(-1)).toMatchObject({ filesDone: FILES, bytesDone: FILES * 2 * MIB, ...size });
    expect(reported.at(-1)!.bytesKept).toBeUndefined();
  });

  it('starts from what a stopped push has uploaded, which does not count as speed', async () => {
    const root = await workspace();
    const stopping = new AbortController();
    const stopAtFirst = (event: JobEvent) => {
      if (event.type === 'progress' && event.phase === 'upload' && event.filesDone > 0) stopping.abort();
    };
    const connection = { transfers: 1 };
    const stopped = testContext(root, { connection, signal: stopping.signal, emit: stopAtFirst });
    await expect(push(stopped, {})).rejects.toMatchObject({ code: 'aborted' });

    const context = testContext(root);
    await push(context, {});
    const reported = moving(context, 'upload');
    const size = { filesTotal: FILES, bytesTotal: FILES * 2 * MIB };
    for (const event of reported) expect(event).toMatchObject(size);
    const { bytesDone, bytesKept = 0, filesDone } = reported.at(-1)!;
    expect([filesDone, bytesDone]).toEqual([FILES, FILES * 2 * MIB]);
    expect(bytesKept).toBeGreaterThanOrEqual(2 * MIB);
    expect(bytesKept).toBeLessThan(FILES * 2 * MIB);
  });
});

describe('the progress of a copy', () => {
  it('reports totals as found so far while it scans, and final ones after the scan', async () => {
    // More than may be in flight at once: the scan has to wait for transfers.
    const files = 3_000;
    for (let at = 0; at < files; at += 1) sandbox.write(`from/${at}`, 'x');
    const context = testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
    await copyTree(context, { source: { place: 'from' }, destination: { place: 'to' } });
    const reported = moving(context, 'write');
    expect(reported[0]).toMatchObject({ isCounting: true });
    expect(reported[0]!.filesTotal).toBeLessThan(files);
    for (const { filesDone, filesTotal } of reported) expect(filesTotal).toBeGreaterThanOrEqual(filesDone);
    expect(reported.at(-1)).toMatchObject({ filesDone: files, filesTotal: files, bytesTotal: files });
    expect(reported.at(-1)!.isCounting).toBeUndefined();
  });
});

describe('the progress of a phase', () => {
  function begin(inFlight: number) {
    const context = testContext('/');
    const traffic = { read: () => ({ requests: 1, inFlight }), watch: () => {} };
    const start = () => createProgress({ context, clock: systemClock }, { phase: 'upload', traffic });
    return { start, bytes: () => moving(context, 'upload').map(({ bytesDone }) => bytesDone) };
  }

  it('includes the last bytes before all requests stand still, but none after the job or its phase', async () => {
    const [failed, left, still] = [begin(0), begin(1), begin(1)];
    for (const job of [failed, left, still]) {
      const progress = job.start();
      for (const _ of [1, 2, 3]) progress.add(0, 1);
    }
    left.start();
    await expect.poll(still.bytes).toEqual([1, 3]);
    expect([failed.bytes(), left.bytes()]).toEqual([[1], [1]]);
  });
});
