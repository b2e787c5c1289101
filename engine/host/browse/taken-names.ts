/** Finds the names that already exist in a folder, which a copy would replace or merge with. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { EntryRow } from '../../api/host/browse.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { type LocalPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import type { EntrySource } from './entry-source.ts';

/** One page of any store. */
const LISTED_MAX = 1_000;
const ASKED_AT_ONCE = 16;
const NAMED_MAX = 500;

/** Compares names as the file system does, which may ignore case. @throws `io`, if the place is no folder */
export function takenHere({ path }: LocalPlace, names: readonly string[]): string[] {
  try {
    return names.filter((name) => lstatSync(join(path, name), { throwIfNoEntry: false }) !== undefined);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOTDIR' ? 'is not a folder.' : `cannot be read: ${message}`;
    throw new DrayError('io', `${path} ${why}`, { data: { path }, cause });
  }
}

/**
 * Takes one request if the folder fits in one listing, otherwise two more for each name that is not in it.
 */
export async function takenThere(
  context: JobContext,
  place: RemotePlace,
  names: readonly string[],
): Promise<readonly string[]> {
  await using remote = await openPlace(context, place, { at: 'place' });
  const { store } = remote;
  const { signal } = context;
  const page = await store.list({ prefix: '', delimiter: '/', limit: LISTED_MAX }, { signal });
  const taken = new Set([...page.folders, ...page.objects.map(({ key }) => key)].map(withoutSlash));
  const unseen = page.continuation === undefined ? [] : names.filter((name) => !taken.has(name));
  for (let at = 0; at < unseen.length; at += ASKED_AT_ONCE) {
    const asked = unseen.slice(at, at + ASKED_AT_ONCE);
    const answers = await Promise.all(asked.map((name) => isTaken(store, name, { signal })));
    for (const [index, name] of asked.entries()) if (answers[index]) taken.add(name);
  }
  return names.filter((name) => taken.has(name));
}

/**
 * The entries whose names exist in the folder. Lists the whole folder, because two requests for each of a
 * million names take longer.
 */
export async function takenOf(
  entries: Iterable<EntryRow>,
  source: EntrySource,
  signal: AbortSignal,
): Promise<{ readonly names: readonly string[]; readonly total: number }> {
  const asked = new Set<string>();
  for (const { path } of entries) asked.add(withoutSlash(path));
  const names: string[] = [];
  let total = 0;
  try {
    for (let page = await source.next(signal); page; page = await source.next(signal)) {
      for (const name of page.map(({ path }) => withoutSlash(path))) {
        if (!asked.has(name)) continue;
        total += 1;
        if (names.length < NAMED_MAX) names.push(name);
      }
    }
    return { names, total };
  } catch (error) {
    // A folder that does not exist has no names.
    if (error instanceof DrayError && error.code === 'notFound') return { names: [], total: 0 };
    throw error;
  } finally {
    await source.close();
  }
}

/** True for an object of this name, or any object below it. Two requests. */
export async function isTaken(store: ObjectStore, name: string, options: CallOptions): Promise<boolean> {
  const [file, { folders, objects }] = await Promise.all([
    store.head(name, options),
    store.list({ prefix: `${name}/`, limit: 1 }, options),
  ]);
  return file !== undefined || folders.length + objects.length > 0;
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
