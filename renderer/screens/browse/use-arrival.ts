/** Keeps the focus in the pane: the list of what is opened by the keyboard gets it. */
import { type RefObject, useEffect, useRef } from 'react';
import { type Location, placeOf } from './places.ts';

export interface ArrivalOptions {
  readonly pane: RefObject<HTMLElement | null>;
  readonly location: Location;
  /** The stored objects of a repository. */
  readonly showsObjects: boolean;
  readonly isLoading: boolean;
}

/** @returns A function to call before another list is shown, if what had the focus goes. */
export function useArrival({ isLoading, location, pane, showsObjects }: ArrivalOptions): () => void {
  const isOnTheWay = useRef(false);
  const place = placeOf(location);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when another list is shown, whichever it is.
  useEffect(() => {
    if (!isOnTheWay.current || isLoading) return;
    const frame = requestAnimationFrame(() => {
      isOnTheWay.current = false;
      // A pane without a list (its folder cannot be read) takes the focus itself.
      (pane.current?.querySelector<HTMLElement>('[role="grid"]') ?? pane.current)?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, [place, showsObjects, isLoading]);
  return () => {
    isOnTheWay.current = true;
  };
}
