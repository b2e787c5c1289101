/**
 * Progress of a copy: first of looking, then, from the first file that moves, of what moves. The walk goes on meanwhile, so what there is
 * to move is told as found so far, until all has been found.
 */
import type { Phase } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs.ts';
import type { Clock } from '../../base/clock.ts';
import { createProgress, type Progress } from '../session/progress.ts';
import type { Traffic } from '../session/traffic.ts';

export interface TreeProgress {
  /** Items that were looked at and need nothing more. */
  looked(files: number): void;
  /** A file that is going to be moved. */
  found(bytes: number): void;
  /** An item's fate is open, and may be a move: each call has to be followed by one of the function it gives. */
  undecided(): () => void;
  /** Nothing but what is undecided is to be found any more. */
  walked(): void;
  /** Files that were moved, and bytes on their way. */
  add(files: number, bytes: number): void;
  /** Bytes that turned out to be at the destination already. */
  keep(bytes: number): void;
  end(): void;
}

export function createTreeProgress(
  session: { readonly context: JobContext; readonly clock: Clock },
  phase: Phase,
  traffic: Traffic,
): TreeProgress {
  const looking = createProgress(session, { phase: 'query', traffic });
  let moving: Progress | undefined;
  let filesTotal = 0;
  let bytesTotal = 0;
  /** What may add to the totals: the walk, and each item whose fate is open. */
  let open = 1;
  const totals = () => ({ filesTotal, bytesTotal, ...(open > 0 ? { isCounting: true } : {}) });
  const startMoving = () => {
    moving ??= createProgress(session, { phase, totals, traffic });
    return moving;
  };
  const close = () => {
    open -= 1;
  };
  return {
    looked(files) {
      if (!moving) looking.add(files, 0);
    },
    found(bytes) {
      filesTotal += 1;
      bytesTotal += bytes;
      startMoving().add(0, 0);
    },
    undecided() {
      open += 1;
      return close;
    },
    walked() {
      close();
      moving?.tell();
    },
    add: (files, bytes) => startMoving().add(files, bytes),
    keep: (bytes) => startMoving().keep(0, bytes),
    end: () => (moving ?? looking).end(),
  };
}
