/**
 * Links that the system hands to Dray. Anybody can put one on a page, so that a link does nothing but ask a person whether Dray may show
 * a thing, and starts no transfer.
 *
 *   dray://open?workspace=/absolute/folder   shows the changes of that workspace
 *   dray://open?place=s3://bucket/prefix     browses that place
 *   dray://HOST:PORT/FOLDER                  browses that peer
 *
 * `dray:` is the peers' scheme too: `open` without a port and a path is the link, and everything else is a peer, which has to name its
 * port here. What a link may name is less than what a person may: a URL's parameters choose a server (`endpoint`), an identity
 * (`profile`) or a file whose content is sent as a token (`tokenFile`), and a path of another machine makes Windows log in there.
 */
import { isAbsolute } from 'node:path';

export type DeepLink =
  | { readonly shows: 'workspace'; readonly root: string }
  | { readonly shows: 'place'; readonly place: string };

const LENGTH_MAX = 4_096;
const PLACE =
  /^(?:s3:\/\/[A-Za-z0-9][A-Za-z0-9._-]+(?:\/[^?#]*)?|dray:\/\/[A-Za-z0-9.:[\]-]+:\d{1,5}(?:\/[^?#]*)?)$/;

/** Undefined: nothing that a link may ask for. */
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

/** A second start hands its arguments on: Windows and Linux give the link as one of them. */
export function findDeepLink(argv: readonly string[]): string | undefined {
  return argv.find((argument) => /^dray:\/\//i.test(argument));
}

/** What a person is asked. The name is shown as it is; control characters, which could fake a line, were refused. */
export function describeDeepLink(link: DeepLink): { readonly message: string; readonly detail: string } {
  switch (link.shows) {
    case 'workspace':
      return {
        message: 'A link asks Dray to open a workspace.',
        detail: `${link.root}\n\nDray reads this folder to tell what changed in it. Nothing is sent anywhere.`,
      };
    case 'place':
      return {
        message: 'A link asks Dray to look into a place.',
        detail: `${link.place}\n\n${sentTo(link.place)} Open it only if you know who sent the link.`,
      };
  }
}

/** Says what leaves this machine, and to which host. */
function sentTo(place: string): string {
  const [, scheme, host] = /^([a-z0-9]+):\/\/([^/]*)/.exec(place) ?? [];
  return scheme === 'dray'
    ? `Dray connects to ${host}. It sends a token only if one is kept here for ${host}, and nothing at all before you trust that machine. No key of a store is sent.`
    : `Dray asks the store of your own settings to list the bucket ${host}, and signs with your keys. No secret key and no token of another machine is sent.`;
}

/** The screen that shows it, as the window's address has it. */
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

/** Of C0, C1, and those that turn the direction of what is written. */
function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}
