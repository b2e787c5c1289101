/** Moves a pane from folder to folder. Focus and selection follow. */
import type { RefObject } from 'react';
import { NOTHING } from './entries/choice.ts';
import type { PaneState } from './pane-state.ts';
import { below, type Location, nameOf, parentOf } from './places.ts';
import { useArrival } from './use-arrival.ts';

export interface MoveOptions {
  readonly pane: RefObject<HTMLElement | null>;
  readonly location: Location;
  readonly showsObjects: boolean;
  readonly isLoading: boolean;
  readonly onState: (change: Partial<PaneState>) => void;
}

export interface Moves {
  readonly go: (next: Location) => void;
  readonly goDown: (folder: string) => void;
  /** Returns to the folder that the user came from, and selects it. Undefined at the top. */
  readonly goUp: (() => void) | undefined;
  /** Shows another place. */
  readonly open: (next: Location) => void;
  /** Shows the stored objects of the repository that is open. */
  readonly showObjects: () => void;
}

export function useMoves({ onState, ...shown }: MoveOptions): Moves {
  const { location } = shown;
  const setOut = useArrival(shown);
  const go = (next: Location, from?: string): void =>
    onState({ location: next, choice: NOTHING, filter: '', cameFrom: from, showsObjects: false });
  const parent = parentOf(location);
  return {
    go: (next) => go(next),
    goDown: (folder) => {
      setOut();
      go(below(location, folder));
    },
    goUp:
      parent &&
      (() => {
        setOut();
        go(parent, `${nameOf(location.folder)}/`);
      }),
    open: (next) => {
      setOut();
      go(next);
    },
    showObjects: () => {
      setOut();
      onState({ showsObjects: true });
    },
  };
}
