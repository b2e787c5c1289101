/** The requests for fleets. A table of jobs plays Temporal here; `e2e/fleet` has a real one. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import type { FleetJobCard, FleetServer, FleetView } from '../../api/host/fleet.ts';
import type { FleetConnection, FleetLook } from '../../api/host/fleet-link.ts';
import { NO_FLEET_COUNTS } from '../../api/jobs/fleet.ts';
import { systemClock } from '../../base/clock.ts';
import { createSandbox } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture } from '../host.fixture.ts';

const SERVER: FleetServer = {
  name: 'here',
  address: '127.0.0.1:7233',
  namespace: 'default',
  queue: 'dray-fleet',
};
const CARD: FleetJobCard = {
  id: 'nightly',
  kind: 'copy',
  source: 's3://from/',
  destination: 's3://to/',
  state: 'running',
  started: '2026-01-02T03:04:05.000Z',
};
const LOOK: FleetLook = {
  kind: 'copy',
  state: 'paused',
  phase: 'move',
  ranges: 3,
  rangesDone: 1,
  map: 'drw',
  running: [{ range: 1, files: 5, filesKnown: 10, isListed: true, failed: 0, workers: ['a:1'] }],
  partsDone: 4,
  partsRunning: 1,
  partsWaiting: 2,
  failedParts: 0,
  filesDone: 25,
  bytesDone: 250,
  filesKnown: 30,
  bytesKnown: 300,
  isListed: false,
  counts: { ...NO_FLEET_COUNTS, failed: 2, failedBy: { accessDenied: 2 } },
  awaited: ['b'],
  limits: {},
  workers: [{ worker: 'a:1', steps: 1, ranges: [1], total: { steps: 3, files: 9, bytes: 90, atMs: 1 } }],
};
const silent = () => new DrayError('remoteFailed', 'No worker polls.');

let fixture: HostFixture;
/** The answers of the played Temporal. */
let temporal: { card: FleetJobCard; look: () => FleetLook; isAway: boolean };
let calls: string[];

const connection: FleetConnection = {
  list: async () => [temporal.card],
  async describe(id) {
    if (temporal.isAway) throw new DrayError('unreachable', 'Temporal does not answer.');
    if (id !== temporal.card.id) throw new DrayError('notFound', `There is no job ${id}.`);
    return temporal.card;
  },
  async status() {
    calls.push('status');
    return temporal.look();
  },
  work: async (id) => ({ id, destination: 's3://to/', digest: '' }),
  pause: async (id) => void calls.push(`pause ${id}`),
  resume: async (id) => void calls.push(`resume ${id}`),
  cancel: async (id) => void calls.push(`cancel ${id}`),
  retryFailed: async () => 'started',
  [Symbol.asyncDispose]: async () => void calls.push('closed'),
};

beforeEach(() => {
  calls = [];
  temporal = { card: CARD, look: () => LOOK, isAway: false };
  fixture = createHostFixture(createSandbox(), {
    // Each look follows the one before at once.
    clock: {
      ...systemClock,
      sleep: async (_pauseMs, signal) => void (await setImmediate(undefined, given(signal))),
    },
    fleetLink: async () => ({
      connect: async (server) => {
        calls.push(`to ${server.address}`);
        return connection;
      },
    }),
  });
});
afterEach(() => fixture[Symbol.asyncDispose]());

const given = (signal: AbortSignal | undefined) => (signal ? { signal } : {});

/** Watches until a view fits. */
async function viewOf(job: string | undefined, fits: (view: FleetView) => boolean): Promise<FleetView> {
  const stopping = new AbortController();
  const { promise, reject, resolve } = Promise.withResolvers<FleetView>();
  fixture.client
    .ask(
      'fleet.watch',
      { server: 'here', ...(job === undefined ? {} : { job }) },
      {
        signal: stopping.signal,
        onEvents: (events) => {
          for (const event of events) if (event.type === 'fleet' && fits(event.view)) resolve(event.view);
        },
      },
    )
    .catch(reject);
  try {
    return await promise;
  } finally {
    stopping.abort();
  }
}

const jobIn = (view: FleetView) => ('job' in view ? view.job : undefined);
const keep = (server: Partial<FleetServer> = {}, from?: string) =>
  fixture.client.ask('fleet.keepServer', {
    server: { ...SERVER, ...server },
    ...(from === undefined ? {} : { from }),
  });

describe('the servers of fleets', () => {
  it('are kept for the next window, changed and removed', async () => {
    const names = async (host = fixture) =>
      (await host.client.ask('fleet.servers', {})).servers.map(({ name }) => name);
    expect(await names()).toEqual([]);
    await keep();
    await keep({ name: 'cloud', apiKeyPath: '/etc/key' });
    await keep({ name: 'elsewhere', namespace: 'other' }, 'here');
    await expect(keep({ name: 'cloud' })).rejects.toMatchObject({ code: 'usage' });
    expect(await names()).toEqual(['elsewhere', 'cloud']);
    await fixture.client.ask('fleet.removeServer', { name: 'elsewhere' });
    const next = fixture.reopen();
    expect(await names(next)).toEqual(['cloud']);
    await next.host.close();
  });

  it('begin with that of TEMPORAL_ADDRESS', async () => {
    await keep();
    const { host } = fixture;
    host.setEnvironment({ ...host.environment, TEMPORAL_ADDRESS: 'far:7233', TEMPORAL_NAMESPACE: 'team' });
    const { servers } = await fixture.client.ask('fleet.servers', {});
    expect(servers).toMatchObject([
      { address: 'far:7233', namespace: 'team', isGiven: true },
      { name: 'here' },
    ]);
  });

  it.each([
    { address: 'no-port' },
    { uiUrl: 'javascript:alert(1)' },
    { uiUrl: 'https://user:secret@host/' },
    { apiKeyPath: 'relative' },
    { name: 'two\nlines' },
  ])('refuse %j', async (bad) => {
    await expect(keep(bad)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a window on fleets', () => {
  beforeEach(() => keep().then(() => {}));

  it('lists the jobs, and ends its connection when it stops', async () => {
    expect(await viewOf(undefined, (view) => 'jobs' in view)).toEqual({ jobs: [CARD] });
    await expect.poll(() => calls).toEqual(['to 127.0.0.1:7233', 'closed']);
  });

  it('shows a job with its map, its workers and its failures', async () => {
    const view = jobIn(await viewOf('nightly', (seen) => jobIn(seen)?.progress !== undefined));
    expect(view).toMatchObject({
      card: { id: 'nightly', state: 'paused' },
      temporalUrl: 'http://127.0.0.1:8233/namespaces/default/workflows/dray-fleet-nightly',
      progress: {
        failed: 2,
        failedBy: { accessDenied: 2 },
        tiles: [{ state: 'done' }, { state: 'running', share: 0.5, workers: ['a:1'] }, { state: 'waiting' }],
        workers: [{ name: 'a:1', files: 9, bytes: 90 }],
        awaited: ['b'],
      },
    });
  });

  it('shows what a check found, and not what a sync would delete', async () => {
    const counts = { ...NO_FLEET_COUNTS, differing: 2, onlyInDestination: 1 };
    const findingsOf = async (kind: string) => {
      temporal.look = () => ({ ...LOOK, kind, counts });
      return jobIn(await viewOf('nightly', (seen) => jobIn(seen)?.progress !== undefined))?.progress
        ?.findings;
    };
    expect(await findingsOf('check')).toEqual({ differing: 2, onlyInDestination: 1 });
    expect(await findingsOf('sync')).toEqual({});
  });

  it('links to the screens of Temporal that the server names', async () => {
    await keep({ uiUrl: 'https://cloud.example/temporal/' }, 'here');
    const view = jobIn(await viewOf('nightly', (seen) => jobIn(seen) !== undefined));
    expect(view?.temporalUrl).toBe(
      'https://cloud.example/temporal/namespaces/default/workflows/dray-fleet-nightly',
    );
  });

  it('shows a job without progress while no worker answers, and its progress once one does', async () => {
    temporal.look = () => {
      throw silent();
    };
    const view = jobIn(await viewOf('nightly', (seen) => jobIn(seen)?.silence !== undefined));
    expect(view).toMatchObject({ card: CARD, silence: { code: 'remoteFailed' } });
    expect(view).not.toHaveProperty('progress');
    temporal.look = () => LOOK;
    const later = jobIn(await viewOf('nightly', (seen) => jobIn(seen)?.progress !== undefined));
    expect(later).not.toHaveProperty('silence');
  });

  it('reads the status of a job that has ended once', async () => {
    temporal.card = { ...CARD, state: 'done', ended: CARD.started };
    temporal.look = () => ({ ...LOOK, state: 'done' });
    let views = 0;
    await viewOf('nightly', (seen) => {
      if (jobIn(seen)?.progress) views += 1;
      return views === 5;
    });
    expect(calls.filter((call) => call === 'status')).toHaveLength(1);
  });

  it('reconnects after Temporal was away for a while', async () => {
    temporal.isAway = true;
    await viewOf('nightly', (view) => {
      // The first view says so; then Temporal is back.
      if ('error' in view) temporal.isAway = false;
      return jobIn(view)?.progress !== undefined;
    });
    const count = (call: string) => calls.filter((each) => each === call).length;
    expect(count('to 127.0.0.1:7233')).toBeGreaterThan(1);
    await expect.poll(() => count('closed')).toBe(count('to 127.0.0.1:7233'));
  });

  it('fails for a job and for a server that do not exist', async () => {
    await expect(viewOf('other', () => true)).rejects.toMatchObject({ code: 'notFound' });
    await fixture.client.ask('fleet.removeServer', { name: 'here' });
    await expect(viewOf(undefined, () => true)).rejects.toMatchObject({ code: 'notFound' });
  });

  it('passes on the requests of its buttons', async () => {
    const change = (action: 'pause' | 'resume' | 'cancel' | 'retryFailed') =>
      fixture.client.ask('fleet.change', { server: 'here', job: 'nightly', action });
    expect(await change('pause')).toEqual({});
    await change('resume');
    await change('cancel');
    expect(await change('retryFailed')).toEqual({ retried: 'started' });
    expect(calls.filter((call) => call.endsWith('nightly'))).toEqual([
      'pause nightly',
      'resume nightly',
      'cancel nightly',
    ]);
  });
});

describe('a program without the code for Temporal', () => {
  it('says so', async () => {
    await using plain = createHostFixture();
    await plain.client.ask('fleet.keepServer', { server: SERVER });
    const watching = plain.client.ask('fleet.watch', { server: 'here' });
    await expect(watching).rejects.toMatchObject({ code: 'unsupported' });
  });
});
