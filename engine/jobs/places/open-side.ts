/** One place of a command that has only one: a local folder, or a store rooted at the place or at its parent. */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs.ts';
import type { PlaceRequest } from '../../api/trees.ts';
import type { ObjectInfo } from '../../remotes/object-store.ts';
import type { Connection } from '../session/connection.ts';
import { connectPlace, type LocalPlace, nameOfPlace, parsePlace, type RemotePlace } from './places.ts';

/** A place that is not `-`. @throws `usage` */
export function parseNamedPlace(context: JobContext, request: PlaceRequest): LocalPlace | RemotePlace {
  const place = parsePlace(context, request);
  if (place.kind !== 'stdio') return place;
  throw new DrayError(
    'usage',
    '"-" is no place for this command. Name a path, s3://BUCKET/PREFIX or NAME:PREFIX.',
  );
}

export interface SingleObject {
  readonly connection: Connection;
  readonly key: string;
  readonly info: ObjectInfo;
}

/** The object that the place names; undefined when it is a folder, by its form or because no such object is there. */
export async function openSingle(context: JobContext, place: RemotePlace): Promise<SingleObject | undefined> {
  if (place.isFolderForm) return undefined;
  const connection = await connectPlace(context, place, { at: 'parent' });
  try {
    const key = nameOfPlace(place);
    const info = await connection.store.head(key, { signal: context.signal });
    if (info) return { connection, key, info };
  } catch (error) {
    await connection.store.close();
    throw error;
  }
  await connection.store.close();
  return undefined;
}

export function nothingThere(text: string): DrayError {
  return new DrayError('notFound', `There is nothing at ${text}.`, { data: { place: text } });
}
