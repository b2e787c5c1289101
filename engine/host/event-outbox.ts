/**
 * Events of one request on their way to a window: sent in batches, at most every `everyMs`. Of progress, and of lists that replace
 * each other, only the newest of a batch is kept. Bound: a batch that is full is sent at once.
 */
import type { HostEvent } from '../api/host.ts';

const EVERY_MS = 50;
const BATCH_EVENTS_MAX = 2_000;

export interface EventOutbox {
  add(event: HostEvent): void;
  /** Sends what is held now: before an answer, so that nothing comes after it. */
  flush(): void;
}

export function createEventOutbox(
  send: (events: readonly HostEvent[]) => void,
  { everyMs = EVERY_MS }: { readonly everyMs?: number } = {},
): EventOutbox {
  let held: HostEvent[] = [];
  /** Where the newest of a kind lies in `held`. */
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
      if (type === 'progress' || type === 'transfers') {
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
