/** Entrants that copy a dataset: to the store, to it again, and back. */
import { join } from 'node:path';
import { clearFolders } from '../data/clear-folders.ts';
import type { DatasetShape } from '../data/dataset.ts';
import { checkArrival } from '../data/fingerprint.ts';
import { checkPlainObjects, guardObjects, removePlace } from '../data/stored-objects.ts';
import type { Bench, Dataset } from '../machines/bench.ts';
import { runUnmeasured } from '../machines/measure.ts';
import type { Attempt, Entrant } from '../scenarios/scenario.ts';
import { type Contender, type ContenderName, isDray, type Place } from './contender.ts';
import { rcloneByServerTime } from './rclone.ts';

export const NODE_ALONE = 'node -e 0';
export const RCLONE_BY_SERVER_TIME = 'rclone (server times)';

export interface TransferOptions {
  readonly shape: DatasetShape;
  readonly contenders: readonly ContenderName[];
  /** The added latency of each round trip. */
  readonly latencyMs: number;
}

/** Each run uploads to an empty place. */
export async function openFirstPush(
  bench: Bench,
  { shape, contenders, latencyMs }: TransferOptions,
): Promise<readonly Entrant[]> {
  const data = await bench.dataset(shape);
  return mapContenders(bench, contenders, (contender) => ({
    prepare: async () => {
      const place = await bench.newPlace(latencyMs);
      await prepareUpload(bench, contender, data, place);
      return {
        command: contender.upload(data.folder, place),
        check: () => checkStored(bench, contender, data, place),
        close: async () => {
          await clearFolders(join(data.folder, '.dray'));
          await removePlace(place);
        },
      };
    },
  }));
}

/** All runs of an entrant upload to a place that has everything. */
export async function openSecondPush(bench: Bench, options: TransferOptions): Promise<readonly Entrant[]> {
  const shared = await bench.dataset(options.shape);
  const createEntrant = (contender: Contender) => {
    let state: { readonly data: Dataset; readonly place: Place } | undefined;
    return {
      setUp: async () => {
        // Peers must not find the folder of Dray's index.
        const data = contender.name === 'dray' ? await bench.dataset(options.shape, 'dray') : shared;
        // The folder may come from another heat.
        await clearFolders(join(data.folder, '.dray'));
        const place = await uploadOnce(bench, contender, data);
        state = { data, place: await bench.reach(place, options.latencyMs) };
      },
      prepare: async (): Promise<Attempt> => {
        if (!state) throw new Error('The first push is missing.');
        const { data, place } = state;
        // restic writes a snapshot even if nothing changed.
        const guard = contender.name === 'restic' ? undefined : await guardObjects(bench, place);
        return {
          command: contender.uploadAgain(data.folder, place),
          check: async (_run, requests) => guard?.(requests),
          close: async () => {},
        };
      },
    };
  };
  const entrants = mapContenders(bench, options.contenders, createEntrant);
  const rclone = bench.contenders.get('rclone');
  const variant: readonly Entrant[] =
    rclone && !('missing' in rclone)
      ? [{ name: RCLONE_BY_SERVER_TIME, kind: 'peer', ...createEntrant(rcloneByServerTime(rclone)) }]
      : [];
  return [...entrants, ...variant, createNodeAlone()];
}

/**
 * Datasets and restic's snapshots come from their own repositories, plain trees all from the same objects.
 */
export async function openClone(
  bench: Bench,
  { shape, contenders, latencyMs }: TransferOptions,
): Promise<readonly Entrant[]> {
  const data = await bench.dataset(shape);
  return mapContenders(bench, contenders, (contender) => {
    let place: Place | undefined;
    return {
      setUp: async () => {
        const stored = contender.isPlain
          ? await bench.stored(shape)
          : await uploadOnce(bench, contender, data);
        await clearFolders(join(data.folder, '.dray'));
        place = await bench.reach(stored, latencyMs);
      },
      prepare: async () => {
        if (!place) throw new Error('The place to download from is missing.');
        const folder = bench.newPath('fetched');
        return {
          command: contender.download(place, folder),
          check: async () => checkArrival(folder, data.fingerprint()),
          close: () => clearFolders(folder),
        };
      },
    };
  });
}

export function mapContenders(
  bench: Bench,
  names: readonly ContenderName[],
  create: (contender: Contender) => Pick<Entrant, 'missing' | 'setUp' | 'prepare'>,
): readonly Entrant[] {
  return names.flatMap((name): Entrant[] => {
    const contender = bench.contenders.get(name);
    if (!contender) return [];
    const kind = isDray(name) ? 'dray' : 'peer';
    if ('missing' in contender) return [createMissing(name, contender.missing)];
    return [{ name, kind, ...create(contender) }];
  });
}

export function createMissing(name: ContenderName, missing: string): Entrant {
  return { name, kind: 'peer', ...createUnable(missing) };
}

/** A contender that cannot do a scenario's work. */
export function createUnable(missing: string): Pick<Entrant, 'missing' | 'prepare'> {
  return { missing, prepare: () => Promise.reject(new Error(missing)) };
}

/** The time that any command for Node needs before its first line runs. */
function createNodeAlone(): Entrant {
  const command = { file: process.execPath, args: ['-e', '0'], environment: process.env };
  return {
    name: NODE_ALONE,
    kind: 'reference',
    prepare: async () => ({ command, check: async () => {}, close: async () => {} }),
  };
}

async function prepareUpload(bench: Bench, contender: Contender, data: Dataset, place: Place): Promise<void> {
  const command = contender.prepareUpload?.(data.folder, place);
  if (command) await runUnmeasured(command, bench.signal);
}

async function uploadOnce(bench: Bench, contender: Contender, data: Dataset): Promise<Place> {
  const place = await bench.newPlace();
  await prepareUpload(bench, contender, data, place);
  await runUnmeasured(contender.upload(data.folder, place), bench.signal);
  return place;
}

/** Data in a repository can only be fetched with the tool that stored it. */
async function checkStored(bench: Bench, contender: Contender, data: Dataset, place: Place): Promise<void> {
  if (contender.isPlain) return checkPlainObjects(bench, place, data.fingerprint());
  const folder = bench.newPath('arrived');
  try {
    // Downloads directly: the latency is not part of the check.
    const direct = await bench.reach(place, 0);
    await runUnmeasured(contender.download(direct, folder), bench.signal);
    checkArrival(folder, data.fingerprint());
  } finally {
    await clearFolders(folder);
  }
}
