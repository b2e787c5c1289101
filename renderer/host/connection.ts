/**
 * The engine as the window sees it: asks with an answer, some with events before it, over a line that may go away and come back.
 *
 * An ask that was under way when the line went away fails as `unreachable`; nobody sends it again but who asked, since a request that
 * changes something may have arrived.
 */
import { DrayError, fromErrorRecord } from '../../engine/api/error.ts';
import type {
  AnswerOf,
  ClientMessage,
  HostEvent,
  HostMessage,
  HostRequestName,
  InputOf,
} from '../../engine/api/host.ts';

export type LineState = 'connecting' | 'open' | 'away';

export interface AskOptions {
  readonly signal?: AbortSignal;
  readonly onEvents?: (events: readonly HostEvent[]) => void;
}

export interface HostConnection {
  readonly ask: <N extends HostRequestName>(
    name: N,
    input: InputOf<N>,
    options?: AskOptions,
  ) => Promise<AnswerOf<N>>;
  readonly state: () => LineState;
  /** @returns What ends it. */
  readonly onState: (listener: () => void) => () => void;
  /** Tries again now, instead of after the pause. */
  readonly retry: () => void;
}

/** One end of a line: a WebSocket, a MessagePort or the fixture. */
export interface Line {
  readonly send: (message: ClientMessage) => void;
}

export interface LineEvents {
  readonly opened: () => void;
  readonly heard: (message: HostMessage) => void;
  readonly closed: () => void;
}

const PAUSES_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000];
/** A first connection that is quick says nothing of itself. */
const ASKS_MAX = 1_024;

interface Asked {
  readonly answer: (answer: unknown) => void;
  readonly fail: (error: DrayError) => void;
  readonly onEvents: ((events: readonly HostEvent[]) => void) | undefined;
  readonly message: ClientMessage;
}

/** @param openLine Opens a line and tells what comes of it; called again after each loss. */
export function connect(openLine: (events: LineEvents) => Line): HostConnection {
  const asked = new Map<number, Asked>();
  const listeners = new Set<() => void>();
  let state: LineState = 'connecting';
  let line: Line | undefined;
  let nextId = 1;
  let losses = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const become = (next: LineState) => {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener();
  };

  const open = () => {
    clearTimeout(timer);
    let isCurrent = true;
    const opening: Line = openLine({
      opened: () => {
        if (!isCurrent) return;
        losses = 0;
        line = opening;
        for (const { message } of asked.values()) opening.send(message);
        become('open');
      },
      heard: (message) => {
        if (isCurrent) hear(asked, message);
      },
      closed: () => {
        if (!isCurrent) return;
        isCurrent = false;
        const wasOpen = line !== undefined;
        line = undefined;
        if (wasOpen) failAll(asked);
        become('away');
        timer = setTimeout(open, PAUSES_MS[Math.min(losses++, PAUSES_MS.length - 1)]);
      },
    });
  };
  open();

  return {
    ask: (name, input, { signal, onEvents } = {}) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(new DrayError('aborted', 'Stopped on request.'));
        if (asked.size >= ASKS_MAX)
          return reject(new DrayError('internal', 'Too much was asked of the engine at once.'));
        const id = nextId++;
        const message: ClientMessage = { do: 'ask', id, name, input };
        const stop = () => {
          if (!asked.delete(id)) return;
          line?.send({ do: 'stop', id });
          reject(new DrayError('aborted', 'Stopped on request.'));
        };
        const settle = () => signal?.removeEventListener('abort', stop);
        signal?.addEventListener('abort', stop, { once: true });
        asked.set(id, {
          message,
          onEvents,
          answer: (answer) => {
            settle();
            resolve(answer as AnswerOf<typeof name>);
          },
          fail: (error) => {
            settle();
            reject(error);
          },
        });
        // What is asked before the first line opens waits for it.
        line?.send(message);
      }),
    state: () => state,
    onState: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    retry: () => {
      if (state !== 'away') return;
      losses = 0;
      open();
    },
  };
}

function hear(asked: Map<number, Asked>, message: HostMessage): void {
  const one = asked.get(message.id);
  // Stopped while its answer was on the way.
  if (!one) return;
  switch (message.is) {
    case 'events':
      one.onEvents?.(message.events);
      return;
    case 'answer':
      asked.delete(message.id);
      one.answer(message.answer);
      return;
    case 'failed':
      asked.delete(message.id);
      one.fail(fromErrorRecord(message.error));
  }
}

function failAll(asked: Map<number, Asked>): void {
  const lost = [...asked.values()];
  asked.clear();
  for (const { fail } of lost)
    fail(
      new DrayError('unreachable', 'The engine went away before it answered. It is looked for again.', {
        retry: 'retry',
      }),
    );
}
