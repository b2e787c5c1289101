/**
 * The place of a pane: a root (this computer, or a remote) and a folder below it. A place is the text that
 * the engine takes: an absolute path, `NAME:PATH` (every character of the path stands for itself), or a URL,
 * whose path is percent-encoded and comes before its parameters.
 */
import type { RemoteCard } from '../../../engine/api/host/remotes.ts';
import { trimEnd } from '../../../engine/api/text/trim-ends.ts';
import { formatVersionPlace } from '../../../engine/api/text/version-place.ts';

export type Root =
  /** `prefix`: `/`, or a drive such as `C:/`; `home`: the folder that it opens with. */
  | { readonly kind: 'local'; readonly label: string; readonly prefix: string; readonly home: string }
  /** `url`: undefined if a link names an unknown remote. */
  | { readonly kind: 'named'; readonly label: string; readonly name: string; readonly url?: string }
  | { readonly kind: 'url'; readonly label: string; readonly url: string }
  | VersionRoot;

/** A commit of a repository, which never changes. */
export interface VersionRoot {
  readonly kind: 'version';
  readonly label: string;
  /** A URL, or the name of a remote. */
  readonly repository: string;
  /** A branch, a tag or a commit. */
  readonly ref: string;
  /** Where its repository was opened. */
  readonly above?: Location;
}

export interface Location {
  readonly root: Root;
  /** '' or parts that each end in a slash. */
  readonly folder: string;
}

export function localLocation(path: string): Location {
  const slashed = path.replaceAll('\\', '/');
  const prefix = /^[A-Za-z]:\//.exec(slashed)?.[0] ?? '/';
  const rest = slashed.slice(prefix.length);
  const folder = rest === '' || rest.endsWith('/') ? rest : `${rest}/`;
  return { root: { kind: 'local', label: 'This computer', prefix, home: folder }, folder };
}

/** A user's remote is addressed by its name, which every folder knows; a workspace's remote by its URL. */
export function remoteRoot(card: RemoteCard): Root {
  if (card.of === 'user') return { kind: 'named', label: card.name, name: card.name, url: card.url };
  return { kind: 'url', label: card.name, url: card.url };
}

/** Distinguishes one root from another. */
export function rootKey(root: Root): string {
  return placeOf({ root, folder: '' });
}

/**
 * This computer and all remotes. Each place appears once, because workspaces share remotes. A repeated name
 * says whose it is.
 */
export function rootsOf(local: Root, cards: readonly RemoteCard[]): readonly Root[] {
  const roots = new Map([[rootKey(local), local]]);
  const labels = new Set([local.label]);
  for (const card of cards) {
    const root = remoteRoot(card);
    if (roots.has(rootKey(root))) continue;
    const whole = `${root.label} of ${card.of}`;
    const names = [root.label, `${root.label} of ${card.of.split(/[\\/]/).at(-1)}`];
    const label = names.find((name) => !labels.has(name)) ?? whole;
    labels.add(label);
    roots.set(rootKey(root), { ...root, label });
  }
  return [...roots.values()];
}

/** A remote by its name, as the engine reads it. A single letter and a colon are a drive. */
const NAMED = /^([A-Za-z0-9][A-Za-z0-9._-]+):$/;
const NAMED_VERSION = /^([A-Za-z0-9][A-Za-z0-9._-]+)@([^:@]+):$/;

/** The root of a version's place, as `placeOf` makes it. Undefined for another place. */
export function versionRoot(place: string): VersionRoot | undefined {
  const [, name, own] = NAMED_VERSION.exec(place) ?? [];
  if (name !== undefined) return versionOf(name, own!);
  const [base, query] = splitOnce(place, '?');
  const parameters = new URLSearchParams(query);
  const ref = parameters.get('ref');
  if (ref === null) return undefined;
  parameters.delete('ref');
  parameters.delete('path');
  return versionOf(parameters.size === 0 ? base : `${base}?${parameters}`, ref);
}

/** @param repository The place of a repository. */
export function versionOf(repository: string, ref: string): VersionRoot {
  const [base] = splitOnce(repository, '?');
  const name = nameOf(base.replace(/:$/, ''));
  return { kind: 'version', label: `${name}@${isHash(ref) ? ref.slice(0, 10) : ref}`, repository, ref };
}

function isHash(ref: string): boolean {
  return /^[0-9a-f]{64}$/.test(ref);
}

/** Nothing is written to such a place. */
export function isFixed({ root }: Location): boolean {
  return root.kind === 'version';
}

/** The root that a link names: a known one, or a new one. */
export function linkedRoot(roots: readonly Root[], place: string): Root {
  const version = versionRoot(place);
  if (version) return version;
  const [label = ''] = place.split('?', 1);
  const name = NAMED.exec(place)?.[1];
  const linked: Root =
    name === undefined ? { kind: 'url', label, url: place } : { kind: 'named', label: name, name };
  return roots.find((root) => rootKey(root) === rootKey(linked)) ?? linked;
}

/** @param entry An entry's path below the location, or '' for the folder itself. */
export function placeOf({ root, folder }: Location, entry = ''): string {
  const path = `${folder}${entry}`;
  if (root.kind === 'local') return `${root.prefix}${path}`;
  if (root.kind === 'named') return `${root.name}:${path}`;
  if (root.kind === 'version') return formatVersionPlace(root.repository, root.ref, path);
  const [base, parameters] = splitOnce(root.url, '?');
  // A folder that was added as a plain path stays one, without encoding.
  const isUrl = /^[a-z][a-z0-9+.-]+:\/\//i.test(base);
  const encoded = isUrl ? path.split('/').map(encodeURIComponent).join('/') : path;
  const joined = `${trimEnd(base, '/')}/${encoded}`;
  return parameters === undefined ? joined : `${joined}?${parameters}`;
}

/** The URL of a remote place, without the user's name for the remote; the path of a local one. */
export function addressOf({ root, folder }: Location, entry = ''): string {
  if (root.kind !== 'named' || root.url === undefined) return placeOf({ root, folder }, entry);
  return placeOf({ root: { kind: 'url', label: root.label, url: root.url }, folder }, entry);
}

export function parentOf(location: Location): Location | undefined {
  if (location.folder === '') return location.root.kind === 'version' ? location.root.above : undefined;
  const parts = location.folder.split('/').slice(0, -2);
  return { root: location.root, folder: parts.map((part) => `${part}/`).join('') };
}

export function below(location: Location, folder: string): Location {
  return { root: location.root, folder: `${location.folder}${folder.endsWith('/') ? folder : `${folder}/`}` };
}

/** The way from the root to here, the root first. */
export function crumbsOf(location: Location): { readonly name: string; readonly location: Location }[] {
  const { root } = location;
  const top = root.kind === 'local' ? root.prefix : root.label;
  const crumbs = [{ name: top, location: { root, folder: '' } }];
  let folder = '';
  for (const part of location.folder.split('/').slice(0, -1)) {
    folder += `${part}/`;
    crumbs.push({ name: part, location: { root: location.root, folder } });
  }
  return crumbs;
}

export function nameOf(path: string): string {
  return path.replace(/\/$/, '').split('/').at(-1) ?? path;
}

/** For people: without encoding or parameters. */
export function describeLocation({ root, folder }: Location): string {
  if (root.kind === 'local') return `${root.prefix}${folder}`;
  // A place from a link has its own address as its name.
  if (/^[a-z][a-z0-9]*:\/\/|^\//.test(root.label)) return `${trimEnd(root.label, '/')}/${folder}`;
  return `${root.label}:${folder}`;
}

export function isSameLocation(a: Location, b: Location): boolean {
  return placeOf(a) === placeOf(b);
}

/** The error in the name of a new folder; undefined if it is valid. */
export function refuseFolderName(name: string): string | undefined {
  if (name === '') return 'Give the folder a name.';
  if (name === '.' || name === '..') return `"${name}" has a special meaning. Choose another name.`;
  if (/[/\\]/.test(name)) return 'A name cannot contain a slash.';
  if (name.includes('\0')) return 'A name cannot contain a NUL character.';
  return undefined;
}

/**
 * Whether a person can type it as it looks: no line breaks, other controls, invisible marks or trailing
 * space.
 */
export function isTypable(name: string): boolean {
  return name !== '' && name === name.trim() && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name);
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** The name of the repository at a location. */
export function repositoryName(location: Location): string {
  return nameOf(location.folder === '' ? describeLocation(location).replace(/[:/]+$/, '') : location.folder);
}
