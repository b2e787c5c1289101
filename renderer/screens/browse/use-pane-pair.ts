/** The two panes: the state of each, and which one is active. */
import { useEffect, useRef, useState } from 'react';
import type { KeptPane, KeptPanes } from '../../../engine/api/host/browse.ts';
import { useHost } from '../../host/use-host.tsx';
import { type Choice, type ChosenEntries, chooseOnly, NOTHING } from './entries/choice.ts';
import { type Entries, useEntries } from './entries/use-entries.ts';
import { chosenIn, type PaneState, type Side } from './pane-state.ts';
import { type Location, type Root, rootKey, versionRoot } from './places.ts';

export interface PanesStart {
  /** The panes of the last visit. */
  readonly kept: KeptPanes;
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
  readonly chosen: ChosenEntries;
  readonly activate: (side: Side) => void;
  readonly change: (side: Side, next: Partial<PaneState>) => void;
}

export function usePanePair({ kept, local, roots, right }: PanesStart): PanePair {
  const host = useHost();
  const [active, activate] = useState<Side>('left');
  const [states, setStates] = useState<PanePair['states']>(() => ({
    left: keptPane(kept.left, roots) ?? paneAt(local),
    right: (right === undefined && keptPane(kept.right, roots)) || paneAt(rightStart(local, roots, right)),
  }));
  const entries = {
    left: usePaneEntries(states.left),
    right: usePaneEntries(states.right),
  };
  const change = (side: Side, next: Partial<PaneState>) => {
    setStates((before) => ({ ...before, [side]: { ...before[side], ...next } }));
    if (!next.location && !next.sortedBy) return;
    const { location, sortedBy } = { ...states[side], ...next };
    const pane = { root: rootKey(location.root), folder: location.folder, ...sortedBy };
    // Ignored, because the pane works without it.
    host.ask('browse.keepPane', { side, pane }).catch(() => {});
  };
  useKeptChoice(entries.left, states.left, (choice) => change('left', { choice }));
  useKeptChoice(entries.right, states.right, (choice) => change('right', { choice }));
  const other: Side = active === 'left' ? 'right' : 'left';
  return {
    states,
    entries,
    active,
    other,
    here: states[active].location,
    there: states[other].location,
    chosen: chosenIn(states[active], entries[active]),
    activate,
    change,
  };
}

function usePaneEntries({ filter, location, sortedBy }: PaneState): Entries {
  return useEntries(location, sortedBy, { filter });
}

/** Larger choices are not checked after a new listing. */
const KEPT_MAX = 2_000;

/** After a new listing of the folder, removes the entries from the choice that no longer exist. */
function useKeptChoice(
  { list, state }: Entries,
  { choice }: PaneState,
  onChoice: (choice: Choice) => void,
): void {
  const host = useHost();
  const latest = useRef({ choice, onChoice });
  latest.current = { choice, onChoice };
  const checked = useRef<string>(undefined);
  useEffect(() => {
    if (list === undefined || state !== 'done' || checked.current === list) return;
    checked.current = list;
    const before = latest.current.choice;
    if (before.kind === 'all' || before.rows.size === 0 || before.rows.size > KEPT_MAX) return;
    host
      .ask('browse.find', { list, paths: [...before.rows.keys()] })
      .then(({ rows }) => {
        if (latest.current.choice === before) latest.current.onChoice(chooseOnly(rows));
      })
      // The list was closed, because the folder is being listed again.
      .catch(() => {});
  }, [host, list, state]);
}

/** The requested remote, or one of the user's own, or any other remote, or this computer. */
function rightStart(local: Location, roots: readonly Root[], asked: string | undefined): Location {
  const remotes = roots.filter(({ kind }) => kind !== 'local');
  const root =
    remotes.find(({ label }) => label === asked) ??
    remotes.find(({ kind }) => kind === 'named') ??
    remotes[0];
  return root ? { root, folder: '' } : local;
}

/** Undefined if the pane's remote is no longer known. */
function keptPane(kept: KeptPane | undefined, roots: readonly Root[]): PaneState | undefined {
  const root = kept && (roots.find((one) => rootKey(one) === kept.root) ?? versionRoot(kept.root));
  if (!kept || !root) return undefined;
  const { column, folder, isDescending } = kept;
  return { ...paneAt({ root, folder }), sortedBy: { column, isDescending } };
}

function paneAt(location: Location): PaneState {
  return { location, sortedBy: { column: 'name', isDescending: false }, filter: '', choice: NOTHING };
}
