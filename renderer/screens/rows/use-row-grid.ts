/** The state of a grid whose rows are in the engine: its visible rows and its active row. */
import { type RefObject, useCallback, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import type { RowAnswer, RowPages } from './row-pages.ts';
import { type ScaledRows, useScaledRows } from './use-scaled-rows.ts';

export interface RowGridState extends ScaledRows {
  readonly viewport: RefObject<HTMLDivElement | null>;
  readonly total: number | undefined;
  readonly error: unknown;
  readonly rowPx: number;
  /** The index of the active row. */
  readonly active: number;
  /**
   * Makes a row active, and calls `onArrive` with it when it is loaded.
   * @param row The row, if it is known. The drawn rows may belong to an older list.
   */
  readonly activate: (index: number, row?: unknown) => void;
  /** Changes the index of the active row without a call of `onArrive`. */
  readonly renumber: (index: number) => void;
  /** The target row of a navigation key, which is scrolled into view. Undefined for other keys. */
  readonly moveBy: (key: string) => number | undefined;
  /** The element id of a row. */
  readonly idOf: (index: number) => string;
}

export interface RowGridOptions<Answer extends RowAnswer> {
  readonly pages: RowPages<Answer>;
  readonly rowPx: number;
  /** The height of the head, if the grid has one. */
  readonly headPx?: number;
  /** Called when a row becomes the active one. Must be stable. */
  readonly onArrive: (row: Answer['rows'][number]) => void;
}

export function useRowGrid<Answer extends RowAnswer>(options: RowGridOptions<Answer>): RowGridState {
  const { headPx, onArrive, pages, rowPx } = options;
  const viewport = useRef<HTMLDivElement>(null);
  const id = useId();
  useSyncExternalStore(pages.subscribe, pages.version);
  const total = pages.total();
  const count = total ?? 0;
  const scaled = useScaledRows(viewport, { count, rowPx, headPx });
  const first = scaled.items[0] ?? 0;
  const last = scaled.items.at(-1) ?? 0;
  useEffect(() => pages.look(first, last), [pages, first, last]);
  const [chosen, setActive] = useState(0);
  const active = Math.min(chosen, Math.max(0, count - 1));
  const isAwaited = useRef(false);
  const activate = useCallback(
    (index: number, known?: unknown) => {
      setActive(index);
      const row = known ?? pages.rowAt(index);
      isAwaited.current = row === undefined;
      if (row !== undefined) onArrive(row);
    },
    [pages, onArrive],
  );
  const awaited = isAwaited.current ? pages.rowAt(active) : undefined;
  useEffect(() => {
    if (awaited === undefined) return;
    isAwaited.current = false;
    onArrive(awaited);
  }, [awaited, onArrive]);
  const moveBy = (key: string): number | undefined => {
    const page = scaled.pageRows();
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    };
    const to = moves[key];
    if (to === undefined || count === 0) return undefined;
    const index = Math.min(Math.max(0, to), count - 1);
    scaled.showRow(index);
    return index;
  };
  return {
    ...scaled,
    viewport,
    total,
    error: pages.error(),
    rowPx,
    active,
    activate,
    renumber: setActive,
    moveBy,
    idOf: (index) => `${id}${index}`,
  };
}
