/** New folders of any place. */
import { mkdirSync } from 'node:fs';
import { DrayError, fromErrorRecord } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { writeError } from '../../files/write/write-error.ts';
import { type LocalPlace, nameOfPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { isTaken } from './taken-names.ts';

/** @throws `conflict` when something of this name is there; `io`. */
export function makeLocalFolder({ path, text }: LocalPlace): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyThere(text, error);
    throw writeError(error, path);
  }
}

/**
 * Of a store that knows no folders, an empty object whose name ends in a slash stands for it, as S3's console and Cyberduck have it: every
 * client shows it, and no copy or sync of Dray carries or deletes it. It is made only where nothing lies, so that nothing is written over.
 *
 * @throws `conflict` when something of this name is there; an empty folder of a peer is no error.
 */
export async function makeRemoteFolder(context: JobContext, place: RemotePlace): Promise<void> {
  const { signal } = context;
  const { store } = await openPlace(context, place, { at: 'parent' });
  try {
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
  } finally {
    await store.close();
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
  return new DrayError('conflict', `There is already something at ${text.replace(/\/$/, '')}.`, options);
}
