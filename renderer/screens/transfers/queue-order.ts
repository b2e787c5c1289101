/** Turns a drag in the queue into the steps up or down that the engine takes. */
import type { InputOf } from '../../../engine/api/host.ts';

export interface QueueMove {
  readonly id: string;
  readonly target: string;
  readonly side: 'before' | 'after' | 'on';
}

export function stepsTo(
  ids: readonly string[],
  { id, target, side }: QueueMove,
): InputOf<'transfers.change'>[] {
  const from = ids.indexOf(id);
  const others = ids.filter((other) => other !== id);
  const at = others.indexOf(target);
  if (from === -1 || at === -1) return [];
  const to = side === 'after' ? at + 1 : at;
  const action = to < from ? 'up' : 'down';
  return Array.from({ length: Math.abs(to - from) }, () => ({ ids: [id], action }));
}
