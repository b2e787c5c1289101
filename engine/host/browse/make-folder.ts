/** Creates folders at any place. */
import { mkdirSync } from 'node:fs';
import { DrayError, fromErrorRecord } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { writeError } from '../../files/write/write-error.ts';
import { type LocalPlace, nameOfPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { isTaken } from './taken-names.ts';

/** @throws `conflict` if the name exists; `io`. */
export function makeLocalFolder({ path, text }: LocalPlace): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyThere(text, error);
    throw writeError(error, path);
  }
}

/**
 * In a store without folders, an empty object whose name ends in a slash stands for the folder, as in S3's
 * console and Cyberduck. Every client shows it, and no copy or sync of Dray carries or deletes it. It is
 * created only if nothing is there, so it overwrites nothing. @throws `conflict` if the name exists; an
 * existing empty folder of a peer is not an error.
 */
export async function makeRemoteFolder(context: JobContext, place: RemotePlace): Promise<void> {
  const { signal } = context;
  await using remote = await openPlace(context, place, { at: 'parent' });
  const { store } = remote;
  const name = nameOfPlace(place);
  if (await isTaken(store, name, { signal })) throw alreadyThere(place.text);
  if (store.files) await makeInFiles(store.files, `${name}/`, signal);
  else {
    const { written } = await store.put(`${name}/`, new Uint8Array(0), {
      condition: { absent: true },
      contentType: 'application/x-directory',
      signal,
    });
    if (!written) throw alreadyThere(place.text);
  }
}

async function makeInFiles(
  files: NonNullable<ObjectStore['files']>,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const mtimeNs = BigInt(systemClock.nowMs()) * 1_000_000n;
  const folder = { key, bytes: new Uint8Array(0), mtimeNs, special: { kind: 'folder' } } as const;
  const [outcome] = await files.write([folder], { signal });
  if (outcome && 'error' in outcome) throw fromErrorRecord(outcome.error);
}

function alreadyThere(text: string, cause?: unknown): DrayError {
  const options = { data: { place: text }, ...(cause === undefined ? {} : { cause }) };
  return new DrayError(
    'conflict',
    `${text.replace(/\/$/, '')} already exists. Choose another name.`,
    options,
  );
}
