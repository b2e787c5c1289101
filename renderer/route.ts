/**
 * The current place in the window: a screen and its parameters, kept in the address's hash so that back,
 * forward and reload work.
 */
import { useSyncExternalStore } from 'react';

export const SCREEN_NAMES = [
  'home',
  'changes',
  'plan',
  'transfers',
  'jobs',
  'fleet',
  'history',
  'browse',
  'repositories',
  'remotes',
  'settings',
] as const;

export type ScreenName = (typeof SCREEN_NAMES)[number];

export interface Route {
  readonly screen: ScreenName;
  readonly given: Readonly<Record<string, string>>;
}

/** `#/changes?direction=pull`. An invalid hash means Home. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const screen = SCREEN_NAMES.find((name) => name === path);
  return { screen: screen ?? 'home', given: Object.fromEntries(new URLSearchParams(search)) };
}

export function hrefOf(screen: ScreenName, given: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(given).toString();
  return `#/${screen}${search === '' ? '' : `?${search}`}`;
}

export function goTo(screen: ScreenName, given?: Readonly<Record<string, string>>): void {
  location.hash = hrefOf(screen, given);
}

/** The same without a new step for the browser's Back. */
export function replacePlace(screen: ScreenName, given?: Readonly<Record<string, string>>): void {
  location.replace(hrefOf(screen, given));
}

/**
 * Leads from a place of this screen to the one before it, or to the screen itself if there was none. The
 * browser's Back could leave the window.
 */
export function leavePlace(screen: ScreenName): void {
  const before = placeBefore;
  if (before && before.screen !== screen) replacePlace(before.screen, before.given);
  else replacePlace(screen);
}

export function useRoute(): Route {
  return useSyncExternalStore(watchHash, currentRoute);
}

let lastHash: string | undefined;
let lastRoute: Route = { screen: 'home', given: {} };
let placeBefore: Route | undefined;

/** The same object for the same hash, as useSyncExternalStore requires. */
function currentRoute(): Route {
  if (location.hash !== lastHash) {
    placeBefore = lastHash === undefined ? undefined : lastRoute;
    lastHash = location.hash;
    lastRoute = parseRoute(lastHash);
  }
  return lastRoute;
}

function watchHash(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
