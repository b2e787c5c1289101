/** Keeps the keyboard focus in place when the button of a remedy disappears. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** After success the button disappears and gives the focus to the pane, dialog or screen around it. */
export function useFocusHome(box: RefObject<HTMLElement | null>): RefObject<boolean> {
  const isUsed = useRef(false);
  const home = useRef<HTMLElement>(null);
  useEffect(() => {
    home.current = box.current?.closest<HTMLElement>('.pane, [role="dialog"], main') ?? null;
  }, [box]);
  useLayoutEffect(
    () => () => {
      if (!isUsed.current) return;
      // The dialog returns the focus in the next frame, when the button is gone.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          if (document.activeElement === document.body) home.current?.focus();
        }),
      );
    },
    [],
  );
  return isUsed;
}
