/** The notifications for transfers that end while the user looks elsewhere. Pure. */
import type { Transfer } from '../host/transfers.ts';

/** The user probably watched a shorter transfer end. */
const LONG_MS = 10_000;

export interface Ending {
  readonly title: string;
  readonly body: string;
}

/**
 * The transfers that ended since the list before, successfully or not. Cancelled ones are left out: the user
 * knows.
 * @param before Undefined at first: earlier endings were reported when they happened.
 */
export function findEndings(
  before: readonly Transfer[] | undefined,
  now: readonly Transfer[],
): readonly Ending[] {
  if (!before) return [];
  const known = new Set(before.map(endingOf));
  return now.flatMap((transfer) => {
    const { title, state, startedMs, endedMs } = transfer;
    if ((state !== 'done' && state !== 'failed') || known.has(endingOf(transfer))) return [];
    if (
      state === 'done' &&
      (startedMs === undefined || endedMs === undefined || endedMs - startedMs < LONG_MS)
    )
      return [];
    return [{ title: state === 'done' ? `Done: ${title}` : `Failed: ${title}`, body: bodyOf(transfer) }];
  });
}

/** Differs for each run of a transfer. */
function endingOf({ endedMs, id, state }: Transfer): string {
  return `${id} ${state} ${endedMs}`;
}

function bodyOf({ state, error, failed, filesDone }: Transfer): string {
  // The message of `unknownPeer` names command-line options; the window has a button instead.
  if (state === 'failed')
    return !error || error.code === 'unknownPeer' ? 'Dray shows what to do.' : error.message;
  const files = `${filesDone.toLocaleString('en')} ${filesDone === 1 ? 'file' : 'files'}`;
  return failed === 0
    ? `${files}.`
    : `${files}; ${failed.toLocaleString('en')} could not be read or written.`;
}
