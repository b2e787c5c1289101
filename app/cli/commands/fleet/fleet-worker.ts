import { isIP } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import { formatCount, formatDuration, formatPlural } from '../../../../engine/api/numbers.ts';
import type { WorkerSummary } from '../../../fleet/worker/worker.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption, parseCount } from '../../options/global-options.ts';
import { parsePause } from '../../options/parse-pause.ts';
import { addTemporalOptions, type TemporalFlags, toTemporalOptions } from '../../options/temporal-options.ts';

interface WorkerOptions extends TemporalFlags {
  readonly slots: number;
  readonly drain: number;
  readonly metrics?: string;
  readonly traces?: string;
}

const DRAIN_MS = 20_000;
const DRAIN_MAX_MS = 3_600_000;
/** What a worker needs in addition to give its parts back. */
const GRACE_MS = 10_000;

export function addFleetWorker(fleet: Command, host: CommandHost): void {
  const command = fleet
    .command('worker')
    .description(
      'Works on the jobs of a queue, part by part, until you stop it. Start any number, on any machines that reach Temporal and the buckets, and stop them at any time. Each uses its own credentials, as "dray copy" would on its machine.',
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
        const { work } = await import('../../../fleet/fleet.ts');
        return work(context, {
          temporal: toTemporalOptions(options, context.directory),
          slots: options.slots,
          drainMs: options.drain,
          ...given({ metricsAddress: options.metrics, tracesUrl: options.traces }),
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
  ]);
}

const view: CommandView<WorkerSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'fleetWorker')
      output.result(`Working for the queue ${event.queue} of ${event.address}.`);
    else if (event.type === 'fleetStep' && output.verbose)
      output.result(`${event.state.padEnd(7)}  ${event.job}  ${event.step}  ${event.part}`.trimEnd());
  },
  onSummary: ({ failedSteps, steps }, output) =>
    output.note(
      `Stopped after ${formatPlural(steps, 'step')}${failedSteps > 0 ? `, ${formatCount(failedSteps)} of them failed` : ''}.`,
    ),
};

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
