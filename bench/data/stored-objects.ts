/** Reads a place's objects without the tool that is measured. */

import type { Place } from '../entrants/contender.ts';
import type { Bench } from '../machines/bench.ts';
import { runUnmeasured } from '../machines/measure.ts';
import type { Attempt } from '../scenarios/scenario.ts';
import { clearFolders } from './clear-folders.ts';
import { checkArrival, type Fingerprint } from './fingerprint.ts';

type Checker = Pick<Bench, 'courier' | 'newPath' | 'reach' | 'signal'>;
type Requests = Parameters<Attempt['check']>[1];

/**
 * Compares the objects with the sent files: in the server's folder where its objects are plain files, else by
 * a download with another tool.
 *
 * @throws Error when they differ.
 */
export async function checkPlainObjects(bench: Checker, place: Place, sent: Fingerprint): Promise<void> {
  if (place.storesPlainFiles) return checkArrival(place.storeFolder, sent);
  const folder = bench.newPath('arrived');
  try {
    const courier = await bench.courier();
    // Downloads directly: the latency is not part of the check.
    await runUnmeasured(courier.download(await bench.reach(place, 0), folder), bench.signal);
    checkArrival(folder, sent);
  } finally {
    await clearFolders(folder);
  }
}

/**
 * Records what is at a place. Returns a check that a run changed nothing there and did read it: by the
 * server's log, or, without a log, by a listing with times before and after.
 */
export async function guardObjects(
  bench: Checker & Pick<Bench, 'server'>,
  place: Place,
): Promise<(requests: Requests) => Promise<void>> {
  if (bench.server.log) return async (requests) => checkReadsOnly(requests);
  const before = await listObjects(bench, place);
  return async () => {
    if ((await listObjects(bench, place)) !== before) throw new Error('it changed objects');
  };
}

function checkReadsOnly(requests: Requests): void {
  if (!requests || requests.length === 0) throw new Error('it asked the server for nothing');
  const written = requests.find(({ method }) => method === 'PUT' || method === 'POST' || method === 'DELETE');
  if (written) throw new Error(`it wrote: ${written.operation} ${written.path}`);
}

/** A text that stays equal while no object is written or removed. */
async function listObjects(bench: Checker, place: Place): Promise<string> {
  const courier = await bench.courier();
  const listing = await runUnmeasured(courier.list(await bench.reach(place, 0)), bench.signal);
  // rclone lists prefixes in parallel, so their order varies.
  return listing.split('\n').sort().join('\n');
}

/**
 * Deletes in the server's folder, which the server reads anew for each request: deleting 50,000 objects
 * through it takes as long as a run.
 */
export async function removePlace({ storeFolder, cacheFolder }: Place): Promise<void> {
  await clearFolders(storeFolder, cacheFolder);
}
