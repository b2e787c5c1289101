/**
 * The engine as the window sees it: a line to it that may go away and come back.
 *
 * An ask that was under way when the line went away fails as `unreachable`; nobody sends it again but who
 * asked, since a request that changes something may have arrived.
 */
import { DrayError } from '../../engine/api/error.ts';
import type { AnswerOf, HostRequestName, InputOf } from '../../engine/api/host.ts';
import { type AskOptions, connectHost, type HostClient } from '../../engine/api/host-client.ts';
import type { HostPort } from '../../engine/api/host-port.ts';

/** `refused`: another engine is there, which does not know this window. */
export type LineState = 'connecting' | 'open' | 'away' | 'refused';

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

export interface Line {
  readonly port: HostPort;
  /**
   * Resolves when the other side is there. Rejects where it never was: as `accessDenied` when it refused this
   * window.
   */
  readonly opened: Promise<void>;
}

const PAUSES_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000];

/** @param openLine Called again after each loss. Rejects when no line can be had. */
export function connect(openLine: () => Promise<Line>): HostConnection {
  const listeners = new Set<() => void>();
  let state: LineState = 'connecting';
  let client: Promise<HostClient>;
  let losses = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The newest line; those before it are nobody's. */
  let newest: HostPort | undefined;
  let isAwaited = false;

  const become = (next: LineState) => {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener();
  };
  const lose = () => {
    // One that refused is away only once it is known to be.
    if (state !== 'refused') become('away');
    clearTimeout(timer);
    timer = setTimeout(open, PAUSES_MS[Math.min(losses, PAUSES_MS.length - 1)]);
    losses += 1;
  };
  const open = () => {
    clearTimeout(timer);
    isAwaited = true;
    client = openLine().then(({ port, opened }) => {
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
      const asked = await client.catch(() => {
        throw new DrayError('unreachable', 'The engine cannot be reached. It is looked for again.', {
          retry: 'retry',
        });
      });
      return asked.ask(name, input, options);
    },
    state: () => state,
    onState: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    retry: () => {
      // A line that is still awaited comes as soon as it can: a second one would be the same port twice.
      if ((state !== 'away' && state !== 'refused') || isAwaited) return;
      losses = 0;
      const before = newest;
      newest = undefined;
      before?.close();
      open();
    },
  };
}
