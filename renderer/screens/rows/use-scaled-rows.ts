/**
 * The visible rows of a list that may be higher than a browser allows. All rows have the same height, so
 * nothing is kept for rows that are out of sight.
 */
import { type RefObject, useLayoutEffect, useReducer, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
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
  /** The indexes of the rows to draw: the visible ones and some around them. */
  readonly items: readonly number[];
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

export function useScaledRows(
  viewport: RefObject<HTMLDivElement | null>,
  { count, headPx = 0, rowPx }: RowSizes,
): ScaledRows {
  const [scroll] = useState<ScaledScroll>(() => createScaledScroll());
  const [, redraw] = useReducer((draws: number) => draws + 1, 0);
  const viewPx = useViewport(viewport, scroll, () => {
    const { from, shiftPx, to } = drawn.current;
    const now = viewOf();
    return now.from !== from || now.to !== to || now.shiftPx !== shiftPx ? redraw : undefined;
  });
  scroll.resize({ contentPx: count * rowPx, viewportPx: Math.max(0, viewPx - headPx) });
  const viewOf = () => {
    // A render may come before the news of a scroll, and would draw the rows where they were before.
    const offsetPx = viewport.current ? scroll.scrolled(viewport.current.scrollTop) : scroll.offsetPx();
    const shiftPx = (viewport.current?.scrollTop ?? 0) - offsetPx;
    if (viewPx === 0) return { from: 0, to: 0, shiftPx };
    const from = Math.max(0, Math.floor(offsetPx / rowPx) - OVERSCAN_ROWS);
    const to = Math.min(count, Math.ceil((offsetPx + viewPx) / rowPx) + OVERSCAN_ROWS);
    return { from, to, shiftPx };
  };
  const view = viewOf();
  const drawn = useRef(view);
  drawn.current = view;
  const showRow = (index: number) => {
    const element = viewport.current;
    if (!element) return;
    const top = index * rowPx;
    const from = scroll.offsetPx();
    const to = top < from ? top : Math.max(from, top + rowPx - (element.clientHeight - headPx));
    if (to === from) return;
    element.scrollTop = scroll.moveTo(to);
    redraw();
  };
  const { from, shiftPx, to } = view;
  const anchor = from - (from % ANCHOR_ROWS);
  return {
    items: Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at),
    heightPx: scroll.heightPx(),
    anchor,
    anchorPx: anchor * rowPx + shiftPx,
    showRow,
    pageRows: () => Math.max(1, Math.floor((viewPx || rowPx) / rowPx) - 1),
  };
}

/**
 * Follows the height and the scrolling of the element. Returns the height: 0 until there is an element.
 * @param changed What to call if other rows are visible now.
 */
function useViewport(
  viewport: RefObject<HTMLDivElement | null>,
  scroll: ScaledScroll,
  changed: () => (() => void) | undefined,
): number {
  const [viewPx, setViewPx] = useState(0);
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const latest = useRef(changed);
  latest.current = changed;
  // After each rendering, since it may have another element.
  useLayoutEffect(() => setElement(viewport.current));
  useLayoutEffect(() => {
    if (!element) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      const px = scroll.settle();
      if (Math.abs(element.scrollTop - px) >= 1) element.scrollTop = px;
    };
    const onScroll = () => {
      scroll.scrolled(element.scrollTop);
      if (scroll.isAtEnd()) settle();
      const redraw = latest.current();
      // In this frame, or it would show rows that are gone.
      if (redraw) flushSync(redraw);
      clearTimeout(timer);
      timer = setTimeout(() => {
        // The element may have moved since, with its event still to come.
        scroll.scrolled(element.scrollTop);
        settle();
        latest.current()?.();
      }, REST_MS);
    };
    const measure = () => setViewPx(element.clientHeight);
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      sizes.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [element, scroll]);
  return viewPx;
}
