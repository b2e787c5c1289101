/**
 * The window's client of the engine. It reconnects whenever the connection is lost.
 *
 * A request in flight when the connection is lost fails as `unreachable`. This module never repeats it: a
 * request that changes something may have arrived. The caller decides.
 */
import { DrayError } from '../../engine/api/error.ts';
import type { AnswerOf, HostRequestName, InputOf } from '../../engine/api/host.ts';
import { type AskOptions, connectHost, type HostClient } from '../../engine/api/window/host-client.ts';
import type { HostPort } from '../../engine/api/window/host-port.ts';

/** `refused`: an engine answers, but it does not accept this window's key. */
export type HostState = 'connecting' | 'open' | 'away' | 'refused';

export interface ReconnectingHost {
  readonly ask: <N extends HostRequestName>(
    name: N,
    input: InputOf<N>,
    options?: AskOptions,
  ) => Promise<AnswerOf<N>>;
  readonly state: () => HostState;
  /** @returns A function that removes the listener. */
  readonly onState: (listener: () => void) => () => void;
  /** Reconnects now instead of after the pause. */
  readonly retry: () => void;
}

export interface OpeningPort {
  readonly port: HostPort;
  /**
   * Resolves when the engine answers. Rejects when it never did, with `accessDenied` if it refused this
   * window.
   */
  readonly opened: Promise<void>;
}

const PAUSES_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000];

/** @param openPort Called again after each loss. Rejects when it cannot get a port. */
export function createReconnectingHost(openPort: () => Promise<OpeningPort>): ReconnectingHost {
  const listeners = new Set<() => void>();
  let state: HostState = 'connecting';
  let client: Promise<HostClient>;
  let losses = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Events of older ports are ignored. */
  let newest: HostPort | undefined;
  let isAwaited = false;

  const become = (next: HostState) => {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener();
  };
  const lose = () => {
    // After a refusal, only a failed attempt to open a port shows that the engine is away.
    if (state !== 'refused') become('away');
    clearTimeout(timer);
    timer = setTimeout(open, PAUSES_MS[Math.min(losses, PAUSES_MS.length - 1)]);
    losses += 1;
  };
  const open = () => {
    clearTimeout(timer);
    isAwaited = true;
    client = openPort().then(({ port, opened }) => {
      isAwaited = false;
      newest = port;
      const next = connectHost(port);
      next.onClose(() => {
        if (newest === port) lose();
      });
      opened.then(
        () => {
          if (newest !== port) return;
          losses = 0;
          become('open');
        },
        (error: unknown) => {
          if (newest === port && state !== 'open')
            become(error instanceof DrayError && error.code === 'accessDenied' ? 'refused' : 'away');
        },
      );
      return next;
    });
    client.catch(() => {
      isAwaited = false;
      lose();
    });
  };
  open();

  return {
    ask: async (name, input, options) => {
      const current = await client.catch(() => {
        const message = 'The engine cannot be reached. Dray keeps trying to reach it.';
        throw new DrayError('unreachable', message, { retry: 'retry' });
      });
      return current.ask(name, input, options);
    },
    state: () => state,
    onState: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    retry: () => {
      // A pending `openPort` settles as soon as it can. A second call would yield the same port twice.
      if ((state !== 'away' && state !== 'refused') || isAwaited) return;
      losses = 0;
      const before = newest;
      newest = undefined;
      before?.close();
      open();
    },
  };
}
