/** One run of a transfer, and the clean-up after a cancelled one. */
import { DrayError, messageWithoutAdvice, toErrorRecord } from '../../api/error.ts';
import type {
  CollectSummary,
  ConnectionFlags,
  JobContext,
  Throttle,
  VerifySummary,
} from '../../api/jobs/jobs.ts';
import type { RepairSummary } from '../../api/jobs/repair.ts';
import type { MasterKeys } from '../../api/jobs/repositories.ts';
import { type MissingSecret, missingSecretOf } from '../../api/text/missing-keys.ts';
import { formatAffected, formatCount } from '../../api/text/numbers.ts';
import type { UsageFile } from '../user-files/usage-file.ts';
import { billedPlaceOf, cleanUpAfter, runTransfer, type TransferOutcome } from './transfer-jobs.ts';
import type { TransferRecord } from './transfer-record.ts';

export interface RunHost {
  readonly environment: () => JobContext['environment'];
  readonly masterKeys: MasterKeys;
  readonly throttle: Throttle;
  readonly usageFile: UsageFile;
  readonly nowMs: () => number;
  readonly connectionFlags: () => ConnectionFlags;
  /** Called when a clone has created its workspace. */
  readonly onWorkspace: (root: string) => void;
  /** Called when a collection has ended. */
  readonly onCollected: (root: string, summary: CollectSummary) => Promise<void>;
  /** Called when its record has changed. */
  readonly onNews: () => void;
}

/**
 * Records the progress and the result.
 * @returns The final state, or what it needs to go on. Undefined if it was stopped.
 */
export async function runOnce(
  host: RunHost,
  record: TransferRecord,
  signal: AbortSignal,
): Promise<'done' | 'failed' | MissingSecret | undefined> {
  const { facts } = record;
  try {
    const summary = await runTransfer(facts.order, contextsOf(host, record, signal), (root) => {
      if (!signal.aborted) host.onWorkspace(root);
    });
    facts.summary = summary;
    if ('requests' in summary) {
      facts.requests = summary.requests;
      noteUsage(host, record, summary);
    }
    if ('removedObjects' in summary && 'root' in facts.order)
      await unlessUnsaved(host.onCollected(facts.order.root, summary));
    const fault = faultOf(summary);
    // A stop that comes too late finds it done.
    if (!fault) return 'done';
    facts.error = toErrorRecord(fault);
    return 'failed';
  } catch (error) {
    if (signal.aborted) return undefined;
    const failure = toErrorRecord(error);
    const needs = missingSecretOf(failure);
    if (needs) return needs;
    facts.error = failure;
    return 'failed';
  }
}

/** Removes the partial uploads of a cancelled transfer from a store. A failure becomes its warning. */
export async function cleanUp(host: RunHost, record: TransferRecord, signal: AbortSignal): Promise<void> {
  const { facts } = record;
  try {
    await cleanUpAfter(facts.order, contextsOf(host, record, signal));
  } catch (error) {
    const message = `Parts of files may be left on the store: ${messageWithoutAdvice(toErrorRecord(error))}`;
    if (!signal.aborted) facts.warnings = [...facts.warnings, message];
  }
}

function contextsOf(
  { connectionFlags, environment, masterKeys, nowMs, onNews, throttle }: RunHost,
  record: TransferRecord,
  signal: AbortSignal,
): (directory: string) => JobContext {
  return (directory) => ({
    directory,
    connection: connectionFlags(),
    environment: environment(),
    masterKeys,
    throttle,
    signal,
    ...(record.calls ? { onCall: record.calls.onCall } : {}),
    emit: (event) => {
      record.note(event, nowMs());
      onNews();
    },
  });
}

/** A record that cannot be written, as on a full disk, does not make the run fail. */
async function unlessUnsaved(saving: Promise<void>): Promise<void> {
  try {
    await saving;
  } catch (error) {
    if (!(error instanceof DrayError)) throw error;
  }
}

function noteUsage(
  { environment, nowMs, usageFile }: RunHost,
  { facts: { order } }: TransferRecord,
  { requests }: Extract<TransferOutcome, { requests: unknown }>,
): void {
  try {
    usageFile.add({ place: billedPlaceOf(order, environment()), nowMs: nowMs(), requests });
  } catch (error) {
    // The result stays, whether or not it can be counted.
    if (!(error instanceof DrayError)) throw error;
  }
}

function faultOf(summary: TransferOutcome): DrayError | undefined {
  if ('damaged' in summary) return summary.missing + summary.damaged > 0 ? notWhole(summary) : undefined;
  if ('removedObjects' in summary) return undefined;
  if ('left' in summary) return summary.left > 0 ? notRepaired(summary) : undefined;
  return summary.failed > 0 ? someFailed(summary.failed) : undefined;
}

function notWhole({ affectedPaths, damaged, missing }: VerifySummary): DrayError {
  const objects = `Of the remote's objects, ${formatCount(missing)} are missing and ${formatCount(damaged)} are damaged`;
  return new DrayError('damaged', `${objects}: ${formatAffected(affectedPaths)}.`, {
    advice: 'A workspace that still has those files puts them back with "dray repair".',
    data: { reason: 'verified', missing, damaged },
  });
}

function notRepaired({ affectedPaths, left, leftInBranch }: RepairSummary): DrayError {
  const where =
    leftInBranch === 0
      ? 'Only older commits, or other branches and tags, are affected'
      : formatAffected(affectedPaths);
  return new DrayError('damaged', `${formatCount(left)} still missing or damaged: ${where}.`, {
    advice: 'Another workspace may still have the files: run "dray repair" there.',
    data: { reason: 'notRepaired', left },
  });
}

function someFailed(failed: number): DrayError {
  const message = `${failed.toLocaleString('en')} ${failed === 1 ? 'file' : 'files'} failed. All others are done.`;
  return new DrayError('partial', message, { retry: 'retry', data: { failed } });
}
