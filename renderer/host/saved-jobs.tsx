/** The newest list of saved jobs. The engine sends it again when a command changes a job. */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import type { SavedJobList } from '../../engine/api/host/saved.ts';
import { CHANGED_BY_TRANSFERS, useHost, useHostState, useRefresh } from './use-host.tsx';

const JobsContext = createContext<SavedJobList | undefined>(undefined);

/** Undefined until the first list arrives. */
export function useSavedJobs(): SavedJobList | undefined {
  return useContext(JobsContext);
}

export function SavedJobsProvider({ children }: { readonly children: ReactNode }) {
  const host = useHost();
  const state = useHostState();
  const [list, setList] = useState<SavedJobList>();
  useEffect(() => {
    if (state !== 'open') return;
    const stop = new AbortController();
    host
      .ask(
        'saved.watch',
        {},
        {
          signal: stop.signal,
          onEvents: (events) => {
            for (const event of events) if (event.type === 'savedJobs') setList(event.list);
          },
        },
      )
      // The watch ends with the connection. After a reconnect, the effect starts another one.
      .catch(() => {});
    return () => stop.abort();
  }, [host, state]);
  useRefreshAfterRuns(list);
  return <JobsContext value={list}>{children}</JobsContext>;
}

/** When a run ends, asks again for what it changed. */
function useRefreshAfterRuns(list: SavedJobList | undefined): void {
  const refresh = useRefresh();
  const ends = list?.jobs.map(({ lastEnd = '' }) => Date.parse(lastEnd)).filter(Number.isFinite) ?? [];
  const lastMs = Math.max(0, ...ends);
  useEffect(() => {
    if (lastMs > performance.timeOrigin) void refresh(...CHANGED_BY_TRANSFERS);
  }, [lastMs, refresh]);
}
