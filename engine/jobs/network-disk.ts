/** Tells of a disk that does not vouch for itself: what was synced to it lies with a server, which writes when it will. */
import type { JobContext } from '../api/jobs.ts';
import { findNetworkFileSystem } from '../workspace/sync-disk.ts';

/** For whoever has written files there. @param find For tests. */
export function tellNetworkDisk(
  context: Pick<JobContext, 'emit'>,
  folder: string,
  find: (folder: string) => string | undefined = findNetworkFileSystem,
): void {
  const kind = find(folder);
  if (kind === undefined) return;
  const message = `${folder} lies on ${kind}. Its server was asked to write everything to its disk, and whether it has cannot be seen from here: after a power cut there, run "dray verify" or "dray check".`;
  context.emit({ type: 'warning', warning: 'networkDisk', message, path: folder });
}
