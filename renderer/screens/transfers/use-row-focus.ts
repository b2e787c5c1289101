/** A transfer that ends moves to another list: the keyboard goes along. */
import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react';

export interface RowFocus {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly onFocus: (event: FocusEvent) => void;
}

/** For the element around all lists. */
export function useRowFocus(): RowFocus {
  const box = useRef<HTMLDivElement>(null);
  const last = useRef<Element>(null);
  useLayoutEffect(() => {
    const lost = last.current;
    if (!lost || lost.isConnected || document.activeElement !== document.body) return;
    last.current = null;
    const id = lost.closest('[data-transfer]')?.getAttribute('data-transfer');
    if (id == null) return;
    const row = box.current?.querySelector(`[data-transfer="${CSS.escape(id)}"]`);
    const same = [...(row?.querySelectorAll<HTMLElement>('button') ?? [])];
    const label = lost.getAttribute('aria-label');
    // A button of the row that the new state has not leads to the last one, its details.
    (same.find((button) => button.getAttribute('aria-label') === label) ?? same.at(-1))?.focus();
  });
  return {
    box,
    onFocus: ({ target }) => {
      last.current = target;
    },
  };
}
