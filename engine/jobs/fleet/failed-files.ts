/** The files of a fleet's job that failed, as its documents at the destination name them. */

import { DrayError } from '../../api/error.ts';
import type { FleetWork } from '../../api/fleet.ts';
import type { FleetFailures } from '../../api/host/fleet.ts';
import type { JobContext } from '../../api/jobs.ts';
import { failedFilesOf } from './failures.ts';
import { openFleetFolder } from './fleet-folder.ts';

/**
 * Reads as many documents as it takes to name `filesMax` files; each but those of a check names at least one.
 * @throws `damaged`, naming the document
 */
export async function readFailedFiles(
  context: JobContext,
  work: Pick<FleetWork, 'destination' | 'id'>,
  filesMax: number,
): Promise<FleetFailures> {
  const folder = await openFleetFolder(context, work);
  try {
    // One more than needed, so that the caller learns whether there are others.
    const names = await folder.names('failures/', filesMax + 1);
    const files: FleetFailures['files'][number][] = [];
    for (const name of names) {
      const { failed, isWhole } = parsed(name, (await folder.readText(name)) ?? '');
      files.push(...failed.slice(0, filesMax + 1 - files.length));
      if (files.length > filesMax || !isWhole) return { files: files.slice(0, filesMax), isWhole: false };
    }
    return { files, isWhole: names.length <= filesMax };
  } finally {
    await folder.close();
  }
}

function parsed(name: string, text: string): ReturnType<typeof failedFilesOf> {
  try {
    return failedFilesOf(text);
  } catch (cause) {
    const message = `The list of failed files ${name} at the destination is damaged.`;
    throw new DrayError('damaged', message, { data: { key: name }, cause });
  }
}
