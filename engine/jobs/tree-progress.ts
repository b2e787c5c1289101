/** Progress of a copy: first of looking, then, from the first file that moves, of what moves. */
import type { Phase } from '../api/events.ts';
import type { JobContext } from '../api/jobs.ts';
import type { Clock } from '../base/clock.ts';
import { createProgress, type Progress } from './progress.ts';

export interface TreeProgress {
  /** Items that were looked at and need nothing more. */
  looked(files: number): void;
  /** Files that were moved, and bytes on their way. */
  add(files: number, bytes: number): void;
  end(): void;
}

export function createTreeProgress(
  session: { readonly context: JobContext; readonly clock: Clock },
  phase: Phase,
  requestsSoFar: () => number,
): TreeProgress {
  const looking = createProgress(session, 'query', {}, requestsSoFar);
  let moving: Progress | undefined;
  return {
    looked(files) {
      if (!moving) looking.add(files, 0);
    },
    add(files, bytes) {
      moving ??= createProgress(session, phase, {}, requestsSoFar);
      moving.add(files, bytes);
    },
    end: () => (moving ?? looking).end(),
  };
}
