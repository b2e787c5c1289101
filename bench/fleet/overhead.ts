/**
 * The overhead of a fleet over one command. `dray copy`, rclone and the fleet with 1, 2 and 4 workers copy
 * the same small objects between two stores in memory, in turn.
 *
 *     node bench/fleet/overhead.ts [--files 100000] [--workers 1,2,4] [--runs 2] [--json FILE]
 */
import { rmSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import { type Command, createMeter, type Meter } from '../machines/measure.ts';
import type { FleetTarget } from '../page/fleet-section.ts';
import { medianOf } from '../page/statistics.ts';
import { fillByLinks, fillStore } from './fill-store.ts';
import { fleetCircumstances, publishFigure, target } from './fleet-figure.ts';
import {
  type BenchWorker,
  cpuMsOf,
  type FleetMachine,
  placeOn,
  startFleetMachine,
  watchWorkers,
} from './fleet-machine.ts';
import { type Histories, readHistories } from './histories.ts';
import { findRclone } from './rclone-check.ts';

const OVERHEAD_MAX = 1.15;
/** A run makes a load of some 5 by itself; above this, others take so much that times compare nothing. */
const BUSY_LOAD = 4 * cpus().length;

/** With more objects, contents repeat, and rclone compares MD5s instead of downloading both sides. */
const DISTINCT_MAX = 100_000;

/** `copy`, `rclone`, or a number of workers. */
type Entrant = 'copy' | 'rclone' | number;

type Turn = { readonly entrant: Entrant; readonly run: number; readonly downloads: boolean };

interface Measured {
  readonly wallMs: number;
  /** The CPU time of the command and its workers. */
  readonly cpuMs: number;
  /** The CPU time of the command alone. */
  readonly commandCpuMs: number;
  readonly storeCpuMs: number;
  readonly temporalCpuMs: number;
  /** The peak memory of the largest process. */
  readonly memoryBytes: number;
  readonly histories: Histories | undefined;
  readonly load: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      files: { type: 'string', default: '100000' },
      workers: { type: 'string', default: '1,2,4' },
      runs: { type: 'string', default: '2' },
      'without-rclone': { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  const files = Number(values.files);
  const fleets = values.workers.split(',').map(Number);
  const entrants: readonly Entrant[] = [
    'copy',
    ...fleets,
    ...(values['without-rclone'] ? [] : ['rclone' as const]),
  ];
  await using machine = await startFleetMachine();
  const meter = await createMeter(machine.folder);
  if (!meter.seesResources) throw new Error('GNU time is missing, so CPU time is unknown.');
  const kind = { name: 'small', count: files, bytes: 1024 };
  if (files > DISTINCT_MAX) await fillByLinks(machine, 'source', kind);
  else await fillStore(machine, 'source', [kind]);
  const circumstances = fleetCircumstances({ rclone: (await findRclone(machine)).version });
  const results = new Map<Entrant, Measured[]>(entrants.map((entrant) => [entrant, []]));
  for (let run = 0; run < Number(values.runs); run += 1)
    // Each round begins with another one.
    for (let turn = 0; turn < entrants.length; turn += 1) {
      const entrant = entrants[(run + turn) % entrants.length]!;
      results
        .get(entrant)!
        .push(await measure(machine, meter, { entrant, run, downloads: files <= DISTINCT_MAX }));
    }
  const once = fleets.map((workers) => results.get(workers)![0]!.histories!);
  publishFigure(
    {
      order: files >= 1_000_000 ? 4 : 3,
      title: `Overhead: ${formatCount(files)} objects of 1 KiB by a fleet and by one command`,
      text:
        'Between two versitygw in memory, in turn. The time of a fleet is that of `dray fleet copy`, with workers that run ' +
        'already, with their defaults; its CPU time is that of the command and the workers. All share two cores with the ' +
        'stores and with Temporal, so more workers cannot be faster here.',
      command: `node bench/fleet/overhead.ts --files ${files} --workers ${fleets.join(',')} --runs ${values.runs}${values['without-rclone'] ? ' --without-rclone' : ''}`,
      circumstances: { ...circumstances, 'load average after': loadavg()[0]!.toFixed(1) },
      headings: HEADINGS,
      rows: entrants.map((entrant) => formatRow(entrant, results)),
      targets: fleets.includes(1) ? judge(results) : [],
      notes: fleets.map((workers, at) => describeHistories(once[at]!, { files, workers })),
    },
    values.json,
  );
}

const HEADINGS = [
  'copied by',
  'median',
  'runs',
  'beside dray copy',
  'CPU',
  'beside dray copy',
  "the command's part",
  "stores' CPU",
  "Temporal's CPU",
  'largest process',
  'load average',
];

type Results = ReadonlyMap<Entrant, readonly Measured[]>;

function formatRow(entrant: Entrant, results: Results): string[] {
  const measured = results.get(entrant)!;
  const median = (of: 'wallMs' | 'cpuMs' | 'commandCpuMs' | 'storeCpuMs' | 'temporalCpuMs' | 'memoryBytes') =>
    medianOf(measured.map((each) => each[of]));
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return [
    nameOf(entrant),
    seconds(median('wallMs')),
    measured.map(({ wallMs }) => seconds(wallMs)).join(', '),
    pairedRatio(results, entrant, 'wallMs').toFixed(2),
    seconds(median('cpuMs')),
    pairedRatio(results, entrant, 'cpuMs').toFixed(2),
    seconds(median('commandCpuMs')),
    seconds(median('storeCpuMs')),
    typeof entrant === 'number' ? seconds(median('temporalCpuMs')) : '-',
    formatBytes(Math.max(...measured.map(({ memoryBytes }) => memoryBytes))),
    Math.max(...measured.map(({ load }) => load)).toFixed(1),
  ];
}

function nameOf(entrant: Entrant): string {
  if (entrant === 'copy') return '`dray copy`';
  if (entrant === 'rclone') return '`rclone copy` (32 transfers)';
  return `fleet, ${entrant} ${entrant === 1 ? 'worker' : 'workers'}`;
}

/** The median of the ratios of each round. */
function pairedRatio(results: Results, entrant: Entrant, of: 'wallMs' | 'cpuMs'): number {
  const copies = results.get('copy')!;
  return medianOf(results.get(entrant)!.map((measured, run) => measured[of] / copies[run]![of]));
}

function judge(results: Results): readonly FleetTarget[] {
  const loads = (['copy', 1] as const).flatMap((entrant) => results.get(entrant)!.map(({ load }) => load));
  const isBusy = Math.max(...loads) > BUSY_LOAD;
  return (['wallMs', 'cpuMs'] as const).map((of) => {
    const ratio = pairedRatio(results, 1, of);
    const percent = `${((ratio - 1) * 100).toFixed(0)} %`;
    const isWall = of === 'wallMs';
    return target(
      `a fleet of one worker takes at most 15 % more ${isWall ? 'time' : 'CPU time'} than \`dray copy\``,
      isWall && isBusy ? `${percent}, on a machine too busy to compare times` : percent,
      isWall && isBusy ? null : ratio <= OVERHEAD_MAX,
    );
  });
}

function describeHistories(
  { continued, events, eventsMax, runs }: Histories,
  { files, workers }: { readonly files: number; readonly workers: number },
): string {
  const million = Math.round((events * 1_000_000) / files);
  return (
    `histories with ${workers} ${workers === 1 ? 'worker' : 'workers'}: ${formatCount(events)} events in ${runs} runs of workflows ` +
    `(the longest ${formatCount(eventsMax)}, continued ${continued}): ${formatCount(million)} for each million objects`
  );
}

async function measure(
  machine: FleetMachine,
  meter: Meter,
  { downloads, entrant, run }: Turn,
): Promise<Measured> {
  const id = `${entrant}-${run}`;
  const workers: BenchWorker[] = [];
  if (typeof entrant === 'number')
    for (let number = 0; number < entrant; number += 1) workers.push(await machine.startWorker());
  const watch = watchWorkers(workers);
  try {
    const temporalMs = () => cpuMsOf(machine.temporal.processId()!);
    const storesMs = () => cpuMsOf(machine.source.processId!) + cpuMsOf(machine.destination.processId!);
    const workersMs = () => workers.reduce((sum, worker) => sum + worker.cpuMs(), 0);
    const before = { temporal: temporalMs(), stores: storesMs(), workers: workersMs() };
    const ran = await meter.run(await commandOf(machine, entrant, id), AbortSignal.timeout(2 ** 31 - 1));
    const measured: Measured = {
      wallMs: ran.wallMs,
      cpuMs: ran.cpuMs! + workersMs() - before.workers,
      commandCpuMs: ran.cpuMs!,
      storeCpuMs: storesMs() - before.stores,
      temporalCpuMs: temporalMs() - before.temporal,
      memoryBytes: Math.max(ran.peakRssBytes!, watch.mostBytes()),
      histories: typeof entrant === 'number' ? await readHistories(machine.temporal.address, id) : undefined,
      load: loadavg()[0]!,
    };
    if (run === 0) await (await findRclone(machine)).check('source', id, { downloads });
    console.error(id, measured);
    return measured;
  } finally {
    watch.stop();
    await Promise.all(workers.map((worker) => worker.stop()));
    rmSync(join(machine.destination.dataFolder, machine.destination.bucket, id), {
      recursive: true,
      force: true,
    });
    await machine.destination.resetRequests();
    await machine.source.resetRequests();
  }
}

async function commandOf(machine: FleetMachine, entrant: Entrant, id: string): Promise<Command> {
  if (entrant === 'rclone') return (await findRclone(machine)).copy('source', id);
  const places = [placeOn(machine.source, 'source'), placeOn(machine.destination, id)];
  const words =
    entrant === 'copy' ? ['copy', '-q', ...places] : ['fleet', 'copy', '-q', ...places, '--id', id];
  return {
    file: process.execPath,
    args: [DRAY_COMMAND, ...words],
    environment: { ...machine.environment, DRAY_CACHE: join(machine.folder, `cache-${id}`) },
  };
}

await main();
