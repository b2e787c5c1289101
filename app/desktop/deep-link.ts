/**
 * Reads the links that the system passes to Dray. Any web page can contain one. So Dray first asks the user
 * whether to show the target, and a link never starts a transfer.
 *
 *   dray://open?workspace=/absolute/folder   shows the changes of that workspace
 *   dray://open?place=s3://bucket/prefix     browses that place
 *   dray://HOST:PORT/FOLDER                  browses that peer
 *
 * `dray:` is the peers' scheme too: `open` without a port and a path is a link, and everything else is a
 * peer, whose port is required here. A link may name less than a user may. URL parameters are refused: they
 * could choose a server (`endpoint`), an identity (`profile`) or a file whose content is sent as a token
 * (`tokenFile`). So are network paths, because Windows would log in to that machine.
 */
import { isAbsolute } from 'node:path';

export type DeepLink =
  | { readonly shows: 'workspace'; readonly root: string }
  | { readonly shows: 'place'; readonly place: string };

const LENGTH_MAX = 4_096;
const PLACE =
  /^(?:s3:\/\/[A-Za-z0-9][A-Za-z0-9._-]+(?:\/[^?#]*)?|dray:\/\/[A-Za-z0-9.:[\]-]+:\d{1,5}(?:\/[^?#]*)?)$/;

/** Undefined if a link may not ask for this. */
export function parseDeepLink(text: string): DeepLink | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'dray:' || url.username !== '' || url.password !== '')
    return undefined;
  if (url.port !== '') return asPlace(text);
  if (url.hostname !== 'open' || (url.pathname !== '' && url.pathname !== '/') || url.hash !== '')
    return undefined;
  const names = [...url.searchParams.keys()];
  if (names.length !== 1) return undefined;
  const workspace = url.searchParams.get('workspace');
  if (workspace !== null) return asWorkspace(workspace);
  const place = url.searchParams.get('place');
  return place === null ? undefined : asPlace(place);
}

/** A second start passes its arguments on. Windows and Linux give the link as one of them. */
export function findDeepLink(argv: readonly string[]): string | undefined {
  return argv.find((argument) => /^dray:\/\//i.test(argument));
}

/**
 * The question for the user. The name is shown as it is: control characters, which could fake a line, were
 * refused before.
 */
export function describeDeepLink(link: DeepLink): { readonly message: string; readonly detail: string } {
  switch (link.shows) {
    case 'workspace':
      return {
        message: 'A link asks Dray to open a workspace.',
        detail: `${link.root}\n\nDray reads this folder to find changes. It sends nothing anywhere.`,
      };
    case 'place':
      return {
        message: 'A link asks Dray to browse a place.',
        detail: `${link.place}\n\n${sentTo(link.place)} Open it only if you know who sent the link.`,
      };
  }
}

/** Says what leaves this machine, and to which host. */
function sentTo(place: string): string {
  const [, scheme, host] = /^([a-z0-9]+):\/\/([^/]*)/.exec(place) ?? [];
  return scheme === 'dray'
    ? `Dray connects to ${host}. It sends a token only if one is saved here for ${host}, and nothing at all before you trust that machine. It sends no key of a store.`
    : `Dray asks the store in your own settings to list the bucket ${host}, and signs the request with your keys. It sends no secret key and no token.`;
}

/** The screen that shows it, as the window's address. */
export function hashOf(link: DeepLink): string {
  const given = new URLSearchParams(
    link.shows === 'workspace' ? { workspace: link.root } : { place: link.place },
  );
  return `#/${link.shows === 'workspace' ? 'changes' : 'browse'}?${given}`;
}

function asWorkspace(root: string): DeepLink | undefined {
  if (!isAbsolute(root) || /^[\\/]{2}/.test(root) || hasControls(root)) return undefined;
  return { shows: 'workspace', root };
}

function asPlace(place: string): DeepLink | undefined {
  return PLACE.test(place) && !hasControls(place) ? { shows: 'place', place } : undefined;
}

/** C0, C1, and characters that change the direction of text. */
function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}
