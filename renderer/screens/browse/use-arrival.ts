/** The keyboard goes on where the list was left: a folder that was opened from within the list leads to its first row. */
import { type RefObject, useEffect, useRef } from 'react';
import { type Location, placeOf } from './places.ts';

export interface ArrivalOptions {
  readonly pane: RefObject<HTMLElement | null>;
  readonly location: Location;
  readonly isLoading: boolean;
  /** Told once the list has the focus. */
  readonly onArrived: () => void;
}

/** @returns To be called before the location changes, by whoever had the focus in the list. */
export function useArrival({ isLoading, location, onArrived, pane }: ArrivalOptions): () => void {
  const isOnTheWay = useRef(false);
  const place = placeOf(location);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place counts, though its name is not used.
  useEffect(() => {
    if (!isOnTheWay.current || isLoading) return;
    // The list knows its rows, and gives its focus to one, from the next frame on.
    const frame = requestAnimationFrame(() => {
      isOnTheWay.current = false;
      // A pane without a list, because its folder cannot be read, takes the focus itself.
      (pane.current?.querySelector<HTMLElement>('[role="grid"]') ?? pane.current)?.focus();
      onArrived();
    });
    return () => cancelAnimationFrame(frame);
  }, [place, isLoading]);
  return () => {
    isOnTheWay.current = true;
  };
}
