/** A tree of plain objects that is written where the server keeps them: to upload a million takes a quarter of an hour. */
import type { Bench } from './bench.ts';
import type { Place } from './contender.ts';
import { type DatasetShape, writeDataset } from './dataset.ts';

const written = new WeakMap<Bench['server'], Map<string, Place>>();

/**
 * One for all scenarios of a bench. Its objects have names and sizes, and nothing of what an upload would have said of them
 * besides. Where the server's objects are no files, they are uploaded.
 */
export async function writtenTree(bench: Bench, shape: DatasetShape): Promise<Place> {
  const known = written.get(bench.server) ?? new Map<string, Place>();
  written.set(bench.server, known);
  const key = JSON.stringify(shape);
  const present = known.get(key);
  if (present) return present;
  const place = await bench.newPlace();
  if (!place.storesPlainFiles) return bench.stored(shape);
  writeDataset(place.storeFolder, shape);
  known.set(key, place);
  return place;
}
