/** Where the keyboard focus goes when the person removes a card that holds it. */
import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Once the card has gone, the focus goes to the one that follows it in the list, to the one before if it was
 * the last, or to the screen if it was the only one.
 *
 * @returns Set it when the person removes the card.
 */
export function useFocusNext(card: RefObject<HTMLElement | null>): RefObject<boolean> {
  const isRemoved = useRef(false);
  useLayoutEffect(
    () => () => {
      const item = card.current?.closest('li');
      if (!isRemoved.current || !item) return;
      const next = item.nextElementSibling ?? item.previousElementSibling;
      const other = next?.querySelector<HTMLElement>('.workspace');
      // The dialog returns the focus in the next frame, when the card is gone.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          if (document.activeElement !== document.body) return;
          (other?.isConnected ? other : document.getElementById('screen'))?.focus();
        }),
      );
    },
    [card],
  );
  return isRemoved;
}
