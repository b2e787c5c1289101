/** One run of a transfer, and what is done after one that was cancelled. */
import { DrayError, toErrorRecord } from '../../api/error.ts';
import type { ConnectionFlags, JobContext, Throttle } from '../../api/jobs.ts';
import type { UsageFile } from '../usage-file.ts';
import { billedPlaceOf, cleanUpAfter, runTransfer, type TransferOutcome } from './transfer-jobs.ts';
import type { TransferRecord } from './transfer-record.ts';

export interface RunHost {
  readonly environment: () => JobContext['environment'];
  readonly throttle: Throttle;
  readonly usageFile: UsageFile;
  readonly nowMs: () => number;
  readonly connectionFlags: () => ConnectionFlags;
  /** Its record has changed. */
  readonly onNews: () => void;
}

/** Notes in the record what comes of it. @returns How it ended; undefined when it was stopped. */
export async function runOnce(
  host: RunHost,
  record: TransferRecord,
  signal: AbortSignal,
): Promise<'done' | 'failed' | undefined> {
  const { facts } = record;
  try {
    const summary = await runTransfer(facts.order, contextsOf(host, record, signal));
    facts.summary = summary;
    if ('requests' in summary) {
      facts.requests = summary.requests;
      noteUsage(host, record, summary);
    }
    // Whoever stopped it too late has it done.
    if (summary.failed === 0) return 'done';
    facts.error = toErrorRecord(someFailed(summary));
    return 'failed';
  } catch (error) {
    if (signal.aborted) return undefined;
    facts.error = toErrorRecord(error);
    return 'failed';
  }
}

/** Takes back what a cancelled transfer has left half done on a store. What cannot be taken back is told as its warning. */
export async function cleanUp(host: RunHost, record: TransferRecord, signal: AbortSignal): Promise<void> {
  const { facts } = record;
  try {
    await cleanUpAfter(facts.order, contextsOf(host, record, signal));
  } catch (error) {
    const message = `Parts of files may be left on the store: ${toErrorRecord(error).message}`;
    if (!signal.aborted) facts.warnings = [...facts.warnings, message];
  }
}

function contextsOf(
  { connectionFlags, environment, nowMs, onNews, throttle }: RunHost,
  record: TransferRecord,
  signal: AbortSignal,
): (directory: string) => JobContext {
  return (directory) => ({
    directory,
    connection: connectionFlags(),
    environment: environment(),
    throttle,
    signal,
    emit: (event) => {
      record.note(event, nowMs());
      onNews();
    },
  });
}

function noteUsage(
  { environment, nowMs, usageFile }: RunHost,
  { facts: { order } }: TransferRecord,
  { requests }: Extract<TransferOutcome, { requests: unknown }>,
): void {
  try {
    usageFile.add({ place: billedPlaceOf(order, environment()), nowMs: nowMs(), requests });
  } catch (error) {
    // What was done is done, whether or not it can be counted.
    if (!(error instanceof DrayError)) throw error;
  }
}

function someFailed({ failed }: TransferOutcome): DrayError {
  const message = `${failed.toLocaleString('en')} ${failed === 1 ? 'file' : 'files'} failed; everything else went on.`;
  return new DrayError('partial', message, { retry: 'retry', data: { failed } });
}
