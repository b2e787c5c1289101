/** Keeps the focus in the pane: when the keyboard opens a folder, the new list gets the focus. */
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
  /** What had the focus before, while a list is on the way. */
  const left = useRef<Element | null>(undefined);
  const place = placeOf(location);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when another list is shown, whichever it is.
  useEffect(() => {
    if (left.current === undefined || isLoading) return;
    let frame = 0;
    const arriveNext = (): void => {
      cancelAnimationFrame(frame);
      // A dialog that closes gives the focus back earlier in the same frame.
      frame = requestAnimationFrame(arrive);
    };
    const overlays = new MutationObserver(arriveNext);
    const arrive = (): void => {
      const { activeElement: now, body } = document;
      if (now?.closest('[role="dialog"]')) {
        overlays.observe(body, { childList: true });
        return;
      }
      overlays.disconnect();
      // A person may work elsewhere by now.
      const isFree = now === body || now === pane.current || now === left.current;
      left.current = undefined;
      // A pane without a list (its folder cannot be read) takes the focus itself.
      if (isFree) (pane.current?.querySelector<HTMLElement>('[role="grid"]') ?? pane.current)?.focus();
    };
    arriveNext();
    return () => {
      cancelAnimationFrame(frame);
      overlays.disconnect();
    };
  }, [place, showsObjects, isLoading]);
  return () => {
    left.current = document.activeElement;
  };
}
