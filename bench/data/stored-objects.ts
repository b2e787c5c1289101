/** What lies at a place, seen without the tool that is measured. */

import type { Place } from '../entrants/contender.ts';
import type { Bench } from '../machines/bench.ts';
import { runUnmeasured } from '../machines/measure.ts';
import type { Attempt } from '../scenarios/scenario.ts';
import { clearFolders } from './clear-folders.ts';
import { checkArrival, type Fingerprint } from './fingerprint.ts';

type Checker = Pick<Bench, 'courier' | 'newPath' | 'reach' | 'signal'>;
type Requests = Parameters<Attempt['check']>[1];

/**
 * Compares the objects with what was sent: as files in the server's folder where they are such, else fetched by a tool
 * of other people's.
 *
 * @throws Error when they are anything else.
 */
export async function checkPlainObjects(bench: Checker, place: Place, sent: Fingerprint): Promise<void> {
  if (place.storesPlainFiles) return checkArrival(place.storeFolder, sent);
  const folder = bench.newPath('arrived');
  try {
    const courier = await bench.courier();
    // The latency of the way back is not what is checked.
    await runUnmeasured(courier.download(await bench.reach(place, 0), folder), bench.signal);
    checkArrival(folder, sent);
  } finally {
    await clearFolders(folder);
  }
}

/**
 * Remembers what is at a place and answers with a check that a run left it so, and looked at it: by the requests that the
 * server took, or where it keeps no log by a listing with times, before and after.
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

/** The same text as long as no object was written, removed or written again. */
async function listObjects(bench: Checker, place: Place): Promise<string> {
  const courier = await bench.courier();
  const listing = await runUnmeasured(courier.list(await bench.reach(place, 0)), bench.signal);
  // rclone walks prefixes in parallel.
  return listing.split('\n').sort().join('\n');
}

/** Below the server, which reads its folder anew for each request: to delete 50,000 objects through it takes as long as a run. */
export async function removePlace({ storeFolder, cacheFolder }: Place): Promise<void> {
  await clearFolders(storeFolder, cacheFolder);
}
