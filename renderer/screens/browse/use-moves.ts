/** Moves a pane from folder to folder. Focus and selection follow. */
import { type RefObject, useRef } from 'react';
import { below, type Location, nameOf, parentOf } from './places.ts';
import { useArrival } from './use-arrival.ts';

export interface MoveOptions {
  readonly pane: RefObject<HTMLElement | null>;
  readonly location: Location;
  readonly isLoading: boolean;
  readonly onState: (change: {
    readonly location?: Location;
    readonly selected: ReadonlySet<string>;
  }) => void;
}

export interface Moves {
  readonly go: (next: Location) => void;
  readonly goDown: (folder: string) => void;
  /** Returns to the folder that the user came from, and selects it. Undefined at the top. */
  readonly goUp: (() => void) | undefined;
}

export function useMoves({ pane, location, isLoading, onState }: MoveOptions): Moves {
  const arriving = useRef<ReadonlySet<string>>(new Set());
  const setOut = useArrival({
    pane,
    location,
    isLoading,
    // The list selects the row that gets the focus. After opening a folder, nothing is selected.
    onArrived: () => onState({ selected: arriving.current }),
  });
  const go = (next: Location, selected: ReadonlySet<string> = new Set()): void => {
    arriving.current = selected;
    onState({ location: next, selected });
  };
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
        go(parent, new Set([`${nameOf(location.folder)}/`]));
      }),
  };
}
