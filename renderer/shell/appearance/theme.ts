/** Sets `data-theme` of the page: the user's choice, or the system's theme. */
import type { Settings } from '../../../engine/api/host/settings.ts';

type Theme = Settings['theme'];

/**
 * Saved beside the engine's settings, so that the first paint has the right colours before the engine
 * answers.
 */
const KEY = 'dray.theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme = 'system';

export function startTheme(): void {
  const kept = localStorage.getItem(KEY);
  chosen = kept === 'light' || kept === 'dark' ? kept : 'system';
  systemIsDark.addEventListener('change', drawTheme);
  drawTheme();
}

export function applyTheme(theme: Theme): void {
  chosen = theme;
  localStorage.setItem(KEY, theme);
  drawTheme();
}

function drawTheme(): void {
  const isDark = chosen === 'dark' || (chosen === 'system' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}
