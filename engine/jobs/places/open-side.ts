/**
 * Opens the place of a command with a single one: a local folder, or a store rooted at the place or its
 * parent.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { PlaceRequest } from '../../api/jobs/trees.ts';
import type { ObjectInfo } from '../../remotes/object-store.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { type LocalPlace, nameOfPlace, openPlace, parsePlace, type RemotePlace } from './places.ts';

/** Any place but `-`. @throws `usage` */
export function parseNamedPlace(context: JobContext, request: PlaceRequest): LocalPlace | RemotePlace {
  const place = parsePlace(context, request);
  if (place.kind !== 'stdio') return place;
  throw new DrayError(
    'usage',
    '"-" cannot be the place of this command. Name a path, s3://BUCKET/PREFIX or NAME:PREFIX.',
  );
}

export interface SingleObject {
  readonly remote: OpenedRemote;
  readonly key: string;
  readonly info: ObjectInfo;
}

/**
 * The object that the place names; undefined when it is a folder, by its form or because no such object
 * exists.
 */
export async function openSingle(context: JobContext, place: RemotePlace): Promise<SingleObject | undefined> {
  if (place.isFolderForm) return undefined;
  const remote = await openPlace(context, place, { at: 'parent' });
  try {
    const key = nameOfPlace(place);
    const info = await remote.store.head(key, { signal: context.signal });
    if (info) return { remote, key, info };
  } catch (error) {
    await remote.store.close();
    throw error;
  }
  await remote.store.close();
  return undefined;
}

/**
 * For commands on a folder or an object: a bucket can hold both under one name, and without a slash at its
 * end the object is meant, as in a copy. One request. Undefined for places that cannot hold both.
 */
export async function openObjectFirst(
  context: JobContext,
  place: RemotePlace,
): Promise<SingleObject | undefined> {
  return place.url.kind === 's3' ? openSingle(context, place) : undefined;
}

export function nothingThere(text: string): DrayError {
  return new DrayError('notFound', `There is nothing at ${text}.`, { data: { place: text } });
}
