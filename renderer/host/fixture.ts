/** An engine of canned answers, for building the window and for its pictures: chosen by `?fixture`. */
import { DrayError, toErrorRecord } from '../../engine/api/error.ts';
import type {
  AnswerOf,
  ClientMessage,
  HostEvent,
  HostMessage,
  HostRequestName,
  InputOf,
} from '../../engine/api/host.ts';
import type { Line, LineEvents } from './connection.ts';
import { changesFixture } from './fixture-changes.ts';
import { homeFixture } from './fixture-home.ts';

export type FixtureHandlers = {
  readonly [N in HostRequestName]?: (
    input: InputOf<N>,
    tell: (event: HostEvent) => void,
    signal: AbortSignal,
  ) => AnswerOf<N> | Promise<AnswerOf<N>>;
};

type AnyHandler = (input: unknown, tell: (event: HostEvent) => void, signal: AbortSignal) => unknown;

/** Each area's canned answers. */
const HANDLERS: FixtureHandlers = { ...homeFixture, ...changesFixture };

export function openFixture(events: LineEvents): Line {
  const stops = new Map<number, AbortController>();
  const answer = async (id: number, name: HostRequestName, input: unknown) => {
    const stop = new AbortController();
    stops.set(id, stop);
    const reply = (message: HostMessage) => {
      // As a real line would: what is told is a copy.
      if (!stop.signal.aborted) events.heard(structuredClone(message));
    };
    try {
      const handler = HANDLERS[name] as AnyHandler | undefined;
      if (!handler) throw new DrayError('unsupported', `The fixture has no answer to ${name}.`);
      await new Promise((resolve) => setTimeout(resolve, 10));
      const tell = (event: HostEvent) => reply({ is: 'events', id, events: [event] });
      reply({ is: 'answer', id, answer: await handler(input, tell, stop.signal) });
    } catch (error) {
      reply({ is: 'failed', id, error: toErrorRecord(error) });
    } finally {
      stops.delete(id);
    }
  };
  queueMicrotask(events.opened);
  return {
    send: (message: ClientMessage) => {
      if (message.do === 'ask') void answer(message.id, message.name, message.input);
      else stops.get(message.id)?.abort();
    },
  };
}
