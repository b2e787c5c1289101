/** Entrants that bring one object, or a tree of them, from one S3 server to another. */
import type { Bench } from './bench.ts';
import type { Contender, ContenderName, Place } from './contender.ts';
import { type DatasetShape, diskBytesOf, pathOfFile } from './dataset.ts';
import { runUnmeasured } from './measure.ts';
import type { Attempt, Entrant } from './scenario.ts';
import { checkPlainObjects, removePlace } from './stored-objects.ts';
import { mapContenders } from './transfer-entrants.ts';

export interface AcrossOptions {
  /** Of one file, which is named by itself, or of more, of which their prefix is named. */
  readonly shape: DatasetShape;
  readonly contenders: readonly ContenderName[];
  /** Of each round trip, to either server. */
  readonly latencyMs: number;
}

export async function openAcross(
  bench: Bench,
  { shape, contenders, latencyMs }: AcrossOptions,
): Promise<readonly Entrant[]> {
  const name = shape.files === 1 ? pathOfFile(0) : undefined;
  const roomBytes = diskBytesOf(shape);
  const data = await bench.dataset(shape);
  let source: Promise<Place> | undefined;
  const upload = async (): Promise<Place> => {
    const { source: place } = await bench.newPlacePair(roomBytes);
    await runUnmeasured((await bench.courier()).upload(data.folder, place), bench.signal);
    return place;
  };
  const sourcePlace = () => {
    source ??= upload();
    return source;
  };
  const createEntrant = ({
    copyAcross,
    name: tool,
  }: Contender): Pick<Entrant, 'missing' | 'setUp' | 'prepare'> => {
    const missing = `${tool} copies within one server alone`;
    if (!copyAcross) return { missing, prepare: () => Promise.reject(new Error(missing)) };
    return {
      setUp: async () => {
        await sourcePlace();
      },
      prepare: async (): Promise<Attempt> => {
        const { destination: empty } = await bench.newPlacePair(roomBytes);
        const source = await bench.reach(await sourcePlace(), latencyMs);
        const destination = await bench.reach(empty, latencyMs);
        return {
          command: copyAcross(source, destination, name),
          check: () => checkPlainObjects(bench, destination, data.fingerprint()),
          close: () => removePlace(destination),
        };
      },
    };
  };
  return mapContenders(bench, contenders, createEntrant);
}
