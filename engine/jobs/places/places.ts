/**
 * The places that plain copies go between: their syntax, their meaning, and how to open them.
 *
 * In an S3 place a `?` begins parameters and `%XX` stands for a character, as in every URL of Dray, so `?`
 * and `%` in a key are written `%3F` and `%25`. Every other character stands for itself, empty parts (`a//b`)
 * included. The text after the colon of a named remote is not a URL: there every character stands for itself.
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { ConnectionFlags, JobContext } from '../../api/jobs/jobs.ts';
import type { PlaceRequest } from '../../api/jobs/trees.ts';
import { trimEnd, trimStart } from '../../api/text/trim-ends.ts';
import { canNamePlace } from '../../api/text/version-place.ts';
import { type Nesting, nestingOf } from '../../files/scan/folder-nesting.ts';
import { localPlaceKind } from '../../files/scan/local-place.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { resolveLocation } from '../../remotes/open-remote.ts';
import {
  type PeerRemoteUrl,
  peerOrigin,
  type RemoteUrl,
  type S3RemoteUrl,
} from '../../remotes/remote-url.ts';
import { findNamedRemote, knownRemoteNames } from '../session/named-remote.ts';
import {
  type OpenedRemote,
  openRemoteAt,
  openRepositoryAt,
  parseGivenUrl,
  sharesService,
} from '../session/opened-remote.ts';
import { createVersions } from '../versions/open-versions.ts';
import type { Version } from '../versions/version.ts';
import { createVersionStore } from '../versions/version-store.ts';

export type Place = StdioPlace | LocalPlace | RemotePlace;

export interface StdioPlace {
  readonly kind: 'stdio';
  readonly text: string;
}

export interface LocalPlace {
  readonly kind: 'local';
  /** Absolute. */
  readonly path: string;
  /** Ends in a separator: the user means a folder. */
  readonly isFolderForm: boolean;
  /** For messages. */
  readonly text: string;
}

/** A prefix of a bucket, a folder of a peer, or one of a version, which nobody can write to. */
export interface RemotePlace {
  readonly kind: 'remote';
  readonly url: S3RemoteUrl | PeerRemoteUrl | VersionUrl;
  /** Ends in `/` or is a bucket's root: the user means a folder. */
  readonly isFolderForm: boolean;
  /** For messages: only bucket and prefix. */
  readonly text: string;
  readonly connection: ConnectionFlags;
}

/** A part of a commit of a repository: `NAME@REF:PATH`, or `URL?ref=REF&path=PATH`. */
export interface VersionUrl {
  readonly kind: 'version';
  readonly repository: RemoteUrl;
  /** A branch, a tag, or a commit by its hash. */
  readonly ref: string;
  /** '' or a path without slashes at its ends. */
  readonly prefix: string;
}

/** On Windows a letter and a colon are a drive, so names of remotes have at least two characters. */
const NAMED = /^([A-Za-z0-9][A-Za-z0-9._-]+)(?:@([^:@]+))?:(?!\/\/)(.*)$/s;
/** A URL's parameters. */
const QUERY = /^([a-z][a-z0-9+.-]+:\/\/[^?]*)\?(.*)$/is;

/** @throws `usage` when it is not a place */
export function parsePlace(context: JobContext, { connection = {}, place }: PlaceRequest): Place {
  if (place === '-') return { kind: 'stdio', text: '-' };
  if (place === '')
    throw new DrayError('usage', 'A place is empty. Name a path, s3://BUCKET/PREFIX or NAME:PREFIX.');
  const flags = { ...context.connection, ...connection };
  const [, name, ref, below] = NAMED.exec(place) ?? [];
  if (name !== undefined && canNamePlace(name)) {
    const found = namedPlace(context, { text: place, name, ref, below: below! }, flags);
    if (found) return found;
  }
  return versionOfUrl(context, place, flags) ?? urlPlace(context, place, flags);
}

/** Undefined when the URL has no parameter `ref`. */
function versionOfUrl(context: JobContext, text: string, connection: ConnectionFlags): Place | undefined {
  const [, address, query] = QUERY.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  const ref = parameters.get('ref');
  if (ref === null) return undefined;
  const path = parameters.get('path') ?? '';
  parameters.delete('ref');
  parameters.delete('path');
  const rest = parameters.size === 0 ? address! : `${address}?${parameters}`;
  const repository = parseGivenUrl(context, rest, context.directory);
  checkBelow(text, path);
  const shown = `${address}?ref=${ref}${path === '' ? '' : `&path=${path}`}`;
  return versionPlace({ repository, ref, path, text: shown, connection });
}

interface VersionForm {
  readonly repository: RemoteUrl;
  readonly ref: string;
  readonly path: string;
  readonly text: string;
  readonly connection: ConnectionFlags;
}

function versionPlace({ connection, path, ref, repository, text }: VersionForm): RemotePlace {
  const isFolderForm = path === '' || path.endsWith('/');
  const prefix = trimEnd(path, '/');
  return {
    kind: 'remote',
    url: { kind: 'version', repository, ref, prefix },
    isFolderForm,
    text,
    connection,
  };
}

function urlPlace(context: JobContext, text: string, connection: ConnectionFlags): Place {
  const url = parseGivenUrl(context, text, context.directory, { keepsEmptyParts: true });
  if (url.kind === 'file') return localPlace(url.path, text);
  const [path = ''] = text.split('?', 1);
  const isFolderForm = url.prefix === '' || path.endsWith('/');
  if (url.prefix === '' && path.endsWith('//')) throw rootOfSlashes(text);
  return remotePlace(url, isFolderForm, connection);
}

/** A nameless folder at the bucket's root: its prefix `/` would mean the bucket itself. */
function rootOfSlashes(text: string): DrayError {
  return new DrayError(
    'usage',
    `"${text}" names a folder without a name. Name the bucket, or what is in it.`,
  );
}

function localPlace(path: string, text: string): LocalPlace {
  return {
    kind: 'local',
    path,
    isFolderForm: text.endsWith('/') || text.endsWith(sep) || isDots(text),
    text,
  };
}

/** `.` and `..` are folders even without a slash. */
function isDots(text: string): boolean {
  return /(?:^|[\\/])\.{1,2}$/.test(text);
}

function remotePlace(
  url: S3RemoteUrl | PeerRemoteUrl,
  isFolderForm: boolean,
  connection: ConnectionFlags,
): RemotePlace {
  const path = url.prefix === '' ? '' : `/${url.prefix}${isFolderForm ? '/' : ''}`;
  const host = url.kind === 's3' ? `s3://${url.bucket}` : `dray://${peerOrigin(url).host}`;
  return { kind: 'remote', url, isFolderForm, text: `${host}${path}`, connection };
}

/** `NAME:BELOW` or `NAME@REF:BELOW`. */
interface NamedForm {
  readonly text: string;
  readonly name: string;
  readonly ref: string | undefined;
  readonly below: string;
}

/** Undefined when it is a local path with a colon in it. */
function namedPlace(
  context: JobContext,
  { below, name, ref, text }: NamedForm,
  connection: ConnectionFlags,
): Place | undefined {
  const remote = findNamedRemote(context, name);
  if (!remote) {
    if (existsSync(resolve(context.directory, text))) return undefined;
    const known = knownRemoteNames(context);
    const data = { name, reason: 'noRemote' };
    if (known.length > 0)
      throw new DrayError('usage', `There is no remote "${name}". Known are: ${known.join(', ')}.`, { data });
    throw new DrayError('usage', `There is no remote "${name}".`, {
      data,
      advice: 'Add one with "dray remote add --user NAME URL".',
    });
  }
  const { url } = remote;
  checkBelow(text, below);
  if (ref !== undefined) return versionPlace({ repository: url, ref, path: below, text, connection });
  const isFolderForm = below === '' || below.endsWith('/');
  if (url.kind === 'file') {
    const path = resolve(url.path, below);
    return localPlace(path, isFolderForm ? `${path}/` : path);
  }
  const prefix = [url.prefix, below.replace(/\/$/, '')].filter((part) => part !== '').join('/');
  return remotePlace({ ...url, prefix }, isFolderForm, connection);
}

/** Refuses a path that leaves the remote. */
function checkBelow(place: string, below: string): void {
  if (below.startsWith('/')) {
    const start = place.slice(0, place.length - below.length);
    const message = `"${place}" has a path that begins with a slash. Paths start at the remote: write ${start}${trimStart(below, '/')}.`;
    throw new DrayError('usage', message);
  }
  const fault = below.split('/').find((part) => part === '.' || part === '..');
  if (fault !== undefined) throw new DrayError('usage', `"${place}" contains the part "${fault}".`);
}

export interface OpenPlaceOptions {
  /** The root of the store: the place, or, for a single object, its parent folder. */
  readonly at: 'place' | 'parent';
  /** The other place of a pair. */
  readonly beside?: Pick<OpenedRemote, 'store' | 'limit'> | undefined;
}

/** Plain copies make a request for each small file, so they start with more in flight and may go higher. */
const LIMIT = { initial: 32, max: 256 };

export async function openPlace(
  context: JobContext,
  place: RemotePlace,
  options: OpenPlaceOptions,
): Promise<OpenedRemote> {
  const { prefix } = place.url;
  const root = options.at === 'place' ? prefix : prefix.slice(0, parentEnd(prefix));
  if (place.url.kind === 'version') return openVersionPlace(context, place, place.url, root);
  return openRemoteAt(
    { ...context, connection: place.connection },
    { ...place.url, prefix: root },
    {
      limit: LIMIT,
      beside: options.beside,
      plainFiles: true,
    },
  );
}

async function openVersionPlace(
  context: JobContext,
  place: RemotePlace,
  url: VersionUrl,
  root: string,
): Promise<OpenedRemote> {
  const { version, ...remote } = await openPlaceVersion(context, place, url);
  const prefix = root === '' ? '' : `${root}/`;
  const store = createVersionStore({ repository: remote.store, version, prefix, address: place.text });
  return { ...remote, store, [Symbol.asyncDispose]: () => store.close() };
}

/** The version that a place is a part of, for callers that need its links and folders too. */
export async function openPlaceVersion(
  context: JobContext,
  { connection }: RemotePlace,
  { ref, repository }: VersionUrl,
): Promise<OpenedRemote & { readonly version: Version }> {
  const { signal } = context;
  const remote = await openRepositoryAt({ ...context, connection }, repository, { limit: LIMIT });
  try {
    const versions = createVersions(remote.store);
    return { ...remote, version: await versions.open(await versions.resolve(ref, { signal })) };
  } catch (error) {
    await remote.store.close();
    throw error;
  }
}

/** The name of the place itself, as a single file or object. */
export function nameOfPlace(place: LocalPlace | RemotePlace): string {
  if (place.kind === 'local') return basename(place.path);
  const { prefix } = place.url;
  const end = parentEnd(prefix);
  return end === 0 ? prefix : prefix.slice(end + 1);
}

/**
 * A copy replaces what exists at the place. It may replace a link to nothing, but not a device, a pipe or a
 * socket.
 * @throws `usage`
 */
export function checkReplaceable({ path, text }: LocalPlace): void {
  if (localPlaceKind(path) !== 'other' || !existsSync(path)) return;
  const message = `${text} is neither a file nor a folder, and a copy would replace it by a file. Name a file; "-" stands for standard output.`;
  throw new DrayError('usage', message, { data: { path } });
}

/** The position of the last slash that follows a folder's name. */
function parentEnd(prefix: string): number {
  return Math.max(0, prefix.lastIndexOf('/'));
}

/** A key that is the same for every way to write the place, without secrets. */
export function placeIdentity(place: Place, environment: JobContext['environment']): string {
  switch (place.kind) {
    case 'stdio':
      return '-';
    case 'local':
      return urlIdentity({ kind: 'file', path: place.path }, {}, environment);
    case 'remote':
      return urlIdentity(place.url, place.connection, environment);
  }
}

function urlIdentity(
  url: RemotePlace['url'] | RemoteUrl,
  connection: ConnectionFlags,
  environment: JobContext['environment'],
): string {
  switch (url.kind) {
    case 'file':
      return `file:${realPathOf(url.path)}`;
    case 'peer':
      return `peer:${peerOrigin(url).host}/${url.prefix}`;
    case 's3':
      return `s3:${endpointOf(url, connection, environment)}/${url.bucket}/${url.prefix}`;
    case 'version':
      return `version:${url.ref}:${urlIdentity(url.repository, connection, environment)}:${url.prefix}`;
  }
}

function endpointOf(
  url: S3RemoteUrl,
  connection: ConnectionFlags,
  environment: JobContext['environment'],
): string {
  const { endpoint, profile = environment.AWS_PROFILE } = resolveLocation(url, connection);
  const named = endpoint ?? (environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL);
  if (named) return trimEnd(named, '/');
  // A profile may have an endpoint of its own. Two equal profiles at worst have separate remembered pairs.
  return profile ? `profile:${profile}` : 'aws';
}

/** Resolves links in the part of the path that exists. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

export interface ApartOptions {
  /**
   * One may lie inside the other, because the copied files were named and each lies directly in the source.
   */
  readonly mayNest?: boolean;
}

/** As messages name it. */
type Named = Pick<Place, 'text'>;

/**
 * @throws `usage` when the places are the same or one lies inside the other: a copy would read its own
 * output, and a sync
 *   would delete it
 */
export function checkApart(
  source: Place,
  destination: Place,
  environment: JobContext['environment'],
  options: ApartOptions = {},
): void {
  if (source.kind !== destination.kind || source.kind === 'stdio') return;
  const separator = source.kind === 'local' ? sep : '/';
  const from = withEnd(placeIdentity(source, environment), separator);
  const to = withEnd(placeIdentity(destination, environment), separator);
  checkOutside([source, from], [destination, to], options);
  if (source.kind !== 'local' || destination.kind !== 'local') return;
  const nesting = nestingOf(realPathOf(source.path), realPathOf(destination.path));
  if (nesting && (nesting === 'same' || !options.mayNest)) throw notApart(source, destination, nesting);
}

/**
 * The same check for open stores: two profiles may lead to one bucket, which only opening them shows.
 * @throws `usage`
 */
export function checkStoresApart(
  [source, from]: readonly [Named, ObjectStore],
  [destination, to]: readonly [Named, ObjectStore],
  options: ApartOptions = {},
): void {
  if (!sharesService(from, to)) return;
  const pathOf = ({ place }: ObjectStore) => `${place!.bucket}/${place!.keyPrefix}`;
  checkOutside([source, pathOf(from)], [destination, pathOf(to)], options);
}

/** The paths end in separators. */
function checkOutside(
  [source, from]: readonly [Named, string],
  [destination, to]: readonly [Named, string],
  { mayNest = false }: ApartOptions,
): void {
  if (mayNest ? from !== to : !from.startsWith(to) && !to.startsWith(from)) return;
  const nesting = from === to ? 'same' : to.startsWith(from) ? 'secondInside' : 'firstInside';
  throw notApart(source, destination, nesting);
}

const NESTINGS: Readonly<Record<Nesting, string>> = {
  same: 'are the same place',
  firstInside: 'overlap: the first lies inside the second',
  secondInside: 'overlap: the second lies inside the first',
};

function notApart(source: Named, destination: Named, nesting: Nesting): DrayError {
  return new DrayError(
    'usage',
    `${source.text} and ${destination.text} ${NESTINGS[nesting]}. Choose places apart from each other.`,
  );
}

function withEnd(text: string, separator: string): string {
  return text.endsWith(separator) ? text : text + separator;
}
