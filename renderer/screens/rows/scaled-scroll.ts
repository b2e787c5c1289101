/**
 * Scrolls through lists that are higher than a browser's limit: Chromium stops at some 33 million pixels,
 * Firefox at some 17 million. The element is at most `HEIGHT_MAX_PX` high, and its offset is mapped to one in
 * the whole list. Small steps (wheel, keys) move the list by as many pixels as the element; a jump (a dragged
 * thumb) moves it in proportion. The two offsets drift apart, so the element's offset is corrected when
 * scrolling ends, or at an end of the element.
 */

export const HEIGHT_MAX_PX = 8_000_000;

export interface ScaledScroll {
  /** Height of the element. */
  readonly heightPx: () => number;
  /** The sizes changed. */
  readonly resize: (sizes: { readonly contentPx: number; readonly viewportPx: number }) => void;
  /** The element was scrolled. Returns the offset in the list. */
  readonly scrolled: (elementPx: number) => number;
  readonly offsetPx: () => number;
  /** The offset that the element must take when scrolling rests or `isAtEnd`. */
  readonly settle: () => number;
  /** The element cannot scroll further in a direction in which the list can. */
  readonly isAtEnd: () => boolean;
  /** Sets the offset in the list. Returns the element's offset. */
  readonly moveTo: (offsetPx: number) => number;
}

export function createScaledScroll(heightMaxPx = HEIGHT_MAX_PX): ScaledScroll {
  let contentPx = 0;
  let viewportPx = 0;
  let elementPx = 0;
  let offsetPx = 0;

  const heightPx = () => Math.min(contentPx, heightMaxPx);
  const wayPx = () => Math.max(0, contentPx - viewportPx);
  const elementWayPx = () => Math.max(0, heightPx() - viewportPx);
  const isScaled = () => contentPx > heightMaxPx;
  const clamp = (px: number) => Math.min(Math.max(0, px), wayPx());
  const settle = () => {
    elementPx = isScaled() ? Math.round((offsetPx / wayPx()) * elementWayPx()) : offsetPx;
    return elementPx;
  };

  return {
    heightPx,
    resize: (sizes) => {
      contentPx = sizes.contentPx;
      viewportPx = sizes.viewportPx;
      offsetPx = clamp(offsetPx);
    },
    scrolled: (px) => {
      const step = px - elementPx;
      elementPx = px;
      if (!isScaled()) offsetPx = clamp(px);
      else if (Math.abs(step) <= 2 * viewportPx) offsetPx = clamp(offsetPx + step);
      else offsetPx = clamp((px / elementWayPx()) * wayPx());
      return offsetPx;
    },
    offsetPx: () => offsetPx,
    settle,
    isAtEnd: () => {
      if (!isScaled()) return false;
      const near = 4 * viewportPx;
      const isAtTop = elementPx < near && offsetPx > elementPx;
      const isAtBottom = elementWayPx() - elementPx < near && wayPx() - offsetPx > elementWayPx() - elementPx;
      return isAtTop || isAtBottom;
    },
    moveTo: (px) => {
      offsetPx = clamp(px);
      return settle();
    },
  };
}
