/** The labels for the sides of a conflict, shared by all screens. */
import type { Winner } from '../../../engine/api/host/changes.ts';

export interface SideWords {
  readonly id: Winner;
  /** The label of the action. */
  readonly label: string;
  /** The label with one word, for narrow places. */
  readonly short: string;
  readonly note: string;
  readonly key: string;
}

export const SIDE_WORDS: readonly SideWords[] = [
  { id: 'ours', label: 'Keep mine', short: 'Mine', note: 'The local version stays', key: 'm' },
  {
    id: 'theirs',
    label: 'Take theirs',
    short: 'Theirs',
    note: "The remote's version; mine is kept for 30 days",
    key: 't',
  },
  { id: 'both', label: 'Keep both', short: 'Both', note: 'Theirs here, mine under a second name', key: 'b' },
];
