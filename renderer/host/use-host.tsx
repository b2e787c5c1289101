/** How screens ask the engine. */
import {
  keepPreviousData,
  QueryClient,
  QueryClientProvider,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import { DrayError } from '../../engine/api/error.ts';
import type { AnswerOf, HostRequestName, InputOf, Transfer } from '../../engine/api/host.ts';
import type { AskOptions } from '../../engine/api/host-client.ts';
import type { HostConnection, LineState } from './connection.ts';
import { createEndingCount } from './ending-count.ts';

const HostContext = createContext<HostConnection | undefined>(undefined);
const QueueContext = createContext<ToldQueue>({});
/** Until a queue that could not be opened is asked for again. */
const QUEUE_PAUSE_MS = 5_000;

export function HostProvider({ host, children }: { host: HostConnection; children: ReactNode }) {
  const [client] = useState(makeQueryClient);
  return (
    <HostContext value={host}>
      <QueryClientProvider client={client}>
        <RefreshOnReturn />
        <TransfersProvider>
          <RefreshAfterTransfers />
          {children}
        </TransfersProvider>
      </QueryClientProvider>
    </HostContext>
  );
}

/** For asks with events, or outside of what `useAsk` and `useDo` serve. */
export function useHost(): HostConnection {
  const host = useContext(HostContext);
  if (!host) throw new Error('useHost is called outside of HostProvider');
  return host;
}

export function useLineState(): LineState {
  const host = useHost();
  return useSyncExternalStore(host.onState, host.state);
}

export interface UseAskOptions {
  /** False: not now. */
  readonly when?: boolean;
  /** Keeps what was answered before while a new input is asked. */
  readonly keepsPrevious?: boolean;
  /** How long an answer counts as fresh; default 0, so that each screen that opens asks again. */
  readonly freshMs?: number;
  /**
   * How long an answer is held when nothing shows it any more; default five minutes, in which large ones
   * would heap up.
   */
  readonly heldMs?: number;
  /** Asks again when the window is looked at again: what other programs do shows in the answer. */
  readonly onReturn?: boolean;
}

/** An ask whose answer is shown; kept by name and input, asked again when the screen opens anew. */
export function useAsk<N extends HostRequestName>(
  name: N,
  input: InputOf<N>,
  { when = true, keepsPrevious = false, freshMs = 0, heldMs, onReturn = false }: UseAskOptions = {},
): UseQueryResult<AnswerOf<N>, DrayError> {
  const host = useHost();
  return useQuery<AnswerOf<N>, DrayError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => host.ask(name, input, { signal }),
    enabled: when,
    staleTime: freshMs,
    refetchOnWindowFocus: onReturn,
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
    ...(heldMs === undefined ? {} : { gcTime: heldMs }),
  });
}

/** An ask that changes something. `refreshes`: names whose answers are asked again after it. */
export function useDo<N extends HostRequestName>(
  name: N,
  { refreshes = [] }: { readonly refreshes?: readonly HostRequestName[] } = {},
): UseMutationResult<AnswerOf<N>, DrayError, InputOf<N>> {
  const host = useHost();
  const refresh = useRefresh();
  return useMutation<AnswerOf<N>, DrayError, InputOf<N>>({
    mutationFn: (input) => host.ask(name, input),
    onSuccess: () => refresh(...refreshes),
  });
}

/** Asks again what is shown of these names. */
export function useRefresh(): (...names: readonly HostRequestName[]) => Promise<void> {
  const client = useQueryClient();
  return useCallback(
    async (...names) => {
      await Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
    [client],
  );
}

/** The queue as it is now; undefined until the engine told it. */
export function useTransfers(): readonly Transfer[] | undefined {
  return useContext(QueueContext).transfers;
}

/** Why the engine cannot tell the queue, such as a full disk. It is asked again until it can. */
export function useQueueError(): DrayError | undefined {
  return useContext(QueueContext).error;
}

type ToldQueue =
  | { readonly transfers?: readonly Transfer[]; readonly error?: never }
  | { readonly error: DrayError; readonly transfers?: never };

function TransfersProvider({ children }: { children: ReactNode }) {
  const host = useHost();
  const state = useLineState();
  const [queue, setQueue] = useState<ToldQueue>({});
  useEffect(() => {
    if (state !== 'open') return;
    const stop = new AbortController();
    let pause: ReturnType<typeof setTimeout> | undefined;
    const onEvents: AskOptions['onEvents'] = (events) => {
      const newest = events.findLast((event) => event.type === 'transfers');
      if (newest?.type === 'transfers') setQueue({ transfers: newest.transfers });
    };
    const watch = () => {
      host.ask('transfers.watch', {}, { signal: stop.signal, onEvents }).catch((error: unknown) => {
        // When the line is back, it is another watch.
        if (!(error instanceof DrayError) || error.code === 'aborted' || error.code === 'unreachable') return;
        setQueue({ error });
        pause = setTimeout(watch, QUEUE_PAUSE_MS);
      });
    };
    watch();
    return () => {
      clearTimeout(pause);
      stop.abort();
    };
  }, [host, state]);
  return <QueueContext value={queue}>{children}</QueueContext>;
}

/** What a transfer changes, whatever its kind. */
const CHANGED_BY_TRANSFERS: readonly HostRequestName[] = [
  'home.list',
  'changes.status',
  'history.list',
  'remotes.usage',
];

/** How many of these were seen to end: it grows with each. @param isMeant Of those that have ended. */
export function useEndings(isMeant: (transfer: Transfer) => boolean = () => true): number {
  const [count] = useState(createEndingCount);
  const ended = useTransfers()?.filter(({ state }) => ENDS.has(state));
  return count(ended?.filter(isMeant));
}

const ENDS: ReadonlySet<Transfer['state']> = new Set(['done', 'failed', 'cancelled']);

/** When a transfer has ended, what it changed is asked again. */
function RefreshAfterTransfers() {
  const refresh = useRefresh();
  const endings = useEndings();
  useEffect(() => {
    if (endings > 0) void refresh(...CHANGED_BY_TRANSFERS);
  }, [endings, refresh]);
  return null;
}

/** When the engine is back, whatever is shown is asked again. */
function RefreshOnReturn() {
  const host = useHost();
  const client = useQueryClient();
  useEffect(() => {
    let wasAway = host.state() === 'away';
    return host.onState(() => {
      const state = host.state();
      if (state === 'away') wasAway = true;
      if (state === 'open' && wasAway) {
        wasAway = false;
        void client.invalidateQueries();
      }
    });
  }, [host, client]);
  return null;
}

function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // The engine is on this machine: a browser that believes itself offline changes nothing, and the engine
      // retries for itself.
      queries: { networkMode: 'always', retry: false, refetchOnWindowFocus: false },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
