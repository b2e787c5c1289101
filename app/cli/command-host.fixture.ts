/** A program whose jobs behave as the test needs. The real host runs it in a real process. */
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { DrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { type CommandHost, type CommandRun, EXIT_DIFFERENCES, runCommand } from './command-host.ts';
import { addGlobalOptions, createBandwidthOption } from './options/global-options.ts';
import { printChanges } from './output/change-lines.ts';
import { runProgram } from './run.ts';

interface Summary {
  readonly failed: number;
  readonly context?: object;
}

const JOBS: Readonly<Record<string, (context: JobContext) => Promise<Summary>>> = {
  /** Stops when asked. */
  obedient: async ({ signal, emit }) => {
    emit({ type: 'phase', phase: 'upload' });
    process.stderr.write('started\n');
    await pause(20_000, undefined, { signal });
    return { failed: 0 };
  },
  /** Ignores the request to stop. */
  stuck: async () => {
    process.stderr.write('started\n');
    await pause(20_000);
    return { failed: 0 };
  },
  talkative: async ({ emit }) => {
    for (let index = 0; index < 100_000; index += 1) {
      emit({ type: 'change', change: 'added', path: `file-${index}`, kind: 'file', sizeBytes: 1 });
      if (index % 1_000 === 0) await pause(1);
    }
    return { failed: 0 };
  },
  mixed: async ({ emit }) => {
    emit({ type: 'warning', warning: 'skippedSpecialFile', message: 'socket was skipped.', path: 'socket' });
    emit({ type: 'change', change: 'added', path: 'good', kind: 'file', sizeBytes: 1 });
    emit({
      type: 'fileFailed',
      path: 'bad',
      error: { code: 'io', message: 'It cannot be read.', retry: 'no', data: {} },
    });
    emit({
      type: 'fileFailed',
      path: 'worse',
      error: { code: 'io', message: 'The name worse\x1b[2J is not UTF-8.', retry: 'no', data: {} },
    });
    return { failed: 1 };
  },
  hostile: async ({ emit }) => {
    const name = 'a\x9b31m\u2028\u200fb\nc';
    emit({ type: 'change', change: 'added', path: name, kind: 'file', sizeBytes: 1 });
    emit({ type: 'warning', warning: 'retrying', message: `The store says: ${name}` });
    throw new DrayError('remoteFailed', `The store failed: ${name}`, { data: { name } });
  },
  different: async () => ({ failed: 1 }),
  conflict: async () => {
    throw new DrayError('conflict', 'Both sides changed a.', { data: { paths: ['a'], size: 5n } });
  },
  broken: async () => {
    throw new TypeError('x is not a function');
  },
  context: async ({ emit: _, signal: __, environment: ___, ...context }) => ({ failed: 0, context }),
};

function buildFixture(host: CommandHost): Command {
  const program = new Command('fixture')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  for (const [name, start] of Object.entries(JOBS)) {
    const command = program.command(name);
    const view: CommandRun<Summary>['view'] = {
      onEvent: printChanges,
      onSummary: ({ failed }, output) => output.note(`${failed} failed.`),
      exitCode: () => (name === 'different' ? EXIT_DIFFERENCES : 0),
    };
    command.action((_options: object, self: Command) =>
      runCommand(host, self, { start, view, resumable: true }),
    );
    if (name === 'context') command.addOption(createBandwidthOption());
    addGlobalOptions(command);
  }
  addGlobalOptions(program);
  return program;
}

await runProgram(buildFixture, process.argv.slice(2));
