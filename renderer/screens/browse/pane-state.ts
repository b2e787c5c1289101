/** The state of a pane: its folder, its order and filter, and its chosen rows. */
import { type Choice, type ChosenEntries, chosenOf } from './entries/choice.ts';
import type { Entries, SortedBy } from './entries/use-entries.ts';
import type { Location } from './places.ts';

export type Side = 'left' | 'right';

export interface PaneState {
  readonly location: Location;
  readonly sortedBy: SortedBy;
  /** Only names that contain this text are shown. */
  readonly filter: string;
  readonly choice: Choice;
  /** Shows the stored objects of a repository instead of its branches. */
  readonly showsObjects?: boolean;
  /** The folder that the user came up from. */
  readonly cameFrom?: string | undefined;
}

/** The most entries that dialogs name for a choice of everything. */
const NAMED_MAX = 8;

export function chosenIn({ choice, filter }: PaneState, { list, pages, state }: Entries): ChosenEntries {
  const { bytes = 0, total = 0 } = pages?.latest() ?? {};
  const first = Array.from({ length: Math.min(total, NAMED_MAX) }, (_, at) => pages?.rowAt(at));
  const firstRows = first.filter((row) => row !== undefined);
  return chosenOf(choice, { list, filter, total, bytes, firstRows, isWhole: state === 'done' });
}
