/** Entrants that bring one object from one S3 server to another. */
import type { Bench } from './bench.ts';
import type { Contender, ContenderName, Place } from './contender.ts';
import { type DatasetShape, pathOfFile } from './dataset.ts';
import { runUnmeasured } from './measure.ts';
import type { Attempt, Entrant } from './scenario.ts';
import { checkPlainObjects, removePlace } from './stored-objects.ts';
import { mapContenders } from './transfer-entrants.ts';

export interface AcrossOptions {
  readonly objectBytes: number;
  readonly contenders: readonly ContenderName[];
  /** Of each round trip, to either server. */
  readonly latencyMs: number;
}

export async function openAcross(
  bench: Bench,
  { objectBytes, contenders, latencyMs }: AcrossOptions,
): Promise<readonly Entrant[]> {
  const shape: DatasetShape = { files: 1, bytesMax: objectBytes, sizes: 'equal' };
  const data = await bench.dataset(shape);
  let source: Promise<Place> | undefined;
  const upload = async (): Promise<Place> => {
    const { source: place } = await bench.newPlacePair(objectBytes);
    await runUnmeasured((await bench.courier()).upload(data.folder, place), bench.signal);
    return place;
  };
  const sourcePlace = () => {
    source ??= upload();
    return source;
  };
  const createEntrant = ({ copyAcross, name }: Contender): Pick<Entrant, 'missing' | 'setUp' | 'prepare'> => {
    const missing = `${name} copies within one server alone`;
    if (!copyAcross) return { missing, prepare: () => Promise.reject(new Error(missing)) };
    return {
      setUp: async () => {
        await sourcePlace();
      },
      prepare: async (): Promise<Attempt> => {
        const { destination: empty } = await bench.newPlacePair(objectBytes);
        const source = await bench.reach(await sourcePlace(), latencyMs);
        const destination = await bench.reach(empty, latencyMs);
        return {
          command: copyAcross(source, destination, pathOfFile(0)),
          check: () => checkPlainObjects(bench, destination, data.fingerprint()),
          close: () => removePlace(destination),
        };
      },
    };
  };
  return mapContenders(bench, contenders, createEntrant);
}
