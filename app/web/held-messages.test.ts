import { describe, expect, it } from 'vitest';
import type { HostMessage } from '../../engine/api/host.ts';
import { createHeldMessages, type HeldMessages } from './held-messages.ts';

const answer = (id: number): HostMessage => ({ is: 'answer', id, answer: id });
const progress = (id: number, filesDone: number): HostMessage => ({
  is: 'events',
  id,
  events: [{ type: 'progress', phase: 'upload', filesDone, bytesDone: 0, requests: 0 }],
});
const warning = (id: number, message: string): HostMessage => ({
  is: 'events',
  id,
  events: [{ type: 'warning', warning: 'some', message }],
});

function takeAll(held: HeldMessages): HostMessage[] {
  const taken: HostMessage[] = [];
  for (let next = held.take(); next; next = held.take()) taken.push(next);
  return taken;
}

function holding(...messages: readonly HostMessage[]): HeldMessages {
  const held = createHeldMessages();
  for (const message of messages) held.add(message);
  return held;
}

describe('held messages', () => {
  it('arrive in their order', () => {
    const messages = [answer(1), warning(2, 'a'), answer(3)];
    expect(takeAll(holding(...messages))).toEqual(messages);
  });

  it('keep only the newest progress of a request', () => {
    expect(takeAll(holding(progress(1, 1), progress(1, 2), progress(1, 3)))).toEqual([progress(1, 3)]);
    const mixed = takeAll(holding(progress(1, 1), progress(2, 1), progress(1, 2), progress(2, 2)));
    expect(mixed).toEqual([progress(1, 2), progress(2, 2)]);
  });

  it('keep every event that is not a state', () => {
    const taken = takeAll(holding(warning(1, 'a'), progress(1, 1), warning(1, 'b'), progress(1, 2)));
    const events = taken.flatMap((message) => (message.is === 'events' ? message.events : []));
    expect(events.map((event) => (event.type === 'warning' ? event.message : event.type))).toEqual([
      'a',
      'b',
      'progress',
    ]);
  });

  it('are counted with their events, down to zero', () => {
    const held = holding(
      answer(1),
      warning(2, 'a'),
      warning(2, 'b'),
      progress(3, 1),
      answer(4),
      progress(3, 2),
    );
    // Two answers, two batches, three events.
    expect(held.size()).toBe(7);
    takeAll(held);
    expect(held.size()).toBe(0);
  });
});
