/** Entrants that copy one object or a tree from one S3 server to another. */

import { type DatasetShape, pathOfFile } from '../data/dataset.ts';
import { checkPlainObjects, removePlace } from '../data/stored-objects.ts';
import type { Bench } from '../machines/bench.ts';
import { runUnmeasured } from '../machines/measure.ts';
import { datasetHolding, type Needs } from '../scenarios/holding.ts';
import { roomOf } from '../scenarios/room.ts';
import type { Attempt, Entrant } from '../scenarios/scenario.ts';
import type { Contender, ContenderName, Place } from './contender.ts';
import { mapContenders } from './transfer-entrants.ts';

/** The copies at the source, at the destination, and of the parts there. */
const COPIES = 3;

export interface AcrossOptions {
  /** One file is copied by its name, several by their prefix. */
  readonly shape: DatasetShape;
  readonly contenders: readonly ContenderName[];
  /** The latency of each round trip to either server. */
  readonly latencyMs: number;
}

export function needsOfAcross(shape: DatasetShape): Needs {
  return { holdings: [datasetHolding(shape)], fetched: roomOf(shape), offered: roomOf(shape, COPIES) };
}

export async function openAcross(
  bench: Bench,
  { shape, contenders, latencyMs }: AcrossOptions,
): Promise<readonly Entrant[]> {
  const name = shape.files === 1 ? pathOfFile(0) : undefined;
  const room = roomOf(shape, COPIES);
  const data = await bench.dataset(shape);
  let source: Promise<Place> | undefined;
  const upload = async (): Promise<Place> => {
    const { source: place } = await bench.newPlacePair(room);
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
        const { destination: empty } = await bench.newPlacePair(room);
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
