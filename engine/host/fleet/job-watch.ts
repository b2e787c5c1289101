/** Watches one job of a fleet for a window: the facts from Temporal, and the progress from its workers. */
import { type ErrorRecord, toErrorRecord } from '../../api/error.ts';
import {
  FLEET_FINDINGS,
  FLEET_WORKERS_MAX,
  type FleetJobCard,
  type FleetJobView,
  type FleetProgress,
  type FleetServer,
} from '../../api/host/fleet.ts';
import type { FleetConnection, FleetLook } from '../../api/host/fleet-link.ts';
import type { Clock } from '../../base/clock.ts';
import { temporalUrl } from './fleet-servers.ts';
import { rangeTiles } from './range-tiles.ts';
import { createWorkerRates, type WorkerRates } from './worker-rates.ts';

export interface JobWatch {
  /** Shows the job at once, and again when its progress is known. */
  look(connection: FleetConnection, show: (view: FleetJobView) => void): Promise<void>;
}

export interface JobWatchOptions {
  readonly server: FleetServer;
  readonly id: string;
  readonly clock: Pick<Clock, 'nowMs'>;
}

export function createJobWatch({ clock, id, server }: JobWatchOptions): JobWatch {
  const url = temporalUrl(server, id);
  let rates = createWorkerRates();
  let progress: FleetProgress | undefined;
  let silence: ErrorRecord | undefined;
  /** The run that `progress` is about, and whether it has ended. */
  let run = '';
  let isEnded = false;
  return {
    async look(connection, show) {
      const card = await connection.describe(id);
      const { ended, started } = card;
      const next = `${started} ${ended ?? ''}`;
      // The status of an ended job does not change until its failed files are tried again.
      if (isEnded && next === run) return show(viewOf(card));
      if (!run.startsWith(started)) {
        rates = createWorkerRates();
        progress = undefined;
      }
      if (progress === undefined) show(viewOf(card));
      run = next;
      try {
        const look = await connection.status(id);
        isEnded = ended !== undefined;
        progress = progressOf(look, rates, clock.nowMs());
        silence = undefined;
        show(viewOf({ ...card, state: look.state }));
      } catch (error) {
        silence = toErrorRecord(error);
        show(viewOf(card));
      }
    },
  };

  function viewOf(card: FleetJobCard): FleetJobView {
    return { card, temporalUrl: url, ...(progress && { progress }), ...(silence && { silence }) };
  }
}

function progressOf(
  { counts, map, running, workers, ...look }: FleetLook,
  rates: WorkerRates,
  nowMs: number,
): FleetProgress {
  const { bytesDone, bytesKnown, failedParts, filesDone, filesKnown, isListed, limits, phase } = look;
  const { partsDone, partsRunning, partsWaiting, ranges, rangesDone } = look;
  return {
    ...{ bytesDone, bytesKnown, failedParts, filesDone, filesKnown, isListed, limits, phase },
    ...{ partsDone, partsRunning, partsWaiting, ranges, rangesDone },
    failed: Math.max(0, counts.failed),
    failedBy: counts.failedBy,
    findings: findingsOf(look.kind, counts),
    awaited: look.awaited.slice(0, FLEET_WORKERS_MAX),
    tiles: rangeTiles({ map, running }),
    ...rates.look(workers, nowMs),
  };
}

/** In a sync, files that only the destination has are work, not a finding. */
function findingsOf(kind: string, counts: FleetLook['counts']): FleetProgress['findings'] {
  if (kind !== 'check' && kind !== 'verify') return {};
  const found = FLEET_FINDINGS.filter((name) => counts[name] > 0);
  return Object.fromEntries(found.map((name) => [name, counts[name]]));
}
