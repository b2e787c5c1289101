/** The visible rows of a list that may be higher than a browser allows. */
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { createScaledScroll, type ScaledScroll } from './scaled-scroll.ts';

const OVERSCAN_ROWS = 12;
/** Scrolling has ended after this time without an event. */
const REST_MS = 160;
/** The positions of rows are relative to a multiple of this number. */
const ANCHOR_ROWS = 1_000;

export interface RowSizes {
  readonly count: number;
  readonly rowPx: number;
  /** The height of a head that covers the top of the element. Default: 0. */
  readonly headPx?: number | undefined;
}

export interface ScaledRows {
  readonly virtualizer: Virtualizer<HTMLDivElement, Element>;
  /** The element that scrolls. */
  readonly heightPx: number;
  /**
   * Positions of rows are relative to the one that `anchor` names: positions of a million rows exceed a
   * float's precision.
   */
  readonly anchor: number;
  /** The position of that row. */
  readonly anchorPx: number;
  readonly showRow: (index: number) => void;
  /** The number of rows that Page Up and Page Down move. */
  readonly pageRows: () => number;
}

/** The virtualizer over a scroll that is scaled if the rows are higher than an element can be. */
export function useScaledRows(
  viewport: RefObject<HTMLDivElement | null>,
  { count, headPx = 0, rowPx }: RowSizes,
): ScaledRows {
  const [scroll] = useState<ScaledScroll>(() => createScaledScroll());
  const viewportPx = Math.max(0, (viewport.current?.clientHeight ?? 0) - headPx);
  scroll.resize({ contentPx: count * rowPx, viewportPx });
  const observeElementOffset = useCallback(
    (_: Virtualizer<HTMLDivElement, Element>, tell: (offset: number, isScrolling: boolean) => void) => {
      const element = viewport.current;
      if (!element) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const settle = () => {
        const px = scroll.settle();
        if (Math.abs(element.scrollTop - px) >= 1) element.scrollTop = px;
      };
      const onScroll = () => {
        scroll.scrolled(element.scrollTop);
        if (scroll.isAtEnd()) settle();
        tell(scroll.offsetPx(), true);
        clearTimeout(timer);
        timer = setTimeout(() => {
          settle();
          tell(scroll.offsetPx(), false);
        }, REST_MS);
      };
      element.addEventListener('scroll', onScroll, { passive: true });
      tell(scroll.offsetPx(), false);
      return () => {
        clearTimeout(timer);
        element.removeEventListener('scroll', onScroll);
      };
    },
    [scroll, viewport],
  );
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    observeElementOffset,
    // Moved only by `showRow`: the virtualizer would stop at the element's end.
    scrollToFn: () => {},
  });
  const measuredPx = useRef(rowPx);
  useLayoutEffect(() => {
    if (measuredPx.current === rowPx) return;
    measuredPx.current = rowPx;
    virtualizer.measure();
  }, [virtualizer, rowPx]);
  const showRow = (index: number) => {
    const element = viewport.current;
    if (!element) return;
    const top = index * rowPx;
    const from = scroll.offsetPx();
    const to = top < from ? top : Math.max(from, top + rowPx - (element.clientHeight - headPx));
    if (to !== from) element.scrollTop = scroll.moveTo(to);
  };
  const first = virtualizer.getVirtualItems()[0]?.index ?? 0;
  const anchor = first - (first % ANCHOR_ROWS);
  const shiftPx = (viewport.current?.scrollTop ?? 0) - scroll.offsetPx();
  return {
    virtualizer,
    heightPx: scroll.heightPx(),
    anchor,
    anchorPx: anchor * rowPx + shiftPx,
    showRow,
    pageRows: () => Math.max(1, Math.floor((virtualizer.scrollRect?.height ?? rowPx) / rowPx) - 1),
  };
}
