/**
 * How much faster several workers are than one where the network is the limit: each worker has a link of its
 * own to both stores, with a latency and a bandwidth. One worker and several take turns.
 *
 *     node bench/fleet/speed-up.ts [--workers 4] [--rates 5,20] [--seconds 160] [--runs 2] [--json FILE]
 */
import { rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatCount } from '../../engine/api/text/numbers.ts';
import { medianOf } from '../page/statistics.ts';
import { fillStore } from './fill-store.ts';
import { fleetCircumstances, publishFigure, target } from './fleet-figure.ts';
import { type FleetMachine, startFleetMachine } from './fleet-machine.ts';
import { findRclone } from './rclone-check.ts';
import { openLinks, type WorkerLinks } from './worker-links.ts';

const OBJECT_BYTES = 1024 ** 2;
const PART_FILES = 8;
const LATENCY_MS = 30;
const MB = 1_000_000;
const SPEED_UP_MIN = 3.6;

interface Measured {
  readonly wallMs: number;
  readonly load: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      workers: { type: 'string', default: '4' },
      rates: { type: 'string', default: '5,20' },
      seconds: { type: 'string', default: '160' },
      runs: { type: 'string', default: '2' },
      json: { type: 'string' },
    },
  });
  const [workers, seconds, runs] = [values.workers, values.seconds, values.runs].map(Number);
  const rates = values.rates.split(',').map(Number);
  await using machine = await startFleetMachine();
  const circumstances = fleetCircumstances();
  const rows: string[][] = [];
  const speedUps: { readonly rate: number; readonly ratio: number }[] = [];
  for (const rate of rates) {
    const count = Math.ceil((rate * MB * seconds!) / OBJECT_BYTES);
    const kind = { name: 'objects', count, bytes: OBJECT_BYTES };
    const bytes = await fillStore(machine, `source-${rate}`, [kind]);
    const times = new Map<number, Measured[]>([
      [1, []],
      [workers!, []],
    ]);
    for (let run = 0; run < runs!; run += 1)
      for (const [number, measured] of times)
        measured.push(await measure(machine, { rate, workers: number, run }));
    const medianMs = (number: number) => medianOf(times.get(number)!.map(({ wallMs }) => wallMs));
    const ratio = medianMs(1) / medianMs(workers!);
    speedUps.push({ rate, ratio });
    for (const [number, measured] of times)
      rows.push([
        `${rate} MB/s a worker, ${formatCount(count)} objects of 1 MiB, ${number} ${number === 1 ? 'worker' : 'workers'}`,
        `${(medianMs(number) / 1000).toFixed(1)} s`,
        measured.map(({ wallMs }) => `${(wallMs / 1000).toFixed(1)} s`).join(', '),
        `${(bytes / MB / (medianMs(number) / 1000)).toFixed(1)} MB/s`,
        (medianMs(1) / medianMs(number)).toFixed(2),
        Math.max(...measured.map(({ load }) => load)).toFixed(1),
      ]);
    rmSync(join(machine.source.dataFolder, machine.source.bucket, `source-${rate}`), { recursive: true });
  }
  publishFigure(
    {
      order: 2,
      title: `Speed-up: ${workers} workers with links of their own against one`,
      text:
        `Each worker reaches both stores (versitygw in memory) by a link of its own: ${LATENCY_MS} ms on each answer by toxiproxy, ` +
        'and a bandwidth that all connections of the worker to one store share, in each direction, by a process of ' +
        `its own (\`link-process.ts\`; toxiproxy limits each connection alone). Parts of ${PART_FILES} files; workers with ` +
        'their defaults, started before the job; the time is that of `dray fleet copy`. One and several take turns.',
      command: `node bench/fleet/speed-up.ts --rates ${rates.join(',')} --seconds ${seconds} --runs ${runs}`,
      circumstances: { ...circumstances, 'load average after': loadavg()[0]!.toFixed(1) },
      headings: ['work', 'median', 'runs', 'throughput', 'speed-up', 'load average'],
      rows,
      targets: speedUps.map(({ rate, ratio }) =>
        target(
          `${workers} workers at ${rate} MB/s each are at least ${SPEED_UP_MIN} times as fast as one`,
          ratio.toFixed(2),
          ratio >= SPEED_UP_MIN,
        ),
      ),
      notes: [],
    },
    values.json,
  );
}

interface MeasureOptions {
  readonly rate: number;
  readonly workers: number;
  readonly run: number;
}

async function measure(machine: FleetMachine, { rate, run, workers }: MeasureOptions): Promise<Measured> {
  const id = `rate-${rate}-${workers}-${run}`;
  const link = (name: string) =>
    openLinks(machine, name, { bytesPerSecond: rate * MB, latencyMs: LATENCY_MS });
  const links: WorkerLinks[] = [];
  for (let number = 0; number <= workers; number += 1) links.push(await link(`${id}-${number}`));
  // The command has a link of its own.
  const [own, ...others] = links;
  const running = await Promise.all(others.map(({ environment }) => machine.startWorker({ environment })));
  try {
    const end = await machine.run(
      [
        ...['fleet', 'copy', '--json', `s3://${machine.source.bucket}/source-${rate}/`],
        ...[`s3://${machine.destination.bucket}/${id}/`, '--id', id, '--part-files', String(PART_FILES)],
        ...['--source-profile', 'source', '--dest-profile', 'destination'],
      ],
      own!.environment,
    );
    if (end.exitCode !== 0) throw new Error(`The job ${id} failed:\n${end.output}`);
    const load = loadavg()[0]!;
    await (await findRclone(machine)).check(`source-${rate}`, id);
    console.error(`${id}: ${(end.wallMs / 1000).toFixed(1)} s, load ${load.toFixed(1)}`);
    return { wallMs: end.wallMs, load };
  } finally {
    await Promise.all(running.map((worker) => worker.stop()));
    await Promise.all(links.map((each) => each[Symbol.asyncDispose]()));
    rmSync(join(machine.destination.dataFolder, machine.destination.bucket, id), { recursive: true });
  }
}

await main();
