/**
 * Plays the jobs of a Temporal server for the window, always at the same point: ranges in each state, and
 * three workers. `e2e/fleet` has a real server, whose jobs are elsewhere in each run.
 */
import type { Page } from 'playwright';
import type {
  FleetAction,
  FleetFailures,
  FleetJobCard,
  FleetJobView,
  FleetProgress,
  FleetRangeState,
  FleetServer,
  FleetTile,
  FleetView,
  FleetWorkerCard,
} from '../../../engine/api/host/fleet.ts';
import { relayHost } from '../relay-host.ts';

export const PLAYED_SERVER: FleetServer = {
  name: 'temporal.example:7233',
  address: 'temporal.example:7233',
  namespace: 'default',
  queue: 'dray-fleet',
};
export const PLAYED_JOB = 'archive-to-cold';
const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;

/** Done, with failures, running, waiting. */
const MAP = `${'d'.repeat(37)}f${'d'.repeat(21)}rdrrfdrrdwrr${'w'.repeat(61)}`;
const RUNNING = [...MAP].flatMap((letter, range) => (letter === 'r' ? [range] : []));
const WORKERS = ['mover-a:4211', 'mover-b:3987', 'mover-c:4102'];

/** A request of the page. */
interface Asked {
  readonly do: string;
  readonly id: number;
  readonly name?: string;
  readonly input?: { readonly job?: string; readonly action?: FleetAction };
}

export interface PlayedFleet {
  /** What the window has asked for. */
  readonly actions: readonly FleetAction[];
}

/**
 * Plays it for connections that the page opens afterwards. The list of servers stays the engine's. `awaited`
 * are workers that the job waits for.
 */
export async function playFleet(
  page: Page,
  nowMs: number,
  awaited: readonly string[] = [],
): Promise<PlayedFleet> {
  const actions: FleetAction[] = [];
  /** Shows the news to each watch. */
  const watches = new Map<number, () => void>();
  await relayHost(page, {
    toEngine(message, send, answer) {
      const { do: verb, id, input, name } = JSON.parse(message) as Asked;
      if (verb === 'stop') watches.delete(id);
      if (name === 'fleet.watch') {
        const show = () => {
          const view = withAwaited(viewOf(input?.job, actions.at(-1) === 'pause', nowMs), awaited);
          answer({ is: 'events', id, events: [{ type: 'fleet', view }] });
        };
        watches.set(id, show);
        show();
      } else if (name === 'fleet.change') {
        actions.push(input!.action!);
        answer({ is: 'answer', id, answer: input?.action === 'retryFailed' ? { retried: 'later' } : {} });
        for (const show of watches.values()) show();
      } else if (name === 'fleet.failures') answer({ is: 'answer', id, answer: FAILURES });
      else send();
    },
  });
  return { actions };
}

function viewOf(job: string | undefined, isPaused: boolean, nowMs: number): FleetView {
  const cards = cardsAt(nowMs, isPaused);
  if (job === undefined) return { jobs: cards };
  const view: FleetJobView = {
    card: cards[0]!,
    temporalUrl: `http://127.0.0.1:8233/namespaces/default/workflows/dray-fleet-${PLAYED_JOB}`,
    progress: progressOf(isPaused),
  };
  return { job: view };
}

function withAwaited(view: FleetView, awaited: readonly string[]): FleetView {
  if (!('job' in view) || view.job.progress === undefined) return view;
  return { job: { ...view.job, progress: { ...view.job.progress, awaited } } };
}

function cardsAt(nowMs: number, isPaused: boolean): readonly FleetJobCard[] {
  const hoursAgo = (hours: number) => new Date(nowMs - hours * HOUR_MS).toISOString();
  return [
    {
      id: PLAYED_JOB,
      kind: 'copy',
      source: 's3://instrument-archive/',
      destination: 's3://cold-store/instrument-archive/',
      state: isPaused ? 'paused' : 'running',
      started: hoursAgo(5),
    },
    {
      id: 'weekly-check',
      kind: 'check',
      source: 's3://instrument-archive/2025/',
      destination: 's3://cold-store/instrument-archive/2025/',
      state: 'partial',
      started: hoursAgo(40),
      ended: hoursAgo(31),
    },
    {
      id: 'camera-7',
      kind: 'sync',
      source: 's3://camera-7/',
      destination: 's3://cold-store/cameras/7/',
      state: 'done',
      started: hoursAgo(120),
      ended: hoursAgo(97),
    },
  ];
}

function progressOf(isPaused: boolean): FleetProgress {
  return {
    phase: 'move',
    ranges: MAP.length,
    rangesDone: [...MAP].filter((letter) => letter === 'd' || letter === 'f').length,
    partsDone: 7_312,
    partsRunning: isPaused ? 0 : 12,
    partsWaiting: 431,
    filesDone: 147_020_113,
    bytesDone: 61_440 * GIB,
    filesKnown: 259_300_000,
    bytesKnown: 108_800 * GIB,
    isListed: false,
    failed: 17,
    failedParts: 2,
    failedBy: { accessDenied: 14, notFound: 3 },
    findings: {},
    limits: { bytesPerSecond: 2 * GIB, requestsPerSecond: 3_500 },
    tiles: [...MAP].map((letter, range) => tileOf(letter, range, isPaused)),
    workers: isPaused ? [] : WORKERS.map(workerOf),
    workersMore: 0,
    awaited: [],
  };
}

const STATES: Readonly<Record<string, FleetRangeState>> = {
  d: 'done',
  f: 'failed',
  r: 'running',
  w: 'waiting',
};

function tileOf(letter: string, range: number, isPaused: boolean): FleetTile {
  const state = STATES[letter]!;
  const tile = { from: range, to: range, state, counts: { [state]: 1 }, share: 0, workers: [] };
  if (state !== 'running') return tile;
  const at = RUNNING.indexOf(range);
  const [files, filesKnown] = [61_000 + 23_000 * at, 240_000];
  const workers = isPaused ? [] : [WORKERS[at % WORKERS.length]!];
  return { ...tile, share: files / filesKnown, workers, files, filesKnown, isListed: at % 3 !== 2 };
}

function workerOf(name: string, at: number): FleetWorkerCard {
  const rates = Array.from(
    { length: 60 },
    (_, look) => (460 - 90 * at + 70 * Math.sin(look / (4 + at))) * 2 ** 20,
  );
  const ranges = RUNNING.filter((_, index) => index % WORKERS.length === at);
  return {
    name,
    steps: 4,
    ranges,
    files: 48_000_000 - 3_100_000 * at,
    bytes: (20_900 - 1_450 * at) * GIB,
    bytesPerSecond: rates.at(-1)!,
    filesPerSecond: 1_420 - 260 * at,
    rates,
  };
}

const FAILURES: FleetFailures = {
  isWhole: true,
  files: [
    {
      path: '2019/raw/embargoed/frame-000812.fits',
      code: 'accessDenied',
      message: 'The store refuses to read it.',
    },
    { path: '2019/raw/frame-114002.fits', code: 'notFound', message: 'It was gone when its turn came.' },
  ],
};
