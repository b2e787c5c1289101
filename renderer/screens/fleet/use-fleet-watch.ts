/** The news of a Temporal server while the screen is open and its page is visible. */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { ErrorRecord } from '../../../engine/api/error.ts';
import type { FleetJobCard, FleetJobView } from '../../../engine/api/host/fleet.ts';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { useHost, useHostState } from '../../host/use-host.tsx';

export interface FleetWatch {
  readonly jobs?: readonly FleetJobCard[];
  readonly job?: FleetJobView;
  /** Temporal does not answer now. The shown state is older. */
  readonly away?: ErrorRecord;
  /** The watch has ended. */
  readonly failure?: Failed;
  /** Looks again at once, also after a failure. */
  readonly again: () => void;
}

type Known = Omit<FleetWatch, 'again'> & { readonly of: string };

export function useFleetWatch(server: string, job: string | undefined): FleetWatch {
  const host = useHost();
  const state = useHostState();
  const isVisible = useSyncExternalStore(watchVisibility, readVisibility);
  const of = JSON.stringify([server, job]);
  const [known, setKnown] = useState<Known>({ of });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round watches anew
  useEffect(() => {
    if (state !== 'open' || !isVisible) return;
    const stop = new AbortController();
    host
      .ask(
        'fleet.watch',
        { server, ...(job === undefined ? {} : { job }) },
        {
          signal: stop.signal,
          onEvents: (events) => {
            for (const event of events) {
              if (event.type !== 'fleet') continue;
              const { view } = event;
              if (!('error' in view)) setKnown({ of, ...view });
              else setKnown((before) => ({ ...(before.of === of ? before : { of }), away: view.error }));
            }
          },
        },
      )
      .catch((error: unknown) => {
        if (!stop.signal.aborted && host.state() === 'open') setKnown({ of, failure: toFailed(error) });
      });
    return () => stop.abort();
  }, [host, state, isVisible, server, job, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  return { ...(known.of === of ? known : {}), again };
}

function watchVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}

function readVisibility(): boolean {
  return document.visibilityState === 'visible';
}
