/**
 * Removes the entries selected in a pane: local files and folders, or objects and everything below a prefix.
 */
import { type BigIntStats, lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { EntryRow } from '../../api/host/browse.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { checkAborted } from '../../base/abort.ts';
import { identityFrom, nestingOf } from '../../files/scan/folder-nesting.ts';
import { writeError } from '../../files/write/write-error.ts';
import { nothingThere, parseNamedPlace } from '../../jobs/places/open-side.ts';
import { placeBelow } from '../../jobs/places/place-below.ts';
import {
  type LocalPlace,
  nameOfPlace,
  openPlace,
  type RemotePlace,
  realPathOf,
} from '../../jobs/places/places.ts';

/** The limit of one request to a store. */
const KEYS_MAX = 1_000;

/**
 * Checks all places before it removes the first one. A local folder counts as one, a prefix as its objects;
 * an object that is already gone counts as removed. @throws `usage`, `notFound` before anything is removed;
 * `partial`, `aborted` and store errors on the way.
 */
export async function removePlaces(
  context: JobContext,
  texts: readonly string[],
  beforeFirst: () => Promise<void> = async () => {},
): Promise<number> {
  const places = texts.map((text) => [text, parseNamedPlace(context, { place: text })] as const);
  for (const [, place] of places) if (place.kind === 'local') checkRemovable(place);
  await beforeFirst();
  let removed = 0;
  const objects = new Map<string, RemotePlace[]>();
  for (const [text, place] of places) {
    checkAborted(context.signal);
    if (place.kind === 'local') removed += await removeLocal(place);
    else if (place.isFolderForm) removed += await removeBelow(context, text);
    else {
      const folder = folderOf(place);
      objects.set(folder, [...(objects.get(folder) ?? []), place]);
    }
  }
  for (const together of objects.values()) removed += await removeObjects(context, together);
  return removed;
}

/**
 * Removes entries of one folder, a thousand at a time. An error does not undo the removals before it.
 * @throws as `removePlaces`
 */
export async function removeChosen(
  context: JobContext,
  folder: string,
  entries: Iterable<EntryRow>,
): Promise<number> {
  let removed = 0;
  let batch: string[] = [];
  const flush = async () => {
    removed += await removePlaces(context, batch);
    batch = [];
    const progress = { filesDone: removed, bytesDone: 0, requests: 0 };
    context.emit({ type: 'progress', phase: 'write', ...progress });
  };
  for (const { path } of entries) {
    batch.push(placeBelow(folder, path));
    if (batch.length === KEYS_MAX) await flush();
  }
  if (batch.length > 0) await flush();
  return removed;
}

/** Refuses places that nobody means to remove, whatever was typed. @throws `usage` */
function checkRemovable({ isFolderForm, path, text }: LocalPlace): void {
  const whole = resolve(path);
  const stat = statOf(whole);
  if (!stat) throw nothingThere(text);
  if (dirname(whole) === whole || holdsHome(whole))
    throw new DrayError(
      'usage',
      `Dray does not remove ${text}. It is, or contains, your home folder or a disk's root.`,
      { data: { path: whole } },
    );
  if (stat.isDirectory() && !isFolderForm)
    throw new DrayError(
      'usage',
      `${text} is a folder. Add a slash at its end to remove everything below it.`,
    );
}

/**
 * True for the home folder or one above it, in any spelling: another case, short names, or through a link.
 */
function holdsHome(whole: string): boolean {
  return [homedir(), realPathOf(homedir())].some((home) => {
    const nesting = nestingOf(home, whole, identityOf);
    return nesting === 'same' || nesting === 'firstInside';
  });
}

/** Does not follow a link. The path, if nothing else identifies the item. */
function identityOf(path: string): string | undefined {
  const stat = statOf(path);
  return stat && (identityFrom({ path, ...stat }) ?? path);
}

function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** In steps: a million files take minutes, in which the thread of all transfers would block. */
async function removeLocal({ path }: LocalPlace): Promise<number> {
  try {
    await rm(resolve(path), { recursive: true });
    return 1;
  } catch (error) {
    throw writeError(error, path);
  }
}

async function removeBelow(context: JobContext, text: string): Promise<number> {
  const { removePlace } = await import('../../jobs/one-place/remove-place.ts');
  const { failed, removed } = await removePlace(context, {
    place: text,
    recursive: true,
    // The caller has asked for the names of all of them.
    allowRepositories: true,
  });
  if (failed > 0) {
    const message = `${failed} objects could not be removed; ${removed} were.`;
    throw new DrayError('partial', message, { data: { failed, removed } });
  }
  return removed;
}

/** Entries of one folder of one store share a few requests. */
function folderOf({ connection, url }: RemotePlace): string {
  const parent = url.prefix.slice(0, url.prefix.lastIndexOf('/') + 1);
  return JSON.stringify([{ ...url, prefix: parent }, connection]);
}

async function removeObjects(context: JobContext, places: readonly RemotePlace[]): Promise<number> {
  await using remote = await openPlace(context, places[0]!, { at: 'parent' });
  const { store } = remote;
  const { signal } = context;
  const names = places.map(nameOfPlace);
  for (let at = 0; at < names.length; at += KEYS_MAX)
    await store.delete(names.slice(at, at + KEYS_MAX), { signal });
  return names.length;
}
