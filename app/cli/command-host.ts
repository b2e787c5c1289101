/** Runs one job for one command: context, stop signals, events to lines, summary, exit code. */
import type { Command } from 'commander';
import { DrayError, type ErrorCode, exitCodeOf } from '../../engine/api/error.ts';
import type { FileFailedEvent, JobEvent } from '../../engine/api/events.ts';
import type { JobContext } from '../../engine/api/jobs.ts';
import { readGlobalOptions } from './options/global-options.ts';
import { reportError } from './output/error-lines.ts';
import { createOutput, type Output } from './output/output.ts';
import { quotePath } from './output/terminal-text.ts';
import { createPeerTrust } from './peer-trust.ts';
import { watchStopSignals } from './stop-signals.ts';

export const EXIT_FAILED = 1;
export const EXIT_DIFFERENCES = 3;
export const EXIT_SOME_FILES_FAILED = 4;

export interface CommandHost {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the process; tests give their own. */
  readonly exit: (code: number) => void;
  /** How the command that ran ended; 0 before any. */
  exitCode: number;
}

export interface CommandRun<Summary> {
  /** Loads the job and runs it. Loading happens here, so that each command pays for its own imports alone. */
  readonly start: (context: JobContext) => Promise<Summary>;
  readonly view: CommandView<Summary>;
  /** Where the job runs, when it is not the folder of `-C`. */
  readonly directory?: string;
  /** Whether the same command, given again, goes on where this one was stopped. */
  readonly resumable?: boolean;
  /** How long it may take to stop in order; default 900. A second signal ends it at once. */
  readonly graceMs?: number;
}

/** How one command shows itself to people. Phases, progress, warnings and failed files look the same everywhere. */
export interface CommandView<Summary> {
  readonly onEvent?: (event: JobEvent, output: Output) => void;
  readonly onSummary: (summary: Summary, output: Output, run: { readonly elapsedMs: number }) => void;
  /**
   * Default 0, or what a dry run found that the run itself would end with. A job in which files failed ends with 4, unless this says 1,
   * or 3: differences that were found are there.
   */
  readonly exitCode?: (summary: Summary) => number;
}

export async function runCommand<Summary>(
  host: CommandHost,
  command: Command,
  run: CommandRun<Summary>,
): Promise<void> {
  const options = readGlobalOptions(command);
  const output = createOutput({ ...options, environment: host.environment });
  const name = commandName(command);
  let isTold = false;
  const stops = watchStopSignals({
    exit: (code) => {
      // Its job does not stop: programs are told so too, as far as the reader of the output takes it.
      if (output.json && !isTold) reportError(output, stops.signal.reason, { command: name, exitCode: code });
      void output.close();
      host.exit(code);
    },
    ...(run.graceMs !== undefined && { graceMs: run.graceMs }),
    onFirst: () => {
      output.progress.stop();
      output.problem(
        'plain',
        run.resumable ? 'stopping...; run the same command again to continue' : 'stopping...',
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
      isTyped: true,
      trustsNewPeer: createPeerTrust(options.trust, output, stops.signal),
      signal: stops.signal,
      emit: (event) => showEvent(event, output, run.view.onEvent),
      drained: () => output.drained(),
    });
    host.exitCode = exitCodeOfSummary(summary, run.view);
    const elapsedMs = Math.round(performance.now() - startedMs);
    output.progress.stop();
    isTold = true;
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
        output.note('Without --dry-run this command would stop; the warning above says why.');
    }
  } catch (error) {
    output.progress.stop();
    isTold = true;
    const stopCode = stops.exitCode();
    // People were told at the signal.
    if (stopCode !== undefined && !output.json) host.exitCode = stopCode;
    else host.exitCode = reportError(output, error, { command: name, exitCode: stopCode });
  } finally {
    await output.close();
    stops.dispose();
  }
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

/** Most messages name the file by themselves. */
function describeFailedFile({ path, error }: FileFailedEvent): string {
  return error.message.includes(path) ? error.message : `${quotePath(path)}: ${error.message}`;
}

function exitCodeOfSummary<Summary>(summary: Summary, view: CommandView<Summary>): number {
  const { failed, wouldStop } = endOf(summary);
  const asked = view.exitCode?.(summary) ?? (wouldStop ? exitCodeOf(wouldStop) : 0);
  if (asked === EXIT_FAILED || asked === EXIT_DIFFERENCES) return asked;
  return failed ? EXIT_SOME_FILES_FAILED : asked;
}

/** What summaries have in common, those that have it. */
function endOf(summary: unknown): { readonly failed?: number; readonly wouldStop?: ErrorCode } {
  return summary ?? {};
}

/** `remote add` for a command below another one. */
function commandName(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${commandName(parent)} ${command.name()}` : command.name();
}

/** For a mistake that commander cannot see. */
export function usageError(message: string): DrayError {
  return new DrayError('usage', message);
}
