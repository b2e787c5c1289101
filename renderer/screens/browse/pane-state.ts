/** What a pane shows: its folder, its order and filter, and the rows that are chosen in it. */
import { type Choice, type ChosenEntries, chosenOf } from './entries/choice.ts';
import type { Entries, SortedBy } from './entries/use-entries.ts';
import type { Location } from './places.ts';

export type Side = 'left' | 'right';

export interface PaneState {
  readonly location: Location;
  readonly sortedBy: SortedBy;
  /** A part of the names that are shown. */
  readonly filter: string;
  readonly choice: Choice;
  /** In a repository: its stored objects instead of its branches. */
  readonly showsObjects?: boolean;
  /** The folder that the user came up from. */
  readonly cameFrom?: string | undefined;
}

/** Of a choice of everything, the entries that dialogs name. */
const NAMED_MAX = 8;

export function chosenIn({ choice, filter }: PaneState, { list, pages }: Entries): ChosenEntries {
  const { bytes = 0, total = 0 } = pages?.latest() ?? {};
  const first = Array.from({ length: Math.min(total, NAMED_MAX) }, (_, at) => pages?.rowAt(at));
  const firstRows = first.filter((row) => row !== undefined);
  return chosenOf(choice, { list, filter, total, bytes, firstRows });
}
