/**
 * `POST /drop?place=...&path=...`: streams a file that was dropped on the window to its destination. Nothing
 * holds the whole file. A file inside a repository needs the repository's name as typed, in `confirmed`.
 */

import type { IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import { DrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { makeFolders } from '../../engine/base/make-folders.ts';
import { placeBelow } from '../../engine/jobs/places/place-below.ts';
import { checkEntryPath } from '../../engine/model/safe-path.ts';
import type { DropContext } from './drop-context.ts';
import { readDropped } from './dropped-body.ts';

/**
 * @throws `unsafePath` if the path leads out of the place, `conflict` with `repository` if that name was not
 * typed, and the errors of the copy.
 */
export async function dropFile(
  request: IncomingMessage,
  parameters: URLSearchParams,
  { context, signal }: { readonly context: DropContext; readonly signal: AbortSignal },
): Promise<{ readonly bytes: number }> {
  const place = parameters.get('place') ?? '';
  const path = parameters.get('path') ?? '';
  if (place === '' || place === '-')
    throw new DrayError(
      'usage',
      'The request names no place for the file. Reload the window and drop the file again.',
    );
  const reason = checkEntryPath(path, { kind: 'file' });
  if (reason) {
    const message = `The path "${path}" cannot be written: ${reason}.`;
    throw new DrayError('unsafePath', message, { data: { path } });
  }
  const [{ copyTree }, { parsePlace }, { checkRepositories }] = await Promise.all([
    import('../../engine/jobs/trees/copy-tree.ts'),
    import('../../engine/jobs/places/places.ts'),
    import('../../engine/jobs/places/repository-guard.ts'),
  ]);
  const environment = await context.environment();
  const job: JobContext = {
    ...context,
    environment,
    signal,
    emit: () => {},
    standardInput: readDropped(request),
  };
  const destination = { place: placeBelow(place, path) };
  const target = parsePlace(job, destination);
  await checkRepositories(
    // Other files may share these requests, so they continue when the browser drops this one.
    { ...job, signal: new AbortController().signal },
    {
      places: [destination.place],
      isBelowToo: false,
      confirmed: parameters.getAll('confirmed'),
      ...(context.repositories && { cache: context.repositories() }),
    },
  );
  if (target.kind === 'local') makeFolder(dirname(target.path));
  const { bytes } = await copyTree(job, { source: { place: '-' }, destination, allowRepositories: true });
  return { bytes };
}

function makeFolder(folder: string): void {
  try {
    makeFolders(folder);
  } catch (cause) {
    throw new DrayError('io', `The folder ${folder} cannot be created.`, { data: { folder }, cause });
  }
}
