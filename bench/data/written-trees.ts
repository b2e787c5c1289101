/**
 * A tree of plain objects that is written into the server's folder: uploading a million takes a quarter of an
 * hour.
 */

import type { Place } from '../entrants/contender.ts';
import type { Bench } from '../machines/bench.ts';
import { runUnmeasured } from '../machines/measure.ts';
import { writtenHolding } from '../scenarios/holding.ts';
import { type DatasetShape, writeDataset } from './dataset.ts';

/**
 * The objects have names and sizes, but no metadata of an upload. Where the server's objects are not plain
 * files, they are uploaded.
 */
export function writtenTree(bench: Bench, shape: DatasetShape): Promise<Place> {
  return bench.hold(writtenHolding(shape), async () => {
    const place = await bench.newPlace();
    if (place.storesPlainFiles) writeDataset(place.storeFolder, shape);
    else {
      const { folder } = await bench.dataset(shape);
      await runUnmeasured((await bench.courier()).upload(folder, place), bench.signal);
    }
    return { thing: place, folders: [place.storeFolder, place.cacheFolder] };
  });
}
