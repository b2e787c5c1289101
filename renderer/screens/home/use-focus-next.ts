/** Where the keyboard focus goes when the person removes a card that holds it. */
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { focusIfLost } from '../../design/controls/focus-if-lost.ts';

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
      focusIfLost(() => (other?.isConnected ? other : document.getElementById('screen')));
    },
    [card],
  );
  return isRemoved;
}
