/**
 * A fleet's job over very many objects that do not exist: a synthetic store lists them, parts sleep for
 * `--ms-for-object` an object instead of copying, and the rest is real (Temporal, the workflows, planning,
 * cutting, documents). It shows histories, and memory while the job grows. `--computed MS` leaves the listing
 * out as well: a part is cut by arithmetic, after so many milliseconds.
 *
 *     node bench/fleet/simulation.ts [--millions 1,10] [--part-files 20000] [--ranges 64] [--slots 128]
 *       [--ms-for-object MS] [--computed MS] [--json FILE]
 *
 * By default, the time for an object is that of one worker in `../figures/fleet/overhead.json`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { formatBytes, formatCount, formatDuration } from '../../engine/api/text/numbers.ts';
import type { FleetFigure } from '../page/fleet-section.ts';
import { medianOf } from '../page/statistics.ts';
import { fleetCircumstances, publishFigure, target } from './fleet-figure.ts';
import { type FleetMachine, placeOn, startFleetMachine } from './fleet-machine.ts';
import { type Histories, readHistories } from './histories.ts';
import type { SimulatedWorkerRequest } from './simulated-worker.ts';
import { OBJECT_BYTES, startSyntheticStore } from './synthetic-store.ts';

const WORKERS = 2;
const SAMPLE_EVERY_MS = 1_000;
const QUARTERS = 4;
/** The most that a worker's memory may grow from the second quarter, when everything runs, to the last. */
const GROWTH_MAX = 1.1;

interface Shape {
  readonly objects: number;
  readonly partFiles: number;
  readonly ranges: number;
  readonly slots: number;
  readonly msForObject: number;
  /** Undefined: parts are cut by the listing. */
  readonly cutMs: number | undefined;
}

interface Simulated extends Shape {
  readonly wallMs: number;
  readonly parts: number;
  readonly rangesMade: number;
  readonly files: number;
  readonly histories: Histories;
  /** Each worker's memory, then Temporal's. */
  readonly memory: readonly Memory[];
}

/** The median of the resident bytes in each quarter of the time. */
type Memory = readonly number[];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      millions: { type: 'string', default: '1,10' },
      'part-files': { type: 'string', default: '20000' },
      ranges: { type: 'string', default: '64' },
      slots: { type: 'string', default: '128' },
      'ms-for-object': { type: 'string' },
      computed: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const shape = {
    partFiles: Number(values['part-files']),
    ranges: Number(values.ranges),
    slots: Number(values.slots),
    msForObject: Number(values['ms-for-object'] ?? measuredMs()),
    cutMs: values.computed === undefined ? undefined : Number(values.computed),
  };
  await using machine = await startFleetMachine();
  const circumstances = fleetCircumstances();
  const simulated: Simulated[] = [];
  for (const millions of values.millions.split(',').map(Number)) {
    simulated.push(await simulate(machine, { ...shape, objects: millions * 1_000_000 }));
    console.error(JSON.stringify(simulated.at(-1)));
  }
  const last = simulated.at(-1)!;
  publishFigure(
    {
      order: 5 + (shape.cutMs === undefined ? 0 : shape.ranges > 1 ? 1 : 2),
      title:
        shape.ranges === 1
          ? `Simulation: one range of ${formatCount(last.parts)} parts, whose history begins anew`
          : `Simulation: a job over ${formatCount(last.objects)} objects`,
      text: describe(last),
      command:
        `node bench/fleet/simulation.ts --millions ${values.millions} --part-files ${shape.partFiles} ` +
        `--ranges ${shape.ranges} --slots ${shape.slots} --ms-for-object ${shape.msForObject}` +
        (shape.cutMs === undefined ? '' : ` --computed ${shape.cutMs}`),
      circumstances: { ...circumstances, 'load average after': loadavg()[0]!.toFixed(1) },
      headings: HEADINGS,
      rows: simulated.map(formatRow),
      targets: [
        target(
          `a worker takes at most ${GROWTH_MAX} times the memory in the last quarter that it takes in the second`,
          growthOf(last).toFixed(2),
          growthOf(last) <= GROWTH_MAX,
        ),
        target(
          'the parts that ran hold each object once',
          `${formatCount(last.files)} of ${formatCount(last.objects)}`,
          simulated.every(({ files, objects }) => files === objects),
        ),
      ],
      notes: [],
    },
    values.json,
  );
}

/** The time of one worker, as `overhead.ts` has measured and written it. */
function measuredMs(): string {
  const file = new URL('../figures/fleet/overhead.json', import.meta.url);
  const { rows, title } = JSON.parse(readFileSync(file, 'utf8')) as FleetFigure;
  const [, median = ''] = rows.find(([name]) => name === 'fleet, 1 worker') ?? [];
  const seconds = Number(/^([\d.]+) s$/.exec(median)?.[1]);
  const objects = Number(/([\d,]+) objects/.exec(title)?.[1]?.replaceAll(',', ''));
  if (!(seconds > 0 && objects > 0))
    throw new Error(`${fileURLToPath(file)} has no time of one worker. Give --ms-for-object.`);
  return ((seconds * 1000) / objects).toFixed(2);
}

const HEADINGS = [
  'objects',
  'parts in ranges',
  'time',
  'events',
  'for a million objects',
  'runs of workflows',
  'continued anew',
  'longest history',
  'memory of a worker, by quarter',
  "Temporal's memory, by quarter",
];

function formatRow({ histories, memory, objects, parts, rangesMade, wallMs }: Simulated): string[] {
  const { continued, events, eventsMax, runs } = histories;
  const [largest, temporal] = [largestWorker(memory), memory.at(-1)!];
  return [
    formatCount(objects),
    `${formatCount(parts)} in ${formatCount(rangesMade)}`,
    formatDuration(wallMs),
    formatCount(events),
    formatCount(Math.round((events * 1_000_000) / objects)),
    formatCount(runs),
    formatCount(continued),
    formatCount(eventsMax),
    largest.map(formatBytes).join(', '),
    temporal.map(formatBytes).join(', '),
  ];
}

function describe({ cutMs, msForObject, partFiles, slots }: Simulated): string {
  const simulated =
    cutMs === undefined
      ? 'the listing of the source (a server on this machine computes names), and the copying'
      : `planning, listing and cutting (by arithmetic, ${cutMs} ms for a part), documents of parts, and the copying`;
  const real =
    cutMs === undefined
      ? 'planning, cutting (each page of the listing is fetched and parsed), documents at the destination'
      : 'the begin and the end of the job at the destination';
  return (
    `Simulated: ${simulated}, for which a part sleeps ${msForObject} ms for each object. Real: Temporal with its file, ` +
    `the command, the workflows, ${real}. Parts of ${formatCount(partFiles)} files, ${WORKERS} workers with ${slots} parts at ` +
    'once each. Memory is resident memory, of the worker whose last quarter is the larger: it runs workflows and activities.'
  );
}

function largestWorker(memory: readonly Memory[]): Memory {
  return [...memory.slice(0, WORKERS)].sort((left, right) => right.at(-1)! - left.at(-1)!)[0]!;
}

function growthOf({ memory }: Simulated): number {
  return Math.max(...memory.slice(0, WORKERS).map((quarters) => quarters[QUARTERS - 1]! / quarters[1]!));
}

async function simulate(machine: FleetMachine, shape: Shape): Promise<Simulated> {
  const { cutMs, msForObject, objects, partFiles, ranges, slots } = shape;
  const id = `simulated-${objects}-${partFiles}-${ranges}`;
  const computed =
    cutMs === undefined
      ? undefined
      : { objects, ranges, partFiles, objectBytes: OBJECT_BYTES, msForPart: cutMs };
  await using store = await startSyntheticStore(objects);
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () =>
      startWorker(machine, { address: machine.temporal.address, slots, msForObject, computed }),
    ),
  );
  const watch = watchMemory([...workers.map(({ pid }) => pid!), machine.temporal.processId()!]);
  try {
    const end = await machine.run([
      ...['fleet', 'copy', '--json', placeOn(store, 'source'), placeOn(machine.destination, id), '--id', id],
      ...['--part-files', String(partFiles), '--ranges', String(ranges), '--parallel', String(slots)],
    ]);
    if (end.exitCode !== 0) throw new Error(`The job failed:\n${end.output}`);
    const { counts, parts, ranges: rangesMade } = end.summary as unknown as Summary;
    const histories = await readHistories(machine.temporal.address, id);
    const result = { ...shape, wallMs: end.wallMs, parts, rangesMade, files: counts.files, histories };
    return { ...result, memory: watch.quarters() };
  } finally {
    watch.stop();
    await Promise.all(workers.map(endWorker));
  }
}

interface Summary {
  readonly counts: { readonly files: number };
  readonly parts: number;
  readonly ranges: number;
}

async function startWorker(machine: FleetMachine, request: SimulatedWorkerRequest): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('simulated-worker.ts', import.meta.url));
  const child = fork(script, { env: machine.environment });
  child.send(request);
  await once(child, 'message');
  return child;
}

async function endWorker(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function watchMemory(processIds: readonly number[]) {
  const samples: number[][] = processIds.map(() => []);
  const timer = setInterval(() => {
    for (const [at, processId] of processIds.entries()) samples[at]!.push(residentBytes(processId));
  }, SAMPLE_EVERY_MS);
  return { quarters: () => samples.map(quartersOf), stop: () => clearInterval(timer) };
}

function residentBytes(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

function quartersOf(samples: readonly number[]): Memory {
  return Array.from({ length: QUARTERS }, (_, quarter) => {
    const [from, to] = [quarter, quarter + 1].map((at) => Math.floor((at * samples.length) / QUARTERS));
    return medianOf(samples.slice(from, Math.max(to!, from! + 1)));
  });
}

await main();
