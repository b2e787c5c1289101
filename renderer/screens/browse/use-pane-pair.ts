/** The two panes: the folder of each, which one is active, and what is chosen in it. */
import { useState } from 'react';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import type { PaneState, Side } from './pane.tsx';
import type { Location, Root } from './places.ts';
import { type Entries, useEntries } from './use-entries.ts';

export interface PanesStart {
  /** The folder on the left. */
  readonly local: Location;
  readonly roots: readonly Root[];
  /** The label of the root on the right. */
  readonly right: string | undefined;
}

export interface PanePair {
  readonly states: Readonly<Record<Side, PaneState>>;
  readonly entries: Readonly<Record<Side, Entries>>;
  readonly active: Side;
  readonly other: Side;
  /** The folder of the active pane. */
  readonly here: Location;
  /** The folder of the other pane. */
  readonly there: Location;
  /** The chosen entries of the active pane. */
  readonly chosen: readonly EntryRow[];
  readonly activate: (side: Side) => void;
  readonly change: (side: Side, next: Partial<PaneState>) => void;
}

export function usePanePair({ local, roots, right }: PanesStart): PanePair {
  const [active, activate] = useState<Side>('left');
  const [states, setStates] = useState<PanePair['states']>(() => ({
    left: paneAt(local),
    right: paneAt(rightStart(local, roots, right)),
  }));
  const entries = {
    left: useEntries(states.left.location, states.left.sortedBy),
    right: useEntries(states.right.location, states.right.sortedBy),
  };
  const other: Side = active === 'left' ? 'right' : 'left';
  return {
    states,
    entries,
    active,
    other,
    here: states[active].location,
    there: states[other].location,
    chosen: entries[active].rows.filter(({ path }) => states[active].selected.has(path)),
    activate,
    change: (side, next) => setStates((before) => ({ ...before, [side]: { ...before[side], ...next } })),
  };
}

/** The requested remote, else one of the user's own, else any, else this computer. */
function rightStart(local: Location, roots: readonly Root[], asked: string | undefined): Location {
  const remotes = roots.filter(({ kind }) => kind !== 'local');
  const root =
    remotes.find(({ label }) => label === asked) ??
    remotes.find(({ kind }) => kind === 'named') ??
    remotes[0];
  return root ? { root, folder: '' } : local;
}

function paneAt(location: Location): PaneState {
  return { location, sortedBy: { column: 'name', isDescending: false }, selected: new Set() };
}
