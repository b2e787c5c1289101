/**
 * Entries that are dragged between panes, and between windows of one Dray. Any page may offer the same type,
 * and a drop copies files. So a drag counts only with the name that its start has left in the storage of this
 * origin, and only until it ends.
 */
import type { DropItem } from 'react-aria-components';
import type { Chosen } from '../copy-orders.ts';

const TYPE = 'application/x-dray-entries';
const STORED = 'dray-drag';

interface Dragged {
  readonly id: string;
  readonly chosen: Chosen;
}

/** Must be called during the event of the drag's start. */
export function offerEntries(data: DataTransfer, chosen: Chosen): void {
  const id = crypto.randomUUID();
  localStorage.setItem(STORED, id);
  data.setData(TYPE, JSON.stringify({ id, chosen } satisfies Dragged));
  window.addEventListener('dragend', () => localStorage.removeItem(STORED), { once: true });
}

/**
 * Must be called during the event of the drop. Undefined: no entries were dropped. Resolves to undefined if
 * another page offers them.
 */
export function droppedEntries(items: readonly DropItem[]): Promise<Chosen | undefined> | undefined {
  const started = localStorage.getItem(STORED);
  const own = items.find((item) => item.kind === 'text' && item.types.has(TYPE));
  if (own?.kind !== 'text') return undefined;
  return own.getText(TYPE).then((text) => {
    const { chosen, id } = JSON.parse(text) as Dragged;
    return id === started ? chosen : undefined;
  });
}
