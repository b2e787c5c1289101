/**
 * Maps the name of a request to its handler. Each area is loaded at its first request, so that the engine
 * starts quickly.
 */
import type { HostRequestName } from '../../api/host.ts';
import type { HandlersOf, HostHandler } from './host-call.ts';

/** `home` of `home.list`. */
type AreaOf<N extends HostRequestName> = N extends `${infer Area}.${string}` ? Area : never;

type Areas = { readonly [A in AreaOf<HostRequestName>]: () => Promise<HandlersOf<A>> };

const AREAS: Areas = {
  home: async () => (await import('../home.ts')).HOME,
  changes: async () => (await import('../changes/changes.ts')).CHANGES,
  kept: async () => (await import('../changes/kept-files.ts')).KEPT,
  plan: async () => (await import('../plan.ts')).PLAN,
  transfers: async () => (await import('../transfers/transfers.ts')).TRANSFERS,
  history: async () => (await import('../history/history.ts')).HISTORY,
  browse: async () => (await import('../browse/browse.ts')).BROWSE,
  drags: async () => (await import('../drags/drags.ts')).DRAGS,
  keys: async () => (await import('../keys.ts')).KEYS,
  passwords: async () => (await import('../passwords.ts')).PASSWORDS,
  peers: async () => (await import('../peers.ts')).PEERS,
  repositories: async () => (await import('../repositories/repositories.ts')).REPOSITORIES,
  remotes: async () => (await import('../remotes.ts')).REMOTES,
  fleet: async () => (await import('../fleet/fleet.ts')).FLEET,
  saved: async () => (await import('../saved/saved.ts')).SAVED,
  settings: async () => (await import('../settings.ts')).SETTINGS,
  versions: async () => (await import('../versions/versions.ts')).VERSIONS,
};

/** Loads what a window needs first, while its browser still starts. The request itself reports a failure. */
export function loadFirstHandlers(): void {
  for (const area of ['home', 'settings', 'transfers'] as const) AREAS[area]().catch(() => {});
}

export async function loadHandler<N extends HostRequestName>(name: N): Promise<HostHandler<N>> {
  const area = name.slice(0, name.indexOf('.')) as AreaOf<N>;
  const handlers = (await AREAS[area]()) as unknown as Readonly<Record<N, HostHandler<N>>>;
  return handlers[name];
}
