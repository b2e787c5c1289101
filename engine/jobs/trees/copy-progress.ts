/**
 * Progress of a copy: first of the comparison, then, from the first file that moves, of the transfers. The
 * walk continues meanwhile, so the totals are those found so far, until the walk has ended.
 */
import type { Phase } from '../../api/events.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { Clock } from '../../base/clock.ts';
import { createProgress, type NamedFile, type Progress } from '../session/progress.ts';
import type { Traffic } from '../session/traffic.ts';

export interface TreeProgress {
  /** Counts items that were compared and need nothing more. */
  compared(files: number): void;
  /** Counts a file that is going to be moved. */
  found(bytes: number): void;
  /** Counts an item that may still need a move. Call the returned function when that is decided. */
  undecided(): () => void;
  /** From now on only undecided items can add to the totals. */
  walked(): void;
  /** Adds moved files, and bytes in transit of the file at `path`. */
  add(files: number, bytes: number, path?: string): void;
  /** Counts bytes that the destination turned out to have. */
  keep(bytes: number, path: string): void;
  /** Lists a file as in transit while `work` runs. */
  during<Result>(file: NamedFile, work: () => Promise<Result>): Promise<Result>;
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
  /** Sources that may still add to the totals: the walk, and each undecided item. */
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
    compared(files) {
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
      moving?.emit();
    },
    add: (files, bytes, path) => startMoving().add(files, bytes, path),
    keep: (bytes, path) => startMoving().keep(0, bytes, path),
    during: (file, work) => startMoving().during(file, work),
    end: () => (moving ?? looking).end(),
  };
}
