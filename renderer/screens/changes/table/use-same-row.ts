/** Keeps the keyboard and the preview on their row when the list is reloaded or the view changes. */
import { useEffect, useRef } from 'react';
import type { AnswerOf } from '../../../../engine/api/host.ts';
import type { RowPages } from '../../rows/row-pages.ts';

type Found = AnswerOf<'changes.seek'>;

export interface SameRowOptions {
  readonly pages: RowPages<AnswerOf<'changes.rows'>>;
  /** The path of the chosen row. */
  readonly selected: string | undefined;
  readonly seek: (path: string, signal: AbortSignal) => Promise<Found>;
  /** The row as it is now; nothing of it if it is gone. */
  readonly onFound: (found: Found) => void;
}

export function useSameRow(options: SameRowOptions): void {
  const { pages, selected } = options;
  const latest = useRef(options);
  latest.current = options;
  const seen = useRef(pages);
  useEffect(() => {
    if (seen.current === pages || selected === undefined) {
      seen.current = pages;
      return;
    }
    // A row that is chosen meanwhile is one of the new rows.
    const stop = new AbortController();
    latest.current.seek(selected, stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return;
        seen.current = pages;
        latest.current.onFound(found);
      },
      () => {},
    );
    return () => stop.abort();
  }, [pages, selected]);
}
