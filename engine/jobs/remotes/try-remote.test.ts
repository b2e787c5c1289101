import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { CheckEvent, JobEvent } from '../../api/events.ts';
import type { JobContext, MetPeer } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { sweepSteps } from '../../base/sweep-steps.fixture.ts';
import { serveForTest, TEST_TOKEN } from '../../peer/peer.fixture.ts';
import { fingerprintOf } from '../../peer/peer-certificate.ts';
import { ownCertificate } from '../../peer/peer-own-certificate.ts';
import { openFileStore } from '../../remotes/file/file-store.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { GetOptions, ObjectStore } from '../../remotes/object-store.ts';
import { parseRemoteUrl } from '../../remotes/remote-url.ts';
import { createFaults, type FaultCall, withFaults } from '../../remotes/wrappers/with-faults.fixture.ts';
import { createMeter, withMeter } from '../../remotes/wrappers/with-meter.ts';
import { createSandbox, testContext } from '../session/job.fixture.ts';
import { conditionalWritesHold, probeRemote, tryRemote } from './try-remote.ts';

async function probe(store: ObjectStore, signal = new AbortController().signal) {
  const events: JobEvent[] = [];
  const emit = (event: JobEvent) => void events.push(event);
  const summary = await probeRemote(store, { signal, clock: systemClock, emit });
  const checks = events.filter((event) => event.type === 'check');
  return { summary, checks, results: resultsOf(checks) };
}

const resultsOf = (checks: readonly CheckEvent[]) =>
  Object.fromEntries(checks.map((check) => [check.check, check.result]));

const ALL_OK = {
  credentials: 'ok',
  write: 'ok',
  read: 'ok',
  'range reads': 'ok',
  listing: 'ok',
  multipart: 'ok',
  'part copy': 'ok',
  checksums: 'ok',
  'conditional writes': 'ok',
  clock: 'ok',
  latency: 'ok',
};

/** Some servers accept the condition and ignore it. */
function ignoringConditions(store: ObjectStore): ObjectStore {
  return {
    ...store,
    put: (key, bytes, { condition: _, ...options } = {}) => store.put(key, bytes, options),
  };
}

/**
 * versitygw before 1.8: correct for one writer at a time, but racing writers all check before any of them
 * writes.
 */
function lookingBeforeWriting(store: ObjectStore): ObjectStore {
  return {
    ...store,
    async put(key, bytes, { condition, ...options } = {}) {
      const present = condition && (await store.head(key));
      if (condition && 'absent' in condition && present) return { written: false };
      if (condition && 'etag' in condition && present?.etag !== condition.etag) return { written: false };
      await new Promise((resolve) => setTimeout(resolve, 1));
      return store.put(key, bytes, options);
    },
  };
}

const leftIn = async (store: ObjectStore) => (await store.list({ prefix: '' })).objects;

describe('The test of a remote', () => {
  it('passes every check on a store in memory and leaves nothing there', async () => {
    const store = createMemoryStore();
    const { summary, results } = await probe(store);
    expect(results).toEqual(ALL_OK);
    expect(summary).toMatchObject({ ok: 11, failed: 0, warnings: 0, safeForTwoWriters: true });
    expect(await leftIn(store)).toEqual([]);
  });

  it('passes every check on a folder and leaves it empty', async () => {
    const root = await mkdtemp(join(tmpdir(), 'dray-remote-test-'));
    try {
      const events: JobEvent[] = [];
      const context: JobContext = {
        directory: root,
        connection: {},
        environment: {},
        signal: new AbortController().signal,
        emit: (event) => void events.push(event),
      };
      const summary = await tryRemote(context, { target: root, url: parseRemoteUrl(root, '/') });
      expect(resultsOf(events as CheckEvent[])).toEqual(ALL_OK);
      expect(summary).toMatchObject({ url: `file://${root}`, failed: 0, safeForTwoWriters: true });
      expect(await readdir(root)).toEqual([]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  it('trusts a peer as every command does: once its certificate is accepted', async () => {
    using sandbox = createSandbox();
    const tls = await ownCertificate(sandbox.path('server'), 'here');
    await mkdir(sandbox.path('repository'));
    const server = await serveForTest(sandbox.folder, { tls });
    try {
      const environment = { DRAY_CONFIG: sandbox.path('client/config.json'), DRAY_TOKEN: TEST_TOKEN };
      const met: MetPeer[] = [];
      const trustsNewPeer = async (peer: MetPeer) => met.push(peer) > 0;
      const context = testContext(sandbox.folder, { environment, trustsNewPeer });
      const target = `dray://127.0.0.1:${server.address.port}/repository?tls=on`;
      const request = { target, url: parseRemoteUrl(target, '/', { from: 'typed' }) };
      const stranger = testContext(sandbox.folder, { environment });
      expect(await tryRemote(stranger, request)).toMatchObject({ ok: 0, failed: 1 });
      expect(await tryRemote(context, request)).toMatchObject({ failed: 0, safeForTwoWriters: true });
      const address = `127.0.0.1:${server.address.port}`;
      expect(met).toEqual([{ address, fingerprint: fingerprintOf(tls.cert) }]);
    } finally {
      await server.close();
    }
  });

  it('reports a missing folder', async () => {
    const events: JobEvent[] = [];
    const context: JobContext = {
      directory: '/',
      connection: {},
      environment: {},
      signal: new AbortController().signal,
      emit: (event) => void events.push(event),
    };
    const target = join(tmpdir(), 'dray-no-such-folder');
    const summary = await tryRemote(context, { target, url: parseRemoteUrl(target, '/') });
    expect(summary).toMatchObject({ ok: 0, failed: 1, safeForTwoWriters: false });
    expect(events).toMatchObject([{ check: 'place', result: 'failed' }]);
  });

  it('reports a store that ignores conditions as unsafe for two writers', async () => {
    const store = createMemoryStore();
    const { summary, checks, results } = await probe(ignoringConditions(store));
    expect(results).toEqual({ ...ALL_OK, 'conditional writes': 'failed' });
    expect(checks.find((check) => check.check === 'conditional writes')?.detail).toMatch(
      /^Unsafe for two writers/,
    );
    expect(summary).toMatchObject({ failed: 1, safeForTwoWriters: false });
    expect(await leftIn(store)).toEqual([]);
  });

  it('reports a store whose racing writers both win as unsafe for two writers', async () => {
    const { summary, checks } = await probe(lookingBeforeWriting(createMemoryStore()));
    expect(checks.find((check) => check.check === 'conditional writes')?.detail).toMatch(/16 of 16 racing/);
    expect(summary.safeForTwoWriters).toBe(false);
  });

  it('warns of a store that does not verify checksums of uploads', async () => {
    const memory = createMemoryStore();
    const store: ObjectStore = {
      ...memory,
      put: (key, bytes, { checksum: _, ...options } = {}) => memory.put(key, bytes, options),
    };
    const { summary, results } = await probe(store);
    expect(results).toEqual({ ...ALL_OK, checksums: 'warning' });
    expect(summary).toMatchObject({ failed: 0, warnings: 1, safeForTwoWriters: true });
  });

  it('reports missing operations as not supported', async () => {
    const { multipart: _, ...plain } = createMemoryStore();
    const { results } = await probe(plain);
    expect(results).toEqual({ ...ALL_OK, multipart: 'notSupported', 'part copy': 'notSupported' });
    const faults = createFaults();
    faults.add('uploadPartCopy').errorInstead(new DrayError('unsupported', 'Not implemented.'));
    expect((await probe(withFaults(createMemoryStore(), faults))).results).toEqual({
      ...ALL_OK,
      'part copy': 'notSupported',
    });
    faults.verifyAllExercised();
  });

  it('fails when Dray cannot work without a missing operation', async () => {
    const faults = createFaults();
    const isRange = (call: FaultCall) => (call.arguments[1] as GetOptions).range !== undefined;
    faults.add('read').when(isRange).errorInstead(new DrayError('unsupported', 'No ranges here.'));
    const { results } = await probe(withFaults(createMemoryStore(), faults));
    expect(results).toEqual({ ...ALL_OK, 'range reads': 'failed' });
    faults.verifyAllExercised();
  });

  it('stops after a failed check that all others need', async () => {
    const faults = createFaults();
    faults.add('list').errorInstead(new DrayError('accessDenied', 'Wrong secret.')).repeat(2);
    const { summary, checks } = await probe(withFaults(createMemoryStore(), faults));
    expect(checks).toMatchObject([{ check: 'credentials', result: 'failed', detail: 'Wrong secret.' }]);
    expect(summary).toMatchObject({ ok: 0, failed: 1, safeForTwoWriters: false });
    faults.verifyAllExercised();
  });

  it('names what it had to leave behind', async () => {
    const faults = createFaults();
    faults.add('delete').errorInstead(new DrayError('accessDenied', 'No removals.'));
    const { summary, results } = await probe(withFaults(createMemoryStore(), faults));
    expect(results).toEqual({ ...ALL_OK, 'clean-up': 'failed' });
    expect(summary).toMatchObject({ failed: 1, safeForTwoWriters: true });
    faults.verifyAllExercised();
  });

  it('removes what it wrote even when it is stopped, at any request', async () => {
    const stopAtPut = async (put: number) => {
      const memory = createMemoryStore();
      const control = new AbortController();
      const faults = createFaults();
      faults.add('put').repeat(put - 1);
      faults.add('put').after(() => control.abort());
      const outcome = await probe(withFaults(memory, faults), control.signal).then(
        () => 'whole',
        ({ code }) => code,
      );
      expect(outcome).toBe(control.signal.aborted ? 'aborted' : 'whole');
      expect(await leftIn(memory)).toEqual([]);
      return control.signal.aborted;
    };
    await sweepSteps(stopAtPut, { stride: 1, least: 10 });
  });

  it('warns of clocks that differ, and fails when the store would refuse every signature', async () => {
    for (const [offsetMs, result] of [
      [60_000, 'ok'],
      [-6 * 60_000, 'warning'],
      [20 * 60_000, 'failed'],
    ] as const) {
      const clock = { ...systemClock, nowMs: () => Date.now() + offsetMs };
      expect((await probe(createMemoryStore({ clock }))).results).toEqual({ ...ALL_OK, clock: result });
    }
  });
});

describe('The short test of conditional writes', () => {
  const signal = new AbortController().signal;

  it('passes on stores that keep the contract, with few requests, and leaves nothing there', async () => {
    const meter = createMeter();
    const memory = createMemoryStore();
    expect(await conditionalWritesHold(withMeter(memory, meter), signal)).toBe(true);
    expect(meter.totals().total).toBe(17);
    expect(await leftIn(memory)).toEqual([]);
    const root = await mkdtemp(join(tmpdir(), 'dray-conditions-'));
    try {
      const store = await openFileStore({ root });
      expect(await conditionalWritesHold(store, signal)).toBe(true);
      await store.close();
      expect(await readdir(root)).toEqual([]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  it('does not pass on stores that ignore conditions, lose races or do not support them', async () => {
    expect(await conditionalWritesHold(ignoringConditions(createMemoryStore()), signal)).toBe(false);
    expect(await conditionalWritesHold(lookingBeforeWriting(createMemoryStore()), signal)).toBe(false);
    const faults = createFaults();
    faults.add('put').errorInstead(new DrayError('unsupported', 'Not implemented.'));
    expect(await conditionalWritesHold(withFaults(createMemoryStore(), faults), signal)).toBe(false);
    faults.verifyAllExercised();
  });

  it('throws when the remote cannot be reached', async () => {
    const faults = createFaults();
    faults.add('put').errorInstead(new DrayError('unreachable', 'Gone.'));
    await expect(
      conditionalWritesHold(withFaults(createMemoryStore(), faults), signal),
    ).rejects.toMatchObject({
      code: 'unreachable',
    });
  });
});
