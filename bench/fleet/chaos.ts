/**
 * Copies a bucket by a fleet while everything fails: every ten seconds a worker is killed and another one
 * starts, Temporal is killed and restarted twice, and the connections to the destination are reset. Then
 * rclone compares every byte of both sides. The destination's access log and the proxy in front of it show
 * how often objects were sent. The same copy runs before without faults, for comparison.
 *
 *     node bench/fleet/chaos.ts [--files 100000] [--workers 4] [--kill-every 10] [--json FILE]
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startToxiproxy } from '../../e2e/servers/toxiproxy.ts';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';
import {
  type Faults,
  makeFaults,
  NO_FAULTS,
  RESET_EVERY_MS,
  RESET_SHARE,
  RESTARTED_AFTER_MS,
  startWatched,
} from './faults.ts';
import { fillStore, type ObjectKind } from './fill-store.ts';
import { fleetCircumstances, publishFigure, target } from './fleet-figure.ts';
import { type CommandEnd, type FleetMachine, placeOn, startFleetMachine } from './fleet-machine.ts';
import { findRclone } from './rclone-check.ts';

const MIB = 1024 ** 2;
const PART_BYTES = 8 * MIB;
const MIDDLE = { name: 'middle', count: 400, bytes: MIB };
/** A multipart upload by one worker. */
const IN_PARTS = { name: 'parts', count: 8, bytes: 40 * MIB };
/** One multipart upload by several workers. */
const LARGE = { name: 'large', count: 3, bytes: 160 * MIB };
const LARGE_SIZE = '128MiB';
const RESTARTS = 2;
const SENT_MAX = 1.1;

interface Run {
  readonly end: CommandEnd;
  readonly faults: Faults;
  readonly sent: Sent;
  /** Through the proxy, with all heads of requests. */
  readonly bytes: number;
  /** rclone's differences; undefined: none. */
  readonly differences: string | undefined;
}

interface Sent {
  readonly wholes: number;
  readonly parts: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      files: { type: 'string', default: '100000' },
      workers: { type: 'string', default: '4' },
      'kill-every': { type: 'string', default: '10' },
      json: { type: 'string' },
    },
  });
  const small = { name: 'small', count: Number(values.files), bytes: 1024 };
  const kinds: readonly ObjectKind[] = [small, MIDDLE, IN_PARTS, LARGE];
  const wanted: Sent = { wholes: small.count + MIDDLE.count, parts: partsOf(IN_PARTS) + partsOf(LARGE) };
  await using machine = await startFleetMachine();
  const { version } = await findRclone(machine);
  await fillStore(machine, 'source', kinds);
  const circumstances = fleetCircumstances({ rclone: version });
  const everyMs = Number(values['kill-every']) * 1000;
  const workers = Number(values.workers);
  const calm = await runJob(machine, 'calm', { workers, everyMs: undefined });
  const chaos = await runJob(machine, 'chaos', { workers, everyMs });
  const { faults, sent } = chaos;
  const perObject = (sent.wholes + sent.parts) / (wanted.wholes + wanted.parts);
  const bytesRatio = chaos.bytes / calm.bytes;
  const isComplete = [calm, chaos].every(({ end }) => end.exitCode === 0 && end.summary.failed === 0);
  publishFigure(
    {
      order: 1,
      title: `Chaos: a copy of ${formatCount(wanted.wholes + IN_PARTS.count + LARGE.count)} objects while everything fails`,
      text: describe({ small, everyMs, workers }),
      command: `node bench/fleet/chaos.ts --files ${small.count}`,
      circumstances: { ...circumstances, 'load average after': loadavg()[0]!.toFixed(1) },
      headings: ['figure', 'without faults', 'with faults'],
      rows: [
        rowOf('time of the job', ({ end }) => `${(end.wallMs / 1000).toFixed(0)} s`),
        rowOf('exit code, files that failed', ({ end }) => `${end.exitCode}, ${end.summary.failed}`),
        rowOf('workers killed', (run) => String(run.faults.kills)),
        rowOf('restarts of Temporal', (run) => String(run.faults.restarts)),
        rowOf('times that connections were reset', (run) => String(run.faults.resets)),
        rowOf(`PUTs of the ${formatCount(wanted.wholes)} objects sent whole`, (run) =>
          formatCount(run.sent.wholes),
        ),
        rowOf(`PUTs of the ${formatCount(wanted.parts)} parts of the others`, (run) =>
          formatCount(run.sent.parts),
        ),
        rowOf('bytes to the destination, with all requests', ({ bytes }) => formatBytes(bytes)),
      ].map((row) => row(calm, chaos)),
      targets: [
        target(
          'the destination is equal by `rclone check --download`',
          chaos.differences ?? 'equal',
          chaos.differences === undefined && isComplete,
        ),
        target(
          `no object was sent more than ${SENT_MAX} times on average, by the store's log`,
          perObject.toFixed(3),
          perObject <= SENT_MAX,
        ),
        target(
          `the same by all bytes to the destination, which include PUTs that broke off, beside the run without faults`,
          bytesRatio.toFixed(3),
          bytesRatio <= SENT_MAX,
        ),
      ],
      notes: [],
    },
    values.json,
  );
  if (faults.restarts < RESTARTS || !isComplete) process.exitCode = 1;
}

function partsOf({ bytes, count }: ObjectKind): number {
  return count * Math.ceil(bytes / PART_BYTES);
}

function describe(options: {
  readonly small: ObjectKind;
  readonly everyMs: number;
  readonly workers: number;
}): string {
  const { everyMs, small, workers } = options;
  return (
    `${workers} workers with their defaults. Every ${everyMs / 1000} s, one is killed by SIGKILL, in turn, and another one ` +
    `starts. Temporal's server is killed twice, and starts again ${RESTARTED_AFTER_MS / 1000} s later with the same file. ` +
    `The destination lies behind toxiproxy, which every ${RESET_EVERY_MS / 1000} s resets ${RESET_SHARE * 100} % of the ` +
    'connections that are in use, every other time after the store has carried the request out. ' +
    `${formatCount(small.count)} objects of 1 KiB, ${MIDDLE.count} of 1 MiB, ${IN_PARTS.count} of 40 MiB and ` +
    `${LARGE.count} of 160 MiB (\`--large-size ${LARGE_SIZE}\`: sent in pieces by several workers), in parts of 2,000 ` +
    'files. Both stores are versitygw in memory.'
  );
}

function rowOf(name: string, value: (run: Run) => string) {
  return (calm: Run, chaos: Run) => [name, value(calm), value(chaos)];
}

interface JobOptions {
  readonly workers: number;
  /** Undefined: no faults. */
  readonly everyMs: number | undefined;
}

async function runJob(machine: FleetMachine, id: string, { everyMs, workers }: JobOptions): Promise<Run> {
  await using proxy = await startToxiproxy({ upstream: machine.destination.endpoint });
  await machine.destination.resetRequests();
  const running = await Promise.all(Array.from({ length: workers }, () => startWatched(machine)));
  const job = machine.run([
    ...['fleet', 'copy', '--json', placeOn(machine.source, 'source')],
    placeOn({ bucket: machine.destination.bucket, endpoint: proxy.endpoint }, id),
    ...['--id', id, '--part-files', '2000', '--large-size', LARGE_SIZE],
  ]);
  const faults =
    everyMs === undefined ? NO_FAULTS : await makeFaults(machine, proxy, { job, running, everyMs });
  const end = await job;
  if (end.exitCode !== 0 || end.summary.failed !== 0)
    console.error(end.output, ...running.map((worker) => worker.output()));
  await Promise.all(running.map((worker) => worker.stop()));
  const sent = await countSent(machine);
  const bytes = await proxy.sentBytes();
  const rclone = await findRclone(machine);
  const differences = await rclone.check('source', id).then(
    () => undefined,
    (error: Error) => error.message.slice(-2_000),
  );
  console.error(`${id}: ${(end.wallMs / 1000).toFixed(0)} s, ${bytes} bytes`, faults, sent, differences);
  return { end, faults, sent, bytes, differences };
}

/** Counted in the destination's own log, regardless of the answer. */
async function countSent({ destination }: FleetMachine): Promise<Sent> {
  const requests = await destination.requests();
  const sent = requests.filter(({ path }) => !path.includes('/.dray-fleet/'));
  const of = (operation: string) => sent.filter((request) => request.operation === operation).length;
  return { wholes: of('PutObject'), parts: of('UploadPart') };
}

await main();
