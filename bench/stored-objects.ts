/** What lies at a place, seen without the tool that is measured. */
import { rm } from 'node:fs/promises';
import type { Bench } from './bench.ts';
import type { Place } from './contender.ts';
import { checkArrival, type Fingerprint } from './fingerprint.ts';
import { runUnmeasured } from './measure.ts';

type Checker = Pick<Bench, 'courier' | 'newPath' | 'reach' | 'signal'>;

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
    await runUnmeasured(courier.download(await bench.reach(place, 'direct'), folder), bench.signal);
    checkArrival(folder, sent);
  } finally {
    await clearFolders(folder);
  }
}

/** The same text as long as no object was written, removed or written again. */
export async function listObjects(bench: Checker, place: Place): Promise<string> {
  const courier = await bench.courier();
  return runUnmeasured(courier.list(await bench.reach(place, 'direct')), bench.signal);
}

/** Below the server, which reads its folder anew for each request: to delete 50,000 objects through it takes as long as a run. */
export async function removePlace({ storeFolder, cacheFolder }: Place): Promise<void> {
  await clearFolders(storeFolder, cacheFolder);
}

/** With what tools keep beside a folder. */
export async function clearFolders(...folders: readonly string[]): Promise<void> {
  for (const folder of folders)
    for (const path of [folder, `${folder}.restic-cache`, `${folder}.dray-cache`])
      await rm(path, { recursive: true, force: true });
}
