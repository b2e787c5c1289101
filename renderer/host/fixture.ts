/** An engine of canned answers, for building the window and for its pictures: chosen by `?fixture`. */
import { DrayError, toErrorRecord } from '../../engine/api/error.ts';
import type { ClientMessage, HostEvent, HostMessage, HostRequestName } from '../../engine/api/host.ts';
import type { HostPort } from '../../engine/api/host-port.ts';
import type { Line } from './connection.ts';
import { browseFixture } from './fixture-browse.ts';
import { changesFixture } from './fixture-changes.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';
import { historyFixture } from './fixture-history.ts';
import { homeFixture } from './fixture-home.ts';
import { remotesFixture } from './fixture-remotes.ts';
import { settingsFixture } from './fixture-settings.ts';
import { transfersFixture } from './fixture-transfers.ts';

type AnyHandler = (input: unknown, tell: (event: HostEvent) => void, signal: AbortSignal) => unknown;

/** Each area's canned answers. */
const HANDLERS: FixtureHandlers = {
  ...homeFixture,
  ...changesFixture,
  ...transfersFixture,
  ...historyFixture,
  ...browseFixture,
  ...remotesFixture,
  ...settingsFixture,
};

export async function openFixture(): Promise<Line> {
  const stops = new Map<number, AbortController>();
  let listener: (message: unknown) => void = () => {};
  const answer = async (id: number, name: HostRequestName, input: unknown) => {
    const stop = new AbortController();
    stops.set(id, stop);
    const reply = (message: HostMessage) => {
      // As a real line would: what is told is a copy.
      if (!stop.signal.aborted) listener(structuredClone(message));
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
  const port: HostPort = {
    post: (posted) => {
      const message = posted as ClientMessage;
      if (message.do === 'ask') void answer(message.id, message.name, message.input);
      else stops.get(message.id)?.abort();
    },
    onMessage: (next) => {
      listener = next;
    },
    onClose: () => {},
    close: () => {},
  };
  return { port, opened: Promise.resolve() };
}
