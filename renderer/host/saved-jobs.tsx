/** The saved jobs, as the engine last told of them. Commands change them too, so the window follows. */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import type { SavedJobList } from '../../engine/api/host/saved.ts';
import { useHost, useHostState } from './use-host.tsx';

const JobsContext = createContext<SavedJobList | undefined>(undefined);

/** Undefined until the engine has told of them. */
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
      // It ends with the connection. After a reconnect, the effect starts another watch.
      .catch(() => {});
    return () => stop.abort();
  }, [host, state]);
  return <JobsContext value={list}>{children}</JobsContext>;
}
