/** The commands that show the jobs of a fleet, and change them while they run. */
import { type Command, Option } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { FleetClient } from '../../../fleet/fleet-client.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples, type Example } from '../../options/examples.ts';
import { createBandwidthOption, parseCount } from '../../options/global-options.ts';
import { addTemporalOptions, type TemporalFlags, toTemporalOptions } from '../../options/temporal-options.ts';
import { formatFleetList, formatFleetStatus } from '../../output/fleet-lines.ts';

/** `list` shows the newest ones. */
const LISTED_MAX = 1000;

export function addFleetControls(fleet: Command, host: CommandHost): void {
  addControl(fleet, host, {
    name: 'status',
    text: 'Shows the progress of a job, and the work of each worker.',
    act: (client, id) => client.status(id),
    view: {
      onSummary: (status, output) => {
        for (const line of formatFleetStatus(status)) output.result(line);
      },
    },
    example: ['dray fleet status copy-1f2e3d4c', 'ranges, parts, files, workers'],
  });
  addList(fleet, host);
  addControl(fleet, host, {
    name: 'pause',
    text: 'Pauses a job. Running parts stop and run again later; files that they have copied stay copied.',
    act: async (client, id) => ({ id, result: await client.pause(id).then(() => 'paused') }),
    view: { onSummary: ({ id }, output) => output.note(`The job ${id} is paused.`) },
    example: ['dray fleet pause copy-1f2e3d4c', 'until "dray fleet resume"'],
  });
  addControl(fleet, host, {
    name: 'resume',
    text: 'Continues a paused job.',
    act: async (client, id) => ({ id, result: await client.resume(id).then(() => 'resumed') }),
    view: { onSummary: ({ id }, output) => output.note(`The job ${id} continues.`) },
    example: ['dray fleet resume copy-1f2e3d4c', 'from where it was'],
  });
  addControl(fleet, host, {
    name: 'cancel',
    text: 'Ends a job. Files that it has copied stay; the same command copies the rest later.',
    act: async (client, id) => ({ id, result: await client.cancel(id).then(() => 'cancelled') }),
    view: { onSummary: ({ id }, output) => output.note(`The job ${id} ends.`) },
    example: ['dray fleet cancel copy-1f2e3d4c', 'for good'],
  });
  addControl(fleet, host, {
    name: 'retry-failed',
    text: 'Tries the failed files of a job again. A job that still runs tries them at its end.',
    act: async (client, id) => ({ id, result: await client.retryFailed(id) }),
    view: {
      onSummary: ({ id, result }, output) => {
        const texts = {
          later: `The job ${id} will try its failed files again.`,
          started: `The job ${id} runs again, for its failed files.`,
          nothing: `No file of the job ${id} has failed.`,
        };
        output.note(texts[result]);
      },
    },
    example: ['dray fleet retry-failed copy-1f2e3d4c', 'once the cause is gone'],
  });
  addLimit(fleet, host);
}

interface Control<Summary> {
  readonly name: string;
  readonly text: string;
  readonly act: (client: FleetClient, id: string) => Promise<Summary>;
  readonly view: CommandView<Summary>;
  readonly example: Example;
}

function addControl<Summary>(fleet: Command, host: CommandHost, control: Control<Summary>): void {
  const { act, example, name, text, view } = control;
  const command = fleet.command(name).description(text).argument('<id>', 'the job');
  addTemporalOptions(command);
  command.action((id: string, options: TemporalFlags, self: Command) =>
    runCommand(host, self, {
      start: ({ directory }) => call(options, directory, (client) => act(client, id)),
      view,
    }),
  );
  addExamples(command, [example]);
}

function addList(fleet: Command, host: CommandHost): void {
  const command = fleet.command('list').description('Lists the jobs that Temporal knows, the newest first.');
  addTemporalOptions(command);
  command.action((options: TemporalFlags, self: Command) =>
    runCommand(host, self, {
      start: ({ directory }) =>
        call(options, directory, async (client) => ({
          jobs: await client.list(LISTED_MAX),
        })),
      view: {
        onSummary: ({ jobs }, output) => {
          for (const line of formatFleetList(jobs)) output.result(line);
          if (jobs.length === 0) output.note('No jobs. Start one with "dray fleet copy".');
        },
      },
    }),
  );
  addExamples(command, [['dray fleet list', 'running ones, and those that have ended']]);
}

interface LimitOptions extends TemporalFlags {
  readonly bwlimit?: number;
  readonly maxRequests?: number;
}

function addLimit(fleet: Command, host: CommandHost): void {
  const command = fleet
    .command('limit')
    .description(
      'Changes the limits of a running job, for all of its workers together. Without its option, a limit ends.',
    )
    .argument('<id>', 'the job')
    .addOption(createBandwidthOption())
    .addOption(
      new Option('--max-requests <n>', 'requests per second').argParser((text: string) =>
        parseCount(text, { min: 1, max: 1_000_000 }),
      ),
    );
  addTemporalOptions(command);
  command.action((id: string, options: LimitOptions, self: Command) =>
    runCommand(host, self, {
      start: ({ directory }) =>
        call(options, directory, async (client) => {
          const { bwlimit, maxRequests } = options;
          await client.setLimits(id, given({ bytesPerSecond: bwlimit, requestsPerSecond: maxRequests }));
          return { id };
        }),
      view: {
        onSummary: (_summary, output) => output.note(`The job ${id} has its new limits within ten seconds.`),
      },
    }),
  );
  addExamples(command, [['dray fleet limit copy-1f2e3d4c --bwlimit 100M', 'during the day']]);
}

async function call<T>(
  flags: TemporalFlags,
  directory: string,
  action: (client: FleetClient) => Promise<T>,
): Promise<T> {
  const { withClient } = await import('../../../fleet/fleet.ts');
  return withClient(toTemporalOptions(flags, directory), action);
}
