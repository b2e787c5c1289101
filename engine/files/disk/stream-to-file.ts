/**
 * Writes one file from a stream: first into `.dray-tmp` beside its place, then, when the stream has ended
 * without an error, in place. The file takes the mode of the file that it replaces.
 */
import { lstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { FILE_MODE_BITS } from '../scan/local-place.ts';
import { putInPlaceOrRemove } from '../write/put-in-place.ts';
import { writeError } from '../write/write-error.ts';
import { setAttributes } from './disk-refusals.ts';
import { syncContent } from './sync-disk.ts';
import { openTemporaryFolderBeside } from './temporary-folder.ts';

const NEW_MODE = 0o666;
/** The mode of an unfinished file, which other users cannot read. */
const OWN_MODE = 0o600;

/**
 * Resolves to the number of bytes written. @throws DrayError `io`, `diskFull`, `conflict` for a folder in the
 * way, `aborted`.
 */
export async function writeStreamToFile(
  body: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<number> {
  const temporaries = openTemporaryFolderBeside(path);
  try {
    const temporary = temporaries.newName();
    const mode = modeOfFile(path);
    const file = await open(temporary, 'wx', mode === undefined ? NEW_MODE : OWN_MODE);
    let bytes = 0;
    try {
      for await (const piece of body) {
        checkAborted(signal);
        await file.writeFile(piece);
        bytes += piece.length;
      }
      setAttributes(file.fd, { mode }, {});
      await syncContent(file.fd);
    } finally {
      await file.close();
    }
    if ('stat' in putInPlaceOrRemove(temporary, path)) return bytes;
    throw new DrayError('conflict', `${path} is a folder where a file has to be.`, { data: { path } });
  } catch (error) {
    throw error instanceof DrayError ? error : writeError(error, path);
  } finally {
    temporaries.close();
  }
}

/** The mode of the file that is replaced; undefined if there is none. */
function modeOfFile(path: string): number | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() && process.platform !== 'win32' ? stats.mode & FILE_MODE_BITS : undefined;
}
