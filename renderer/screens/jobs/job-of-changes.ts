/** A job like a push or a pull of Changes. */
import type { Direction } from '../changes/use-change-list.ts';

const MESSAGE_MAX = 500;

/** The form's content, from the address. A message of several lines fits no field of it. */
export function jobOfChanges(
  root: string,
  direction: Direction,
  message = '',
): Readonly<Record<string, string>> {
  const isKept = direction === 'push' && message.length <= MESSAGE_MAX && !/[\r\n]/.test(message);
  return { add: 'yes', from: 'changes', kind: direction, root, ...(isKept && message ? { message } : {}) };
}
