/** Reads which files failed, or differ in a check, from a job's documents at the destination. */

import { DrayError } from '../../api/error.ts';
import type { FleetFailures } from '../../api/host/fleet.ts';
import type { FleetWork } from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { namedFailures } from './failures.ts';
import { openFleetFolder } from './fleet-folder.ts';

/**
 * Reads documents until they name `filesMax` files; each names at least one.
 * @throws `damaged`, naming the document
 */
export async function readFailedFiles(
  context: JobContext,
  work: Pick<FleetWork, 'destination' | 'id'>,
  filesMax: number,
): Promise<FleetFailures> {
  const folder = await openFleetFolder(context, work);
  try {
    // One more than needed shows the caller whether there are others.
    const names = await folder.names('failures/', filesMax + 1);
    const files: FleetFailures['files'][number][] = [];
    for (const name of names) {
      const { named, isWhole } = parsed(name, (await folder.readText(name)) ?? '');
      files.push(...named.slice(0, filesMax + 1 - files.length));
      if (files.length > filesMax || !isWhole) return { files: files.slice(0, filesMax), isWhole: false };
    }
    return { files, isWhole: names.length <= filesMax };
  } finally {
    await folder.close();
  }
}

function parsed(name: string, text: string): ReturnType<typeof namedFailures> {
  try {
    return namedFailures(text);
  } catch (cause) {
    const message = `The list of failed files ${name} at the destination is damaged.`;
    throw new DrayError('damaged', message, { data: { key: name }, cause });
  }
}
