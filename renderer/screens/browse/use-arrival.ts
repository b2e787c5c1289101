/** Keeps the focus in the list: when a folder is opened from a list, its own list gets the focus. */
import { type RefObject, useEffect, useRef } from 'react';
import { type Location, placeOf } from './places.ts';

export interface ArrivalOptions {
  readonly pane: RefObject<HTMLElement | null>;
  readonly location: Location;
  readonly isLoading: boolean;
}

/** @returns A function to call before the location changes, if the list had the focus. */
export function useArrival({ isLoading, location, pane }: ArrivalOptions): () => void {
  const isOnTheWay = useRef(false);
  const place = placeOf(location);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the place changes, though it does not use its name.
  useEffect(() => {
    if (!isOnTheWay.current || isLoading) return;
    const frame = requestAnimationFrame(() => {
      isOnTheWay.current = false;
      // A pane without a list (its folder cannot be read) takes the focus itself.
      (pane.current?.querySelector<HTMLElement>('[role="grid"]') ?? pane.current)?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, [place, isLoading]);
  return () => {
    isOnTheWay.current = true;
  };
}
