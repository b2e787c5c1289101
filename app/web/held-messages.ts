/**
 * Messages that wait for a browser that reads slowly. Answers keep their order. Of messages that show a state
 * (progress, transfers) only the newest stays, so a window that was away for a minute gets one figure, not a
 * thousand.
 */
import type { HostEvent, HostMessage } from '../../engine/api/host.ts';

export interface HeldMessages {
  add(message: HostMessage): void;
  /** The oldest message; undefined if none waits. */
  take(): HostMessage | undefined;
  /** The number of waiting messages and events. */
  size(): number;
}

export function createHeldMessages(): HeldMessages {
  let queue: HostMessage[] = [];
  let events = 0;
  return {
    add: (message) => {
      const last = queue.at(-1);
      if (message.is === 'events' && last?.is === 'events' && last.id === message.id) {
        const joined = keepNewest([...last.events, ...message.events]);
        events += joined.length - last.events.length;
        queue[queue.length - 1] = { ...last, events: joined };
        return;
      }
      queue.push(message);
      if (message.is !== 'events') return;
      events += message.events.length;
      // Two watchers take turns: the older batch, which the newest one replaces, would wait for nothing.
      queue = queue.filter((held, at) => {
        const isVoid =
          at < queue.length - 1 &&
          held.is === 'events' &&
          held.id === message.id &&
          isReplaced(held, message);
        if (isVoid) events -= held.events.length;
        return !isVoid;
      });
    },
    take: () => {
      const message = queue.shift();
      if (message?.is === 'events') events -= message.events.length;
      return message;
    },
    size: () => queue.length + events,
  };
}

type Batch = Extract<HostMessage, { is: 'events' }>;

function isReplaced(older: Batch, newer: Batch): boolean {
  return older.events.every(
    (event) => isState(event) && newer.events.some((next) => next.type === event.type),
  );
}

function keepNewest(events: readonly HostEvent[]): HostEvent[] {
  return events.filter(
    (event, at) => !isState(event) || !events.slice(at + 1).some((later) => later.type === event.type),
  );
}

function isState({ type }: HostEvent): boolean {
  return type === 'progress' || type === 'transfers';
}
