/** A transfer that ends or starts again moves to another list: the keyboard goes along. */
import { type FocusEvent, type RefCallback, useCallback, useRef } from 'react';

export interface RowFocus {
  /** Around all lists. */
  readonly box: RefCallback<HTMLDivElement>;
  readonly onFocus: (event: FocusEvent) => void;
}

interface Focused {
  readonly element: Element;
  /** The transfer of its row. Kept from the beginning, because a button can leave its row. */
  readonly id: string | undefined;
}

export function useRowFocus(): RowFocus {
  const last = useRef<Focused>(undefined);
  const box = useCallback((lists: HTMLDivElement) => {
    // An effect of the screen would run too early: the library draws the rows of the queue later.
    const changes = new MutationObserver(() => {
      const lost = last.current;
      if (!lost || lost.element.isConnected || document.activeElement !== document.body) return;
      sameIn(lists, lost)?.focus();
    });
    changes.observe(lists, { childList: true, subtree: true });
    return () => changes.disconnect();
  }, []);
  return {
    box,
    onFocus: ({ target }) => {
      last.current = { element: target, id: transferOf(target) };
    },
  };
}

function transferOf(element: Element): string | undefined {
  // A row of the queue is around its transfer and can have the focus itself.
  const row = element.closest('[data-transfer]') ?? element.querySelector('[data-transfer]');
  const moved = row ?? element.closest('.transfer-item')?.querySelector('[data-transfer]');
  return moved?.getAttribute('data-transfer') ?? undefined;
}

/** The same button in the transfer's new row. Where there is none, the one that shows its details. */
function sameIn(lists: HTMLElement, { element, id }: Focused): HTMLElement | undefined {
  if (id === undefined) return undefined;
  const row = lists.querySelector(`[data-transfer="${CSS.escape(id)}"]`);
  const buttons = [...(row?.querySelectorAll<HTMLElement>('button') ?? [])];
  return (
    buttons.find((button) => nameOf(button) === nameOf(element)) ??
    buttons.find((button) => button.hasAttribute('aria-expanded'))
  );
}

function nameOf(element: Element): string | null {
  return element.getAttribute('aria-label') ?? element.textContent;
}
