/** An engine that says what a test wants, over the same ports, and crashes on request. */
import { DrayError } from '../../engine/api/error.ts';
import type { SavedJobList } from '../../engine/api/host/saved.ts';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import type { ClientMessage, HostMessage } from '../../engine/api/host.ts';
import type { HostPort } from '../../engine/api/window/host-port.ts';
import type { OpenHost, OpenHostOptions } from '../../engine/host/open-host.ts';

type Answers = Readonly<Record<string, (input: unknown) => unknown>>;

export interface FakeEngine {
  readonly openHost: (options: OpenHostOptions) => OpenHost;
  /** All requests of all threads, in order, but those for the saved jobs. */
  readonly asked: { readonly name: string; readonly input: unknown }[];
  /** One per thread that `openHost` opened. */
  readonly environments: OpenHostOptions['environment'][];
  /** The options that the last thread was started with. */
  readonly options: () => OpenHostOptions | undefined;
  readonly emitJobs: (list: SavedJobList) => void;
  readonly counts: { open: number; closed: number };
  readonly emitTransfers: (transfers: readonly Transfer[]) => void;
  readonly crash: (isGivenUp?: boolean) => void;
}

export const NO_JOBS: SavedJobList = { jobs: [], problems: [], startedBy: 'here' };

export function createFakeEngine(answers: Answers = {}): FakeEngine {
  const asked: FakeEngine['asked'] = [];
  const environments: OpenHostOptions['environment'][] = [];
  const counts = { open: 0, closed: 0 };
  const watchers = new Map<HostPort, number>();
  const jobWatchers = new Map<HostPort, number>();
  let last: OpenHostOptions | undefined;
  let ends: (() => void)[] = [];
  let isGivenUp = false;
  let onCrash: OpenHostOptions['onCrash'];

  function serve(port: HostPort): void {
    const say = (message: HostMessage) => port.post(message);
    port.onClose(() => {
      watchers.delete(port);
      jobWatchers.delete(port);
    });
    port.onMessage((received) => {
      const message = received as ClientMessage;
      if (message.do === 'stop') return;
      const { id, name, input } = message;
      if (name === 'saved.watch') {
        jobWatchers.set(port, id);
        say({ is: 'events', id, events: [{ type: 'savedJobs', list: NO_JOBS }] });
        return;
      }
      asked.push({ name, input });
      if (name === 'transfers.watch') {
        watchers.set(port, id);
        return;
      }
      try {
        say({ is: 'answer', id, answer: answers[name]?.(input) ?? {} });
      } catch (error) {
        const { code, message: text } = error as DrayError;
        say({ is: 'failed', id, error: { code, message: text } as never });
      }
    });
  }

  return {
    asked,
    environments,
    counts,
    openHost(options) {
      environments.push(options.environment);
      last = options;
      onCrash = options.onCrash;
      isGivenUp = false;
      counts.open += 1;
      return {
        openPort() {
          if (isGivenUp)
            throw new DrayError('internal', 'The engine stopped too often and will not restart.');
          const [near, far] = portPair();
          ends.push(far.close);
          serve(far);
          return near;
        },
        openMessagePort: () => {
          throw new Error('The desktop app asks for ports of its own thread.');
        },
        async setEnvironment(environment) {
          environments.push(environment);
        },
        readEnvironment: async () => options.environment,
        async close() {
          counts.closed += 1;
        },
      };
    },
    emitTransfers(transfers) {
      for (const [port, id] of watchers)
        port.post({ is: 'events', id, events: [{ type: 'transfers', transfers }] } satisfies HostMessage);
    },
    options: () => last,
    emitJobs(list) {
      for (const [port, id] of jobWatchers)
        port.post({ is: 'events', id, events: [{ type: 'savedJobs', list }] } satisfies HostMessage);
    },
    crash(isLast = false) {
      isGivenUp = isLast;
      const closed = ends;
      ends = [];
      for (const end of closed) end();
      onCrash?.(new DrayError('internal', 'The engine stopped: out of memory.'), isLast);
    },
  };
}

/** In order, later, and nothing after the close. */
function portPair(): readonly [HostPort, HostPort] {
  let isOpen = true;
  const sides = [0, 1].map(() => ({
    hear: undefined as ((message: unknown) => void) | undefined,
    early: [] as unknown[],
    closers: [] as (() => void)[],
  }));
  const make = (own: number): HostPort => ({
    post(message) {
      const other = sides[1 - own]!;
      const copy = structuredClone(message);
      if (isOpen) setImmediate(() => (other.hear ? isOpen && other.hear(copy) : other.early.push(copy)));
    },
    onMessage(listener) {
      sides[own]!.hear = listener;
      for (const message of sides[own]!.early.splice(0)) listener(message);
    },
    onClose: (listener) => void sides[own]!.closers.push(listener),
    close() {
      if (!isOpen) return;
      isOpen = false;
      for (const { closers } of sides) for (const onClose of closers) setImmediate(onClose);
    },
  });
  return [make(0), make(1)];
}

export function transfer(fields: Partial<Transfer> & Pick<Transfer, 'id' | 'state'>): Transfer {
  return {
    order: { kind: 'push', root: '/data' },
    title: `Push of ${fields.id}`,
    filesDone: 0,
    bytesDone: 0,
    bytesPerSecond: 0,
    warnings: [],
    failed: 0,
    ...fields,
  };
}

/** Resolves once `isThere` holds; the test's own timeout is the limit. */
export async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setImmediate(resolve));
}
