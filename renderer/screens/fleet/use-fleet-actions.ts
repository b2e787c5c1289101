/** The actions of a job's buttons. */
import { useState } from 'react';
import type { FleetAction, OfFleetJob } from '../../../engine/api/host/fleet.ts';
import { useHost } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';

const FAILED: Readonly<Record<FleetAction, string>> = {
  pause: 'was not paused',
  resume: 'was not resumed',
  cancel: 'was not cancelled',
  retryFailed: 'does not try its failed files again',
};

export interface FleetActions {
  /** The action under way. */
  readonly busy: FleetAction | undefined;
  readonly change: (action: FleetAction) => Promise<void>;
}

/** Actions on a job. Their results appear through the job's watch. */
export function useFleetActions({ job, server }: OfFleetJob): FleetActions {
  const host = useHost();
  const [busy, setBusy] = useState<FleetAction>();
  const change = async (action: FleetAction): Promise<void> => {
    setBusy(action);
    try {
      const { retried } = await host.ask('fleet.change', { server, job, action });
      if (retried === 'later')
        showToast({ tone: 'info', title: `${job} tries its failed files again at its end` });
      if (retried === 'nothing') showToast({ tone: 'info', title: `No file of ${job} has failed` });
    } catch (error) {
      showFailure(`${job} ${FAILED[action]}`, error);
    } finally {
      setBusy(undefined);
    }
  };
  return { busy, change };
}
