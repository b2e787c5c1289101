/** Lists the places that may have repositories: the remotes of known workspaces and the user's own. */
import { homedir } from 'node:os';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { readUserRemotes } from '../../jobs/session/user-remotes.ts';
import { formatRemoteUrl, parseRemoteUrl, type RemoteUrl } from '../../remotes/remote-url.ts';
import type { WindowFile } from '../user-files/window-file.ts';
import { readWorkspaceCard } from '../workspace-card.ts';

/** Whose workspaces and remotes they are. */
export interface PlacesHost {
  readonly environment: JobContext['environment'];
  readonly windowFile: Pick<WindowFile, 'read'>;
}

export interface KnownPlace {
  /** The normal form of the URL. */
  readonly id: string;
  readonly url: RemoteUrl;
  readonly knownAs: readonly { readonly name: string; readonly of: string }[];
  /** A workspace says that it is encrypted. */
  readonly isEncrypted: boolean;
  /** The branches of the workspaces, which are tried when there is no `main`. */
  readonly branches: readonly string[];
  /** The URLs under which the usage file records requests. */
  readonly billedAs: readonly string[];
}

interface FoundPlace {
  readonly name: string;
  /** `user`, or a workspace's folder. */
  readonly of: string;
  readonly text: string;
  readonly branch?: string | undefined;
  readonly isEncrypted?: boolean | undefined;
}

/** By id. Skips URLs that cannot be parsed, which the Remotes screen shows. */
export function findKnownPlaces(host: PlacesHost): ReadonlyMap<string, KnownPlace> {
  const places = new Map<string, KnownPlace>();
  for (const { branch, isEncrypted = false, name, of, text } of foundPlaces(host)) {
    const url = parsed(text, of);
    if (!url) continue;
    const id = formatRemoteUrl(url);
    const known = places.get(id);
    places.set(id, {
      id,
      url,
      knownAs: [...(known?.knownAs ?? []), { name, of }],
      isEncrypted: isEncrypted || (known?.isEncrypted ?? false),
      branches: [...(known?.branches ?? []), ...(branch === undefined ? [] : [branch])],
      billedAs: [...(known?.billedAs ?? []), text],
    });
  }
  return places;
}

function* foundPlaces(host: PlacesHost): Generator<FoundPlace> {
  for (const root of host.windowFile.read().workspaces) {
    const { branch, isEncrypted, name, remotes } = readWorkspaceCard(root, host);
    const remote = remotes.find(({ isDefault }) => isDefault);
    if (remote) yield { name, of: root, text: remote.url, branch, isEncrypted };
  }
  for (const [name, { url }] of Object.entries(readUserRemotes(host))) yield { name, of: 'user', text: url };
}

function parsed(text: string, of: string): RemoteUrl | undefined {
  try {
    return of === 'user' ? parseRemoteUrl(text, homedir(), { from: 'user' }) : parseRemoteUrl(text, of);
  } catch {
    return undefined;
  }
}
