import { resolve } from 'node:path';
import type { Command } from 'commander';
import { DrayError } from '../../../../engine/api/error.ts';
import type { SavedJobEvent } from '../../../../engine/api/events.ts';
import type { JobContext } from '../../../../engine/api/jobs/jobs.ts';
import type { JobDefinition } from '../../../../engine/jobs/saved/saved-jobs.ts';
import { type CommandHost, type InspectedCommand, runCommand, usageError } from '../../command-host.ts';
import { collect } from '../../options/collect.ts';
import { addExamples } from '../../options/examples.ts';
import { globalWords } from '../../options/global-options.ts';
import { parsePause } from '../../options/parse-pause.ts';
import { localTime } from '../../output/job-lines.ts';

const DAY_MS = 86_400_000;
const EVERY = { minMs: 60_000, maxMs: 366 * DAY_MS };
const SETTLE = { minMs: 1_000, maxMs: DAY_MS };
const SETTLE_MS = 5_000;

interface AddOptions {
  readonly every?: number;
  readonly cron?: readonly string[];
  readonly daily?: readonly string[];
  readonly onChange?: true;
  readonly settle?: number;
  readonly onMount?: readonly string[];
  readonly atLogin?: true;
  readonly replace?: true;
  readonly dryRun?: true;
}

type Triggers = JobDefinition['triggers'];

export function addJobAdd(job: Command, host: CommandHost): void {
  const command = job
    .command('add')
    .description(
      'Saves a command under a name. The command follows "--" and is checked now, with all of its options. Its relative paths start at this folder. Without a trigger the job runs by "dray job run". Times are local: one that a change of the clock skips or repeats runs once. Missed runs are caught up once.',
    )
    .usage('[options] <name> -- <command...>')
    .argument('<name>', 'a to z, 0 to 9, ".", "_" and "-"')
    .argument('<command...>', 'copy, sync, check, push, pull, verify, forget or gc, with its options')
    .option('--every <time>', 'after this time since the last start: 30m, 2h, 1d', (text) =>
      parsePause(text, EVERY),
    )
    .option('--daily <hh:mm>', 'each day at this time; repeatable', collect)
    .option('--cron <fields>', 'minute, hour, day, month, weekday: "0 3 * * mon-fri"; repeatable', collect)
    .option('--on-change', 'when something changes in the source or the workspace')
    .option(
      '--settle <time>',
      'with --on-change: once nothing has changed for this time (default: 5s)',
      (text) => parsePause(text, SETTLE),
    )
    .option('--on-mount <path>', 'when a disk is mounted there; repeatable', collect)
    .option('--at-login', 'when you log in')
    .option('--replace', 'if the job exists, change it to this; its runs, pause and notices stay')
    .option('--dry-run', 'check all of it, and save nothing')
    .action((name: string, words: readonly string[], options: AddOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context): Promise<SavedJobEvent | JobDefinition> => {
          const definition = await define(host, context, { name, words: withGlobals(self, words), options });
          const jobs = await import('../../../../engine/jobs/saved/saved-jobs.ts');
          if (!options.dryRun)
            return jobs.saveJob(context, definition, { isReplacing: options.replace ?? false });
          jobs.checkDefinition(definition);
          return definition;
        },
        view: {
          onSummary: (saved, output) => {
            if ('state' in saved) output.note(`Saved ${name}. ${describeNext(saved)}`);
            else output.note(`${name} can be saved. Without --dry-run it is.`);
          },
        },
      }),
    );
  addExamples(command, [
    ['dray job add photos --daily 03:00 -- copy ~/photos s3://bucket/photos', 'every night'],
    ['dray job add birds --on-change -- push -m "automatic"', 'in a workspace'],
    ['dray job add disk --on-mount /media/backup -- sync ~/data /media/backup/data', 'a disk'],
    ['dray job add week --cron "30 2 * * sun" -- verify --read-data=5', 'on Sundays'],
    ['dray job add tidy --daily 04:00 -- forget --keep-daily=7 --keep-monthly=12', 'which commits stay'],
    ['dray job add space --cron "0 5 * * sun" -- gc', 'what they free'],
  ]);
}

/** Global options before the `--` belong to the job too, but for those about the output of `job add`. */
function withGlobals(self: Command, [first = '', ...rest]: readonly string[]): readonly string[] {
  const given = globalWords(self).filter((word) => !['--json', '--quiet', '--verbose'].includes(word));
  return first.startsWith('-') ? [...given, first, ...rest] : [first, ...given, ...rest];
}

interface Given {
  readonly name: string;
  readonly words: readonly string[];
  readonly options: AddOptions;
}

async function define(
  host: CommandHost,
  context: JobContext,
  { name, options, words }: Given,
): Promise<JobDefinition> {
  const { directory } = context;
  const { SAVED_COMMANDS, refuseSecrets } = await import('../../../../engine/jobs/saved/saved-job.ts');
  refuseSecrets(words);
  if (!SAVED_COMMANDS.some((known) => words.includes(known)))
    throw usageError(`A job can be one of ${SAVED_COMMANDS.join(', ')}.`);
  const inspected = await inspect(host, words, directory);
  const kind = SAVED_COMMANDS.find((known) => known === inspected.name);
  if (!kind)
    throw usageError(`"${inspected.name}" cannot be saved. A job is one of ${SAVED_COMMANDS.join(', ')}.`);
  if (inspected.words.includes('-'))
    throw usageError('A job has no standard input and output: "-" cannot be saved.');
  (await import('../../../../engine/jobs/saved/saved-jobs.ts')).checkWorkspace(context, inspected);
  const triggers = triggersOf(options, inspected);
  return { name, kind, places: [...inspected.words], arguments: [...words], directory, triggers };
}

function describeNext({ name, nextRun, triggers }: SavedJobEvent): string {
  if (nextRun !== undefined) return `Next run: ${localTime(nextRun)}.`;
  return triggers.length > 0 ? `It runs ${triggers.join(', ')}.` : `Run it with "dray job run ${name}".`;
}

/** Reads the command line as the command itself would. @throws its usage errors */
async function inspect(
  host: CommandHost,
  words: readonly string[],
  directory: string,
): Promise<InspectedCommand> {
  const found: InspectedCommand[] = [];
  const inspecting: CommandHost = {
    environment: host.environment,
    exit: () => {},
    exitCode: 0,
    inspect: (inspected) => {
      found.push(inspected);
    },
  };
  const at = process.cwd();
  process.chdir(directory);
  try {
    await host.build!(inspecting).parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (error instanceof DrayError || !(error instanceof Error)) throw error;
    throw usageError(`The command of the job: ${error.message.replace(/^error: /, '')}`);
  } finally {
    process.chdir(at);
  }
  const [first] = found;
  if (!first) throw usageError('The command of the job does nothing by itself, and cannot be saved.');
  return first;
}

function triggersOf(options: AddOptions, inspected: InspectedCommand): Triggers {
  const { atLogin, cron = [], daily = [], every, onChange, onMount = [], settle } = options;
  if (settle !== undefined && !onChange) throw usageError('--settle belongs to --on-change.');
  return [
    ...(every === undefined ? [] : [{ on: 'every' as const, everyMs: every }]),
    ...daily.map((time) => ({ on: 'cron' as const, expression: cronOfTime(time) })),
    ...cron.map((expression) => ({ on: 'cron' as const, expression })),
    ...(onChange
      ? [{ on: 'change' as const, folder: watchedFolder(inspected), settleMs: settle ?? SETTLE_MS }]
      : []),
    ...onMount.map((path) => ({ on: 'mount' as const, path: resolve(path) })),
    ...(atLogin ? [{ on: 'login' as const }] : []),
  ];
}

/** The source of a copy; the workspace of a push. @throws `usage` if it is not on this machine */
function watchedFolder({ directory, name, words }: InspectedCommand): string {
  if (!['copy', 'sync', 'check'].includes(name)) return directory;
  const source = words[0] ?? '';
  // A URL has a scheme, and `NAME:` is a remote of two letters or more: one letter is a drive of Windows.
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[^/\\:]{2,}:/.test(source))
    throw usageError('--on-change needs a source on this machine: other places report no changes.');
  return resolve(directory, source);
}

function cronOfTime(text: string): string {
  const found = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (!found) throw usageError(`"${text}" is not a time of day. Use HH:MM, such as 03:00.`);
  return `${Number(found[2])} ${Number(found[1])} * * *`;
}
