/** Sets `data-density` of the page. `design/tokens.css` derives the heights of rows from it. */
import { useSyncExternalStore } from 'react';
import type { Settings } from '../../../engine/api/host/settings.ts';

type Density = Settings['density'];

/** A copy of the engine's setting, so that the first paint has the right heights. */
const KEY = 'dray.density';
const listeners = new Set<() => void>();

export function startDensity(): void {
  drawDensity(localStorage.getItem(KEY) === 'compact' ? 'compact' : 'comfortable');
}

export function applyDensity(density: Density): void {
  localStorage.setItem(KEY, density);
  drawDensity(density);
}

function drawDensity(density: Density): void {
  document.documentElement.dataset.density = density;
  for (const listener of listeners) listener();
}

/** A height of `tokens.css` in pixels, for virtual lists. */
export function useTokenPx(name: `--${string}-height`): number {
  return useSyncExternalStore(watchDensity, () =>
    Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue(name)),
  );
}

function watchDensity(listener: () => void): () => void {
  listeners.add(listener);
  // Narrow windows have other heights.
  addEventListener('resize', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('resize', listener);
  };
}
