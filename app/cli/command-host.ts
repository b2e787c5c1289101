/** Runs one job for one command: context, stop signals, events as lines, summary, exit code. */
import type { Command } from 'commander';
import { DrayError, type ErrorCode, exitCodeOf, toDrayError } from '../../engine/api/error.ts';
import type { FileFailedEvent, JobEvent } from '../../engine/api/events.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { readGlobalOptions } from './options/global-options.ts';
import { reportError } from './output/error-lines.ts';
import { createOutput, type Output } from './output/output.ts';
import { quotePath } from './output/terminal-text.ts';
import { createPeerTrust } from './peer-trust.ts';
import { canAsk, readSecret } from './prompts.ts';
import { watchStopSignals } from './stop-signals.ts';

export const EXIT_FAILED = 1;
export const EXIT_DIFFERENCES = 3;
export const EXIT_SOME_FILES_FAILED = 4;

export interface CommandHost {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the process. Tests pass their own. */
  readonly exit: (code: number) => void;
  /** The exit code of the command that ran; 0 before any ran. */
  exitCode: number;
  /** Builds the program again, for commands that contain another command. */
  readonly build?: (host: CommandHost, wanted?: ReadonlySet<string>) => Command;
  /** Receives a parsed and checked command line instead of running it. */
  readonly inspect?: (inspected: InspectedCommand) => void;
  /** Observes the run of a command inside another command. */
  readonly observer?: RunObserver;
  /** True if the words come from a file, so the user has not just typed its URLs. */
  readonly isSaved?: true;
}

export interface InspectedCommand {
  readonly name: string;
  /** The words without the options. */
  readonly words: readonly string[];
  /** An absolute path. */
  readonly directory: string;
}

export interface RunObserver {
  event(event: JobEvent): void;
  /** Called once. `message` summarises the result in a few words. */
  ended(end: { readonly exitCode: number; readonly isStopped: boolean; readonly message: string }): void;
}

export interface CommandRun<Summary> {
  /** Loads the job and runs it. Loading happens here, so each command imports only its own code. */
  readonly start: (context: JobContext) => Promise<Summary>;
  readonly view: CommandView<Summary>;
  /** Makes the request, as `start` does, and throws if the options do not fit together. */
  readonly check?: (context: Pick<JobContext, 'directory' | 'emit'>) => void;
  /** The folder that the job runs in, if it is not the folder of `-C`. */
  readonly directory?: string;
  /** Whether running the same command again continues from where this run was stopped. */
  readonly resumable?: boolean;
  /** Printed at a first signal, instead of what `resumable` says. */
  readonly stopMessage?: () => string;
  /**
   * The time that the job has to stop after a first signal; default 900 ms. A second signal ends it at once.
   */
  readonly graceMs?: number;
}

/**
 * How one command prints its results. Phases, progress, warnings and failed files look the same in all
 * commands.
 */
export interface CommandView<Summary> {
  readonly onEvent?: (event: JobEvent, output: Output) => void;
  readonly onSummary: (summary: Summary, output: Output, run: { readonly elapsedMs: number }) => void;
  /**
   * Default 0. A dry run returns the code that the real run would end with. If files failed, the exit code is
   * 4, unless this returns 1, or 3 (differences were found).
   */
  readonly exitCode?: (summary: Summary) => number;
}

export async function runCommand<Summary>(
  host: CommandHost,
  command: Command,
  run: CommandRun<Summary>,
): Promise<void> {
  const options = readGlobalOptions(command);
  const name = commandName(command);
  if (host.inspect) {
    run.check?.({ directory: run.directory ?? options.directory, emit: () => {} });
    return host.inspect({ name, words: command.args, directory: options.directory });
  }
  const output = createOutput({ ...options, environment: host.environment });
  const observer = host.observer;
  let isSummaryShown = false;
  const stops = watchStopSignals({
    exit: (code) => {
      // The job ignores the signal. `--json` readers still get an error record, as far as they keep up.
      if (output.json && !isSummaryShown)
        reportError(output, stops.signal.reason, { command: name, exitCode: code });
      observer?.ended({ exitCode: code, isStopped: true, message: 'Run it again to continue.' });
      void output.close();
      host.exit(code);
    },
    ...(run.graceMs !== undefined && { graceMs: run.graceMs }),
    onFirst: () => {
      output.progress.stop();
      output.problem(
        'plain',
        run.stopMessage?.() ??
          (run.resumable ? 'stopping... Run the same command again to continue.' : 'stopping...'),
      );
    },
  });
  const startedMs = performance.now();
  try {
    const summary = await run.start({
      directory: run.directory ?? options.directory,
      ...(options.remoteName === undefined ? {} : { remoteName: options.remoteName }),
      connection: options.connection,
      environment: host.environment,
      isTyped: host.isSaved !== true,
      trustsNewPeer: createPeerTrust(options.trust, output, stops.signal),
      ...(canAsk() && { askPassword: (question: string) => readSecret(question, stops.signal) }),
      signal: stops.signal,
      emit: (event) => {
        observer?.event(event);
        showEvent(event, output, run.view.onEvent);
      },
      drained: () => output.drained(),
    });
    host.exitCode = exitCodeOfSummary(summary, run.view);
    const elapsedMs = Math.round(performance.now() - startedMs);
    output.progress.stop();
    isSummaryShown = true;
    const take = { ...output, isFailure: host.exitCode !== 0 };
    const message = observer ? describeEnd(run.view, summary, take, elapsedMs) : '';
    observer?.ended({ exitCode: host.exitCode, isStopped: false, message });
    if (output.json) {
      output.record({
        type: 'summary',
        command: name,
        exitCode: host.exitCode,
        elapsedMs,
        ...(summary ?? {}),
      });
    } else {
      run.view.onSummary(summary, output, { elapsedMs });
      if (endOf(summary).wouldStop)
        output.note('Without --dry-run this command would stop. The warning above says why.');
    }
  } catch (error) {
    output.progress.stop();
    isSummaryShown = true;
    const stopCode = stops.exitCode();
    // The signal handler has already printed a message.
    if (stopCode !== undefined && !output.json) host.exitCode = stopCode;
    else host.exitCode = reportError(output, error, { command: name, exitCode: stopCode });
    const { exitCode } = host;
    const isStopped = stopCode !== undefined;
    observer?.ended({
      exitCode,
      isStopped,
      message: isStopped ? 'Run it again to continue.' : messageOf(error),
    });
  } finally {
    await output.close();
    stops.dispose();
  }
}

/**
 * The notes that the command would print at its end. A failure may be a result, which `--quiet` prints too.
 */
function describeEnd<Summary>(
  view: CommandView<Summary>,
  summary: Summary,
  output: Output & { readonly isFailure: boolean },
  elapsedMs: number,
): string {
  const lines: string[] = [];
  const note = (line: string) => lines.push(line);
  const result = output.isFailure ? note : () => {};
  const take = { note, summary: (all: readonly string[]) => lines.push(...all), result };
  view.onSummary(summary, { ...output, ...take }, { elapsedMs });
  return lines.join(' ');
}

function messageOf(error: unknown): string {
  return toDrayError(error).message;
}

function showEvent(event: JobEvent, output: Output, onEvent: CommandView<never>['onEvent']): void {
  if (output.json) output.record(event);
  else if (event.type === 'phase' || event.type === 'progress') output.progress.accept(event);
  else if (event.type === 'warning') output.problem('warning', event.message);
  else if (event.type === 'remoteUsed') {
    if (output.verbose) output.problem('plain', `${event.name} is ${event.url} (from ${event.keptIn})`);
  } else if (event.type === 'fileFailed') output.problem('error', describeFailedFile(event));
  else onEvent?.(event, output);
}

/** Most messages already name the file. */
function describeFailedFile({ path, error }: FileFailedEvent): string {
  return error.message.includes(path) ? error.message : `${quotePath(path)}: ${error.message}`;
}

function exitCodeOfSummary<Summary>(summary: Summary, view: CommandView<Summary>): number {
  const { failed, wouldStop } = endOf(summary);
  const asked = view.exitCode?.(summary) ?? (wouldStop ? exitCodeOf(wouldStop) : 0);
  if (asked === EXIT_FAILED || asked === EXIT_DIFFERENCES) return asked;
  return failed ? EXIT_SOME_FILES_FAILED : asked;
}

/** Fields that many summaries share. */
function endOf(summary: unknown): { readonly failed?: number; readonly wouldStop?: ErrorCode } {
  return summary ?? {};
}

/** For example `remote add`, a subcommand. */
function commandName(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${commandName(parent)} ${command.name()}` : command.name();
}

/** For a mistake that commander does not detect. */
export function usageError(message: string): DrayError {
  return new DrayError('usage', message);
}
