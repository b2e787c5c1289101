/** The words for the states of transfers and of their results: one word for each state on every screen. */
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import type { BadgeTone } from '../../design/badge.tsx';
import { phaseWords } from './transfer-words.ts';

export type StateWord = readonly [tone: BadgeTone, word: string];

export function stateWord({ order, phase, state, summary }: Transfer): StateWord {
  switch (state) {
    case 'waiting':
      return ['neutral', 'Waiting'];
    case 'running':
      return ['accent', order.kind === 'gc' && phase === 'query' ? 'Listing the store' : phaseWords(phase)];
    case 'paused':
      return ['modified', 'Paused'];
    case 'done':
      return doneWord(order, summary);
    case 'failed':
      return ['deleted', 'Failed'];
    case 'cancelled':
      return ['neutral', 'Cancelled'];
  }
}

/**
 * A push without a new commit, a pull without one, and a collection without garbage changed nothing. A
 * resumed copy may find that all files had arrived before its pause, so it is done.
 */
function doneWord({ kind }: Transfer['order'], summary: Transfer['summary']): StateWord {
  if (kind === 'gc' && summary && 'result' in summary && summary.result === 'nothingToCollect')
    return ['neutral', 'Nothing to remove'];
  if (kind !== 'push' && kind !== 'pull') return DONE;
  const result = summary && 'result' in summary ? summary.result : undefined;
  if (result === 'nothingToPush') return ['neutral', NOTHING_TO_PUSH];
  if (result === 'upToDate') return ['neutral', UP_TO_DATE];
  return DONE;
}

const DONE: StateWord = ['added', 'Done'];

export const NOTHING_TO_PUSH = 'Nothing to push';
const UP_TO_DATE = 'Up to date';
/** A workspace without a commit, which its first push or pull brings. */
export const NO_COMMIT_YET = 'None yet';
export const UNFINISHED_CLONE = 'Not all files are here';
