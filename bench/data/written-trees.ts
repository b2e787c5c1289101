/** A tree of plain objects that is written where the server keeps them: to upload a million takes a quarter of an hour. */

import type { Place } from '../entrants/contender.ts';
import type { Bench } from '../machines/bench.ts';
import { runUnmeasured } from '../machines/measure.ts';
import { writtenHolding } from '../scenarios/holding.ts';
import { type DatasetShape, writeDataset } from './dataset.ts';

/**
 * Its objects have names and sizes, and nothing of what an upload would have said of them besides. Where the server's objects
 * are no files, they are uploaded.
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
