/** Hooks through which screens send requests to the engine. */
import {
  keepPreviousData,
  type Query,
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
import type { Transfer } from '../../engine/api/host/transfers.ts';
import type { AnswerOf, HostRequestName, InputOf } from '../../engine/api/host.ts';
import type { AskOptions } from '../../engine/api/window/host-client.ts';
import { createEndingCount } from './ending-count.ts';
import type { HostState, ReconnectingHost } from './reconnecting-host.ts';

const HostContext = createContext<ReconnectingHost | undefined>(undefined);
const QueueContext = createContext<KnownQueue>({});
/** How long to wait before asking again for a queue that could not be opened. */
const QUEUE_PAUSE_MS = 5_000;

export function HostProvider({ host, children }: { host: ReconnectingHost; children: ReactNode }) {
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

/** For requests with events, and for those that neither `useAsk` nor `useDo` can send. */
export function useHost(): ReconnectingHost {
  const host = useContext(HostContext);
  if (!host) throw new Error('useHost is called outside of HostProvider');
  return host;
}

export function useHostState(): HostState {
  const host = useHost();
  return useSyncExternalStore(host.onState, host.state);
}

export interface UseAskOptions {
  /** False sends no request. */
  readonly when?: boolean;
  /** Keeps the previous answer until the one for a new input arrives. */
  readonly keepsPrevious?: boolean;
  /** How long an answer counts as fresh. Default 0: each screen that opens asks again. */
  readonly freshMs?: number;
  /**
   * How long to keep an answer that no screen shows. Default: five minutes. Set it lower for large answers,
   * or they pile up.
   */
  readonly heldMs?: number;
  /** Asks again when the window regains focus, since other programs may have changed the answer. */
  readonly onReturn?: boolean;
  /** The interval of repeated requests while the page is visible. */
  readonly everyMs?: number;
}

/** Reads something to show. Answers are cached by name and input; a screen that opens asks again. */
export function useAsk<N extends HostRequestName>(
  name: N,
  input: InputOf<N>,
  { when = true, keepsPrevious = false, freshMs = 0, heldMs, onReturn = false, everyMs }: UseAskOptions = {},
): UseQueryResult<AnswerOf<N>, DrayError> {
  const host = useHost();
  return useQuery<AnswerOf<N>, DrayError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => host.ask(name, input, { signal }),
    enabled: when,
    staleTime: freshMs,
    refetchOnWindowFocus: onReturn,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
    ...(heldMs === undefined ? {} : { gcTime: heldMs }),
  });
}

export interface UseDoOptions<N extends HostRequestName> {
  /** The requests to send again after a success. */
  readonly refreshes?: readonly HostRequestName[];
  /**
   * Called also when the component has left the page. Callbacks of `mutate` are not: they may close a dialog.
   */
  readonly onSuccess?: (answer: AnswerOf<N>) => void;
  readonly onError?: (error: DrayError) => void;
}

/** Changes something. */
export function useDo<N extends HostRequestName>(
  name: N,
  { refreshes = [], onSuccess, onError }: UseDoOptions<N> = {},
): UseMutationResult<AnswerOf<N>, DrayError, InputOf<N>> {
  const host = useHost();
  const refresh = useRefresh();
  return useMutation<AnswerOf<N>, DrayError, InputOf<N>>({
    mutationFn: (input) => host.ask(name, input),
    onSuccess: (answer) => {
      onSuccess?.(answer);
      return refresh(...refreshes);
    },
    onError: (error) => onError?.(error),
  });
}

/** Sends again the requests of these names whose answers are on screen. */
export function useRefresh(): (...names: readonly HostRequestName[]) => Promise<void> {
  const client = useQueryClient();
  return useCallback(
    async (...names) => {
      await Promise.all(
        names.map(async (name) => {
          const queryKey = [name];
          // A running first request is not sent again, although its answer may be older than the change.
          const begun = new Set(client.getQueryCache().findAll({ queryKey, predicate: isFirstRead }));
          await client.invalidateQueries({ queryKey });
          if (begun.size > 0)
            await client.invalidateQueries({ queryKey, predicate: (query) => begun.has(query) });
        }),
      );
    },
    [client],
  );
}

function isFirstRead({ state }: Query): boolean {
  return state.data === undefined && state.fetchStatus === 'fetching';
}

/** The queue at present. Undefined until the engine has sent it. */
export function useTransfers(): readonly Transfer[] | undefined {
  return useContext(QueueContext).transfers;
}

/** Why the engine cannot read its queue, such as a full disk. The window keeps asking until it can. */
export function useQueueError(): DrayError | undefined {
  return useContext(QueueContext).error;
}

type KnownQueue =
  | { readonly transfers?: readonly Transfer[]; readonly error?: never }
  | { readonly error: DrayError; readonly transfers?: never };

function TransfersProvider({ children }: { children: ReactNode }) {
  const host = useHost();
  const state = useHostState();
  const [queue, setQueue] = useState<KnownQueue>({});
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
        // After a reconnect, the effect starts another watch.
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

/** The answers that a transfer of any kind, or the run of a saved job, may change. */
export const CHANGED_BY_TRANSFERS: readonly HostRequestName[] = [
  'home.list',
  'home.look',
  'changes.status',
  'history.list',
  'remotes.usage',
];

/** Grows by one with each transfer that ends. @param isMeant Picks the ended transfers that count. */
export function useEndings(isMeant: (transfer: Transfer) => boolean = () => true): number {
  const [count] = useState(() => createEndingCount(performance.timeOrigin));
  const ended = useTransfers()?.filter(({ state }) => ENDS.has(state));
  return count(ended?.filter(isMeant));
}

const ENDS: ReadonlySet<Transfer['state']> = new Set(['done', 'failed', 'cancelled']);

/** When a transfer ends, asks again for what it changed. */
function RefreshAfterTransfers() {
  const refresh = useRefresh();
  const endings = useEndings();
  useEffect(() => {
    if (endings > 0) void refresh(...CHANGED_BY_TRANSFERS);
  }, [endings, refresh]);
  return null;
}

/** When the engine is back, asks again for all that is on screen. */
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
      // The engine runs on this machine, so an offline browser can still reach it. It does its own retries.
      queries: { networkMode: 'always', retry: false, refetchOnWindowFocus: false },
      // Inputs may contain a token or keys, so none is kept after its answer.
      mutations: { networkMode: 'always', retry: false, gcTime: 0 },
    },
  });
}
