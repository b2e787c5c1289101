/**
 * The window's side of the protocol in `../host.ts`: sends requests, receives events, stops requests.
 * Isomorphic.
 */
import { DrayError, type ErrorRecord, fromErrorRecord } from '../error.ts';
import type { AnswerOf, ClientMessage, HostEvent, HostMessage, HostRequestName, InputOf } from '../host.ts';
import type { HostPort } from './host-port.ts';

export interface AskOptions {
  /** Stops the request at the host; it fails with `aborted` at once. */
  readonly signal?: AbortSignal;
  readonly onEvents?: (events: readonly HostEvent[]) => void;
}

export interface HostClient {
  /** @throws A `DrayError` with the host's code; `unreachable` when the port closes before the answer. */
  ask<N extends HostRequestName>(name: N, input: InputOf<N>, options?: AskOptions): Promise<AnswerOf<N>>;
  /** Called once, when the port has closed and no request can be sent. */
  onClose(listener: () => void): void;
  close(): void;
}

interface Pending {
  readonly onEvents: ((events: readonly HostEvent[]) => void) | undefined;
  answer(answer: unknown): void;
  fail(error: unknown): void;
}

export function connectHost(port: HostPort): HostClient {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let isClosed = false;
  const send = (message: ClientMessage) => port.post(message);

  port.onMessage((received) => {
    const message = received as HostMessage | undefined;
    const asked = message && pending.get(message.id);
    // Messages that arrive after a stop are dropped.
    if (!asked) return;
    switch (message.is) {
      case 'events':
        asked.onEvents?.(message.events);
        return;
      case 'answer':
        asked.answer(message.answer);
        return;
      case 'failed':
        asked.fail(fromErrorRecord(message.error as ErrorRecord));
    }
  });
  port.onClose(() => {
    isClosed = true;
    for (const asked of [...pending.values()]) asked.fail(connectionLost());
  });

  return {
    ask: (name, input, { onEvents, signal } = {}) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(connectionLost());
        if (signal?.aborted) return reject(stopped());
        lastId += 1;
        const id = lastId;
        const settle = () => {
          pending.delete(id);
          signal?.removeEventListener('abort', stop);
        };
        const fail = (error: unknown) => {
          settle();
          reject(error);
        };
        const stop = () => {
          fail(stopped());
          send({ do: 'stop', id });
        };
        pending.set(id, {
          onEvents,
          fail,
          answer(answer) {
            settle();
            resolve(answer as AnswerOf<typeof name>);
          },
        });
        signal?.addEventListener('abort', stop);
        send({ do: 'ask', id, name, input: withoutUndefined(input) });
      }),
    onClose: (listener) => port.onClose(listener),
    close: () => port.close(),
  };
}

/** Drops undefined properties, as JSON does, whatever the port is. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutUndefined(field)]));
}

function connectionLost(): DrayError {
  return new DrayError('unreachable', 'The engine stopped. Dray restarts it; try again.', {
    retry: 'retry',
  });
}

function stopped(): DrayError {
  return new DrayError('aborted', 'Stopped on request.');
}
