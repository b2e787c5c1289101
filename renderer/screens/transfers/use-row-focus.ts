/** A transfer that ends or starts again moves to another list: the keyboard goes along. */
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
    const goAlong = (): void => {
      const lost = last.current;
      if (!lost || lost.isConnected || document.activeElement !== document.body) return;
      const to = box.current && sameIn(box.current, lost);
      if (!to) return;
      last.current = null;
      to.focus();
    };
    goAlong();
    // The kit draws the queue's rows after this screen.
    const frame = requestAnimationFrame(goAlong);
    return () => cancelAnimationFrame(frame);
  });
  return {
    box,
    onFocus: ({ target }) => {
      last.current = target;
    },
  };
}

/** The same button in the transfer's new row. Where there is none, the one that shows its details. */
function sameIn(box: HTMLElement, lost: Element): HTMLElement | undefined {
  // A row of the queue is around its transfer and can have the focus itself.
  const moved = lost.closest('.transfer-item')?.querySelector('[data-transfer]');
  const id = moved?.getAttribute('data-transfer');
  if (id == null) return undefined;
  const row = box.querySelector(`[data-transfer="${CSS.escape(id)}"]`);
  const buttons = [...(row?.querySelectorAll<HTMLElement>('button') ?? [])];
  return (
    buttons.find((button) => nameOf(button) === nameOf(lost)) ??
    buttons.find((button) => button.hasAttribute('aria-expanded'))
  );
}

function nameOf(element: Element): string | null {
  return element.getAttribute('aria-label') ?? element.textContent;
}
