import { realpathSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DrayError } from '../../../../engine/api/error.ts';
import { given } from '../../../../engine/api/given.ts';
import { WORKER_NAME } from '../../../../engine/api/jobs/fleet.ts';
import { formatCount, formatDuration, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { localPlaceKind } from '../../../../engine/files/scan/local-place.ts';
import type { WorkerSummary } from '../../../fleet/worker/worker.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption, parseCount } from '../../options/global-options.ts';
import { parsePause } from '../../options/parse-pause.ts';
import { addTemporalOptions, type TemporalFlags, toTemporalOptions } from '../../options/temporal-options.ts';

interface WorkerOptions extends TemporalFlags {
  readonly slots: number;
  readonly name?: string;
  readonly folder?: string;
  readonly drain: number;
  readonly metrics?: string;
  readonly traces?: string;
}

const DRAIN_MS = 20_000;
const DRAIN_MAX_MS = 3_600_000;
/** The additional time in which a stopped worker gives its parts back. */
const GRACE_MS = 10_000;

export function addFleetWorker(fleet: Command, host: CommandHost): void {
  const command = fleet
    .command('worker')
    .description(
      'Works on the jobs of a queue, part by part, until you stop it. Start any number, on any machines that reach Temporal and the buckets, and stop them at any time. Each uses its own credentials, as "dray copy" would on its machine.',
    )
    .option(
      '--folder <path>',
      'let jobs read this folder: "dray fleet push --workers" stores it. No job can name another one',
    )
    .addOption(
      new Option(
        '--name <name>',
        'the name by which jobs ask for the folder (default: the name of this machine)',
      ).argParser(parseWorkerName),
    )
    .addOption(
      new Option('--slots <n>', 'parts at the same time')
        .default(4)
        .argParser((text: string) => parseCount(text, { min: 1, max: 256 })),
    )
    .addOption(
      new Option('--drain <time>', 'when stopped, continue its parts for at most this long')
        .default(DRAIN_MS, '20s')
        .argParser((text: string) => parsePause(text, { minMs: 0, maxMs: DRAIN_MAX_MS })),
    )
    .addOption(
      new Option('--metrics <[address]:port>', 'serve metrics for Prometheus there').argParser(parseListen),
    )
    .addOption(
      new Option('--traces <url>', 'send traces to this collector of OpenTelemetry (OTLP over HTTP)')
        .env('OTEL_EXPORTER_OTLP_ENDPOINT')
        .argParser(parseCollector),
    )
    .addOption(createBandwidthOption());
  addTemporalOptions(command);
  command.action((options: WorkerOptions, self: Command) =>
    runCommand(host, self, {
      start: async (context) => {
        const offers = offerOf(options, context.directory);
        const { work } = await import('../../../fleet/fleet.ts');
        return work(context, {
          temporal: toTemporalOptions(options, context.directory),
          slots: options.slots,
          drainMs: options.drain,
          ...given({ metricsAddress: options.metrics, offers, tracesUrl: options.traces }),
        });
      },
      stopMessage: () =>
        `stopping... Parts that need longer than ${formatDuration(options.drain)} continue on other workers.`,
      graceMs: options.drain + GRACE_MS,
      view,
    }),
  );
  addExamples(command, [
    ['dray fleet worker --temporal temporal.example.com:7233', 'on each machine'],
    ['dray fleet worker --slots 16 --metrics :9464', 'a large one, with metrics'],
    ['dray fleet worker --name a --folder /data/out', 'jobs may push what this machine has produced'],
  ]);
}

const view: CommandView<WorkerSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'fleetWorker') {
      const offer = event.folder === undefined ? '' : ` Jobs may push ${event.folder} as "${event.worker}".`;
      output.result(`Working for the queue ${event.queue} of ${event.address}.${offer}`);
    } else if (event.type === 'fleetStep' && output.verbose)
      output.result(`${event.state.padEnd(7)}  ${event.job}  ${event.step}  ${event.part}`.trimEnd());
  },
  onSummary: ({ failedSteps, steps }, output) =>
    output.note(
      `Stopped after ${formatPlural(steps, 'step')}${failedSteps > 0 ? `, ${formatCount(failedSteps)} of them failed` : ''}.`,
    ),
};

/** @throws `usage` */
function offerOf(
  { folder, name = hostname() }: Pick<WorkerOptions, 'folder' | 'name'>,
  directory: string,
): { readonly worker: string; readonly folder: string } | undefined {
  if (folder === undefined) return undefined;
  const path = resolve(directory, folder);
  if (localPlaceKind(path) !== 'folder')
    throw new DrayError('usage', `${path} is not a folder, so a worker cannot offer it.`, {
      advice: 'Give --folder one that exists.',
    });
  if (!WORKER_NAME.test(name))
    throw new DrayError('usage', `"${name}" cannot be the name of a worker.`, {
      advice: 'Give it one with --name.',
    });
  return { worker: name, folder: realpathSync(path) };
}

function parseWorkerName(text: string): string {
  if (WORKER_NAME.test(text)) return text;
  throw new InvalidArgumentError('Use up to 63 letters, digits, dots and dashes.');
}

/** `:9464` listens on all addresses. Temporal's SDK takes no names. */
function parseListen(text: string): string {
  const [, given = '', port] = /^(\[[^\]]+\]|[^:]*):(\d{1,5})$/.exec(text) ?? [];
  const address = given === 'localhost' ? '127.0.0.1' : given || '0.0.0.0';
  if (port === undefined || Number(port) > 65_535 || isIP(address.replace(/^\[|\]$/g, '')) === 0)
    throw new InvalidArgumentError('Give :PORT or ADDRESS:PORT with an IP address, such as :9464.');
  return `${address}:${port}`;
}

function parseCollector(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('Give a URL, such as http://127.0.0.1:4318.');
}
