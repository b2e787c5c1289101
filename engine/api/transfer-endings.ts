/** What a person who looks elsewhere is told when transfers end. Pure. */
import type { Transfer } from './host.ts';

/** What ends sooner was watched, most likely. */
const LONG_MS = 10_000;

export interface Ending {
  readonly title: string;
  readonly body: string;
}

/**
 * Those of this list that have ended, well or badly, and had not in the list before; what a person cancelled is known.
 * @param before Undefined at first: what had ended by then was told when it did.
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

/** Another one when it ran again. */
function endingOf({ endedMs, id, state }: Transfer): string {
  return `${id} ${state} ${endedMs}`;
}

function bodyOf({ state, error, failed, filesDone }: Transfer): string {
  // The message of `unknownPeer` names options of the command; the window has a button instead.
  if (state === 'failed')
    return !error || error.code === 'unknownPeer' ? 'Dray shows what to do.' : error.message;
  const files = `${filesDone.toLocaleString('en')} ${filesDone === 1 ? 'file' : 'files'}`;
  return failed === 0
    ? `${files}.`
    : `${files}; ${failed.toLocaleString('en')} could not be read or written.`;
}
