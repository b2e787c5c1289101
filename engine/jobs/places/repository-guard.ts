/**
 * Protects repositories: what writes or removes plain files at a repository's place or below it needs a
 * permission, and every command and the window ask here. A repository is a folder with a descriptor
 * (`dray.json`).
 *
 * The folders above a place cost one request each, together, before the first change. Below it a listing
 * shows the descriptors; where it has not come to one yet, only names that a repository gives to its objects
 * make Dray ask for it.
 */
import { existsSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DrayError, toDrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { RepositoryPermission } from '../../api/jobs/trees.ts';
import { checkAborted } from '../../base/abort.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Meter } from '../../remotes/wrappers/with-meter.ts';
import { DESCRIPTOR_KEY, isRepositoryKey } from '../../repository/keys.ts';
import { localRepositoryAt } from './local-repository.ts';
import { parseNamedPlace } from './open-side.ts';
import { type LocalPlace, openPlace, type RemotePlace } from './places.ts';

const PAGE = 1_000;

export interface RepositoryCheck {
  /** The places to remove or to write. The place of a folder ends in a slash. */
  readonly places: readonly string[];
  /** Checks everything below the folders too. */
  readonly isBelowToo: boolean;
  /** The names that the user typed. */
  readonly confirmed: readonly string[];
  /** Shared by consecutive calls, so each folder is checked once. */
  readonly cache?: RepositoryCache;
}

/** By a folder's id: whether the folder is a repository. */
export type RepositoryCache = Map<string, Promise<boolean>>;

/** @throws `conflict` with `repository`, the first name that the user must confirm. */
export async function checkRepositories(context: JobContext, check: RepositoryCheck): Promise<void> {
  const checked = new Set<string>();
  const isUnconfirmed = (name: string) => !allowsRepository(check.confirmed, name);
  for (const text of check.places) {
    checkAborted(context.signal);
    const place = parseNamedPlace(context, { place: text });
    const unseen = foldersAbove(place).filter(({ id }) => !checked.has(id));
    for (const { id } of unseen) checked.add(id);
    const above = unseen.length > 0 ? await repositoryAbove(context, place, unseen, check) : undefined;
    if (above !== undefined && isUnconfirmed(above)) throw repositoryRefusal(above);
    if (!check.isBelowToo || !place.isFolderForm) continue;
    const below = await repositoryBelow(context, place, isUnconfirmed);
    if (below !== undefined) throw repositoryRefusal(below);
  }
}

/** Whether the permission covers the repository of this name. */
export function allowsRepository(allowed: RepositoryPermission | undefined, name: string): boolean {
  return allowed === true || (Array.isArray(allowed) && allowed.includes(name));
}

export interface RepositoryAboveOptions {
  /** The place is a folder, whatever its form: one in which something is written or removed. */
  readonly isFolder?: boolean;
  readonly allowed: RepositoryPermission | undefined;
  /** Counts the requests. */
  readonly meters: Meter[];
  /** Shared by consecutive calls, so each folder is checked once. */
  readonly cache?: RepositoryCache;
}

/** @throws `conflict` with `repository`, its name, if a repository lies at the place or above it */
export async function refuseRepositoryAbove(
  context: JobContext,
  place: LocalPlace | RemotePlace,
  options: RepositoryAboveOptions,
): Promise<void> {
  if (options.allowed === true) return;
  const folders = foldersAbove(options.isFolder ? { ...place, isFolderForm: true } : place);
  const found = await repositoryAbove(context, place, folders, options);
  if (found !== undefined && !allowsRepository(options.allowed, found)) throw repositoryRefusal(found);
}

/** The reason in the error's data: it concerns the whole command, not one file. */
export const IN_REPOSITORY = 'repository';

export function repositoryRefusal(name: string): DrayError {
  const message = `"${name}" is a Dray repository. This would change its stored objects, and versions may be lost.`;
  return new DrayError('conflict', message, {
    data: { reason: IN_REPOSITORY, repository: name },
    advice: 'Store files in it with "dray push". To do this anyway, add --allow-repository.',
  });
}

/** @throws any error but the refusal of a repository */
export function refusalFrom(error: unknown): DrayError {
  const known = toDrayError(error);
  if (known.data.reason === IN_REPOSITORY) return known;
  throw known;
}

/** @param folder Below the place; '' or ending in `/`. */
export function repositoryName(place: Pick<RemotePlace, 'url'>, folder: string): string {
  return lastPart(folder) || lastPart(place.url.prefix) || bucketOf(place);
}

export interface FoundRepositories {
  /** Call for each path of a listing. */
  listed(path: string): void;
  /** The repository that holds the path; '' or ending in `/`. */
  holderOf(path: string): string | undefined;
}

export function createFoundRepositories(): FoundRepositories {
  const found = new Set<string>();
  return {
    listed(path) {
      if (!path.endsWith(DESCRIPTOR_KEY)) return;
      const folder = path.slice(0, -DESCRIPTOR_KEY.length);
      if (folder === '' || folder.endsWith('/')) found.add(folder);
    },
    holderOf(path) {
      if (found.size === 0) return undefined;
      if (found.has('')) return '';
      for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
        if (found.has(path.slice(0, at + 1))) return path.slice(0, at + 1);
      return undefined;
    },
  };
}

/**
 * The folders that are repositories if they have a descriptor, because the path has the form of one of their
 * keys. Relative, without slashes at their ends; the root itself is not among them.
 */
export function possibleRepositories(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
    if (isRepositoryKey(path.slice(at + 1))) found.push(path.slice(0, at));
  return found;
}

interface FolderAbove {
  readonly id: string;
  /** Its path, or its prefix without a slash at its end. */
  readonly folder: string;
}

/** From the innermost outwards. The place itself is among them if it is a folder. */
function foldersAbove(place: LocalPlace | RemotePlace): FolderAbove[] {
  const found: FolderAbove[] = [];
  if (place.kind === 'local') {
    let folder = place.isFolderForm ? resolve(place.path) : dirname(resolve(place.path));
    for (; ; folder = dirname(folder)) {
      found.push({ id: folder, folder });
      if (dirname(folder) === folder) return found;
    }
  }
  const parts = place.url.prefix.split('/');
  if (!place.isFolderForm || place.url.prefix === '') parts.pop();
  for (let length = parts.length; length >= 0; length -= 1) {
    const folder = parts.slice(0, length).join('/');
    found.push({ id: JSON.stringify([{ ...place.url, prefix: folder }, place.connection]), folder });
  }
  return found;
}

interface AskOptions {
  readonly cache?: RepositoryCache | undefined;
  readonly meters?: Meter[] | undefined;
}

/** The name of the nearest repository above. On a store, one request for each folder. */
async function repositoryAbove(
  context: JobContext,
  place: LocalPlace | RemotePlace,
  above: readonly FolderAbove[],
  { cache = new Map(), meters }: AskOptions,
): Promise<string | undefined> {
  if (place.kind === 'local') {
    const found = localRepositoryAt(above[0]!.folder);
    return found === undefined ? undefined : lastPart(found);
  }
  const folders = above.map(({ folder }) => folder);
  const unknown = above.filter(({ id }) => !cache.has(id));
  if (unknown.length > 0) await checkFolders(context, place, unknown, { cache, meters });
  const answers = await Promise.all(above.map(({ id }) => cache.get(id)));
  const at = answers.indexOf(true);
  return at === -1 ? undefined : lastPart(folders[at]!) || bucketOf(place);
}

/** Concurrent calls for the same folders share the requests. Failed requests leave nothing in the cache. */
async function checkFolders(
  context: JobContext,
  place: RemotePlace,
  folders: readonly FolderAbove[],
  { cache, meters }: AskOptions & { readonly cache: RepositoryCache },
): Promise<void> {
  const opening = openPlace(context, { ...place, url: { ...place.url, prefix: '' } }, { at: 'place' });
  const checks = folders.map(async ({ folder }) =>
    hasDescriptor((await opening).store, folder, context.signal),
  );
  for (const [index, { id }] of folders.entries()) cache.set(id, checks[index]!);
  try {
    await Promise.all(checks);
  } catch (error) {
    for (const { id } of folders) cache.delete(id);
    throw error;
  } finally {
    await Promise.allSettled(checks);
    await opening
      .then(({ meter, store }) => {
        meters?.push(meter);
        return store.close();
      })
      .catch(() => {});
  }
}

/** Denied access counts as no repository: keys for one prefix cannot read the folders above it. */
export async function hasDescriptor(
  store: ObjectStore,
  prefix: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const key = prefix === '' ? DESCRIPTOR_KEY : `${prefix}/${DESCRIPTOR_KEY}`;
    return (await store.head(key, { signal })) !== undefined;
  } catch (error) {
    if (error instanceof DrayError && error.code === 'accessDenied') return false;
    throw error;
  }
}

/** The name of the first matching repository in the folder, or the folder's own. */
async function repositoryBelow(
  context: JobContext,
  place: LocalPlace | RemotePlace,
  isMatch: (name: string) => boolean,
): Promise<string | undefined> {
  const { signal } = context;
  if (place.kind === 'local') return descriptorBelow(resolve(place.path), isMatch, signal);
  await using remote = await openPlace(context, place, { at: 'place' });
  const { store } = remote;
  let after: string | undefined;
  do {
    const continuation = after === undefined ? {} : { continuation: after };
    const page = await store.list({ prefix: '', limit: PAGE, ...continuation }, { signal });
    for (const { key } of page.objects) {
      if (key !== DESCRIPTOR_KEY && !key.endsWith(`/${DESCRIPTOR_KEY}`)) continue;
      const path = `${place.url.prefix}/${key.slice(0, -DESCRIPTOR_KEY.length)}`;
      const name = lastPart(path) || bucketOf(place);
      if (isMatch(name)) return name;
    }
    after = page.continuation;
  } while (after !== undefined);
  return undefined;
}

/** Follows no link. */
async function descriptorBelow(
  folder: string,
  isMatch: (name: string) => boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  checkAborted(signal);
  if (existsSync(join(folder, DESCRIPTOR_KEY)) && isMatch(basename(folder))) return basename(folder);
  try {
    for await (const entry of await opendir(folder)) {
      if (!entry.isDirectory()) continue;
      const found = await descriptorBelow(join(folder, entry.name), isMatch, signal);
      if (found !== undefined) return found;
    }
  } catch (error) {
    // The removal reports a folder that does not exist or cannot be read.
    if (error instanceof DrayError) throw error;
  }
  return undefined;
}

function bucketOf({ url }: Pick<RemotePlace, 'url'>): string {
  if (url.kind === 'version') return url.ref;
  return url.kind === 's3' ? url.bucket : url.host;
}

function lastPart(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== '') ?? '';
}
