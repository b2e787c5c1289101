/** Warns of a network disk: its server decides when it writes, so a sync from here proves nothing. */
import { advised } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { findNetworkFileSystem } from '../../files/disk/sync-disk.ts';

/** Call after files were written there. @param find For tests. */
export function warnOfNetworkDisk(
  context: Pick<JobContext, 'emit'>,
  folder: string,
  find: (folder: string) => string | undefined = findNetworkFileSystem,
): void {
  const kind = find(folder);
  if (kind === undefined) return;
  const message = `${folder} lies on ${kind}. Dray asked its server to write everything to its disk and cannot see whether it did.`;
  const advice = 'After a power cut there, run "dray verify" or "dray check".';
  context.emit({ type: 'warning', warning: 'networkDisk', ...advised(message, advice), path: folder });
}
