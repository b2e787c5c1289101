/**
 * The events of one request on their way to a window: sent in batches, at most every `everyMs`. For progress,
 * and for lists that replace each other, a batch keeps only the newest. Bounded: a full batch is sent at
 * once.
 */
import type { HostEvent } from '../../api/host.ts';

const EVERY_MS = 50;
const BATCH_EVENTS_MAX = 2_000;
const NEWEST_ALONE: ReadonlySet<HostEvent['type']> = new Set([
  ...(['progress', 'transfers', 'listing', 'choices', 'walk', 'fleet'] as const),
]);

export interface EventOutbox {
  add(event: HostEvent): void;
  /** Sends the held events now, before an answer, so that no event follows the answer. */
  flush(): void;
}

export function createEventOutbox(
  send: (events: readonly HostEvent[]) => void,
  { everyMs = EVERY_MS }: { readonly everyMs?: number } = {},
): EventOutbox {
  let held: HostEvent[] = [];
  /** Position of the newest event of a kind in `held`. */
  const newest = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    newest.clear();
    if (held.length === 0) return;
    const events = held;
    held = [];
    send(events);
  };
  return {
    flush,
    add(event) {
      const { type } = event;
      if (NEWEST_ALONE.has(type)) {
        const at = newest.get(type);
        if (at !== undefined) {
          held[at] = event;
          return;
        }
        newest.set(type, held.length);
      } else if (type === 'phase') newest.delete('progress');
      held.push(event);
      if (held.length >= BATCH_EVENTS_MAX) flush();
      else timer ??= setTimeout(flush, everyMs);
    },
  };
}
