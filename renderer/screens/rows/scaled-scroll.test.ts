import { describe, expect, it } from 'vitest';
import { createScaledScroll, HEIGHT_MAX_PX } from './scaled-scroll.ts';

const VIEWPORT_PX = 600;
const ROW_PX = 32;

function scrollOf(rows: number) {
  const scroll = createScaledScroll();
  scroll.resize({ contentPx: rows * ROW_PX, viewportPx: VIEWPORT_PX });
  return scroll;
}

describe('scrolling through more rows than fit into the height of an element', () => {
  it('is plain scrolling while all fits', () => {
    const scroll = scrollOf(1_000);
    expect(scroll.heightPx()).toBe(32_000);
    expect(scroll.scrolled(12_345)).toBe(12_345);
    expect(scroll.isAtEnd()).toBe(false);
    expect(scroll.settle()).toBe(12_345);
  });

  it('moves by the pixel in small steps, and corrects the thumb at rest', () => {
    const scroll = scrollOf(1_000_000);
    expect(scroll.heightPx()).toBe(HEIGHT_MAX_PX);
    expect(scroll.scrolled(100)).toBe(100);
    expect(scroll.scrolled(200)).toBe(200);
    const element = scroll.settle();
    expect(element).toBeLessThan(200);
    // The browser reports the correction as a scroll, which moves nothing.
    expect(scroll.scrolled(element)).toBe(200);
  });

  it('reaches the last row with the thumb, and the first again', () => {
    const scroll = scrollOf(1_000_000);
    expect(scroll.scrolled(HEIGHT_MAX_PX - VIEWPORT_PX)).toBe(32_000_000 - VIEWPORT_PX);
    expect(scroll.isAtEnd()).toBe(false);
    expect(scroll.scrolled(0)).toBe(0);
    expect(scroll.isAtEnd()).toBe(false);
  });

  it('reaches both ends with small steps only', () => {
    const scroll = scrollOf(300_000);
    let element = 0;
    let steps = 0;
    const walk = (step: number, isThere: () => boolean) => {
      while (!isThere() && steps++ < 100_000) {
        element = Math.min(Math.max(0, element + step), HEIGHT_MAX_PX - VIEWPORT_PX);
        scroll.scrolled(element);
        if (scroll.isAtEnd()) element = scroll.settle();
      }
    };
    walk(1_000, () => scroll.offsetPx() === 300_000 * ROW_PX - VIEWPORT_PX);
    expect(element).toBe(HEIGHT_MAX_PX - VIEWPORT_PX);
    walk(-1_000, () => scroll.offsetPx() === 0);
    expect(element).toBe(0);
    expect(steps).toBeLessThan(20_000);
  });

  it('shows a requested row', () => {
    const scroll = scrollOf(1_000_000);
    const element = scroll.moveTo(500_000 * ROW_PX);
    expect(element).toBeCloseTo(HEIGHT_MAX_PX / 2, -4);
    expect(scroll.scrolled(element)).toBe(500_000 * ROW_PX);
  });

  it('stays inside a list that became shorter', () => {
    const scroll = scrollOf(1_000_000);
    scroll.moveTo(31_000_000);
    scroll.resize({ contentPx: 320, viewportPx: VIEWPORT_PX });
    expect(scroll.offsetPx()).toBe(0);
  });
});
