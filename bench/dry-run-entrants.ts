/** Entrants that say what an upload would do: of a few files against many objects, of many against none, of a million. */
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bench } from './bench.ts';
import type { ContenderName, DryRun, Place } from './contender.ts';
import { type DatasetShape, pathOfFile, sizeOfFile, writeDataset } from './dataset.ts';
import type { CommandRun } from './measure.ts';
import { rcloneWithoutListing } from './rclone.ts';
import type { Attempt, Entrant } from './scenario.ts';
import { clearFolders } from './stored-objects.ts';
import { mapContenders } from './transfer-entrants.ts';

export const RCLONE_WITHOUT_LISTING = 'rclone (no traverse)';

export interface DryRunOptions {
  /** What is at the destination; absent: nothing. */
  readonly stored?: DatasetShape;
  readonly local: Local;
  readonly contenders: readonly ContenderName[];
}

export type Local =
  | { readonly kind: 'all'; readonly shape: DatasetShape }
  /** Of what is stored, every so manieth file; the first `changed` of them have grown. */
  | { readonly kind: 'some'; readonly files: number; readonly changed: number };

/** Nothing is remembered of the destination. What each names is counted. */
export async function openDryRun(bench: Bench, options: DryRunOptions): Promise<readonly Entrant[]> {
  const { folder, changed } = await openLocal(bench, options);
  const attemptsOf = (dryRun: DryRun): Pick<Entrant, 'setUp' | 'prepare'> => ({
    setUp: async () => {
      if (options.stored) await bench.stored(options.stored);
    },
    prepare: async () => {
      const fresh = await bench.newPlace('direct');
      const place: Place = options.stored
        ? { ...(await bench.stored(options.stored)), cacheFolder: fresh.cacheFolder }
        : fresh;
      return {
        command: dryRun.command(folder, place),
        check: async (run, requests) => {
          checkWritesNothing(requests);
          checkNamed(dryRun, run, changed);
        },
        close: () => clearFolders(place.cacheFolder),
      };
    },
  });
  const rclone = bench.contenders.get('rclone');
  const withoutListing = rclone && !('missing' in rclone) ? rcloneWithoutListing(rclone).dryRun : undefined;
  return [
    ...mapContenders(bench, options.contenders, ({ dryRun }) =>
      dryRun ? attemptsOf(dryRun) : createUnable(),
    ),
    ...(withoutListing
      ? [{ name: RCLONE_WITHOUT_LISTING, kind: 'peer', ...attemptsOf(withoutListing) } as const]
      : []),
  ];
}

/**
 * A folder against objects of the same names and sizes, by size alone: what is measured is listing and comparing. The
 * objects are written as files below the server, which no tool could do in reasonable time.
 */
export async function openComparison(
  bench: Bench,
  { shape, contenders }: { readonly shape: DatasetShape; readonly contenders: readonly ContenderName[] },
): Promise<readonly Entrant[]> {
  const place = await bench.newPlace('direct');
  if (!place.storesPlainFiles) {
    const missing = `objects cannot be written as files below ${bench.server.name}`;
    return mapContenders(bench, contenders, () => ({ ...createUnable(), missing }));
  }
  const { folder } = await bench.dataset(shape);
  writeDataset(place.storeFolder, shape);
  return mapContenders(bench, contenders, ({ dryRun }) => {
    if (!dryRun) return createUnable();
    return {
      prepare: async () => ({
        command: dryRun.syncBySize(folder, place),
        check: async (run, requests) => {
          checkWritesNothing(requests);
          checkNamed(dryRun, run, 0);
          const pages = requests?.filter(({ operation }) => operation.startsWith('ListObjects')).length;
          if (pages !== undefined && pages < shape.files / LIST_PAGE_KEYS)
            throw new Error(`it listed ${pages} pages, which cannot hold ${shape.files} keys`);
        },
        close: () => clearFolders(place.cacheFolder),
      }),
    };
  });
}

/** S3's bound for a page of a listing. */
const LIST_PAGE_KEYS = 1_000;

function createUnable(): Pick<Entrant, 'missing' | 'prepare'> {
  const missing = 'it has no dry run';
  return { missing, prepare: () => Promise.reject(new Error(missing)) };
}

async function openLocal(
  bench: Bench,
  { local, stored }: DryRunOptions,
): Promise<{ readonly folder: string; readonly changed: number }> {
  if (local.kind === 'all')
    return { folder: (await bench.dataset(local.shape)).folder, changed: local.shape.files };
  if (!stored) throw new RangeError('Some of nothing is nothing.');
  const { folder: whole } = await bench.dataset(stored);
  const folder = bench.newPath('local');
  writeSample({ whole, stored, folder, files: local.files, changed: local.changed });
  return { folder, changed: local.changed };
}

export interface Sample {
  readonly whole: string;
  readonly stored: DatasetShape;
  readonly folder: string;
  readonly files: number;
  readonly changed: number;
}

/** Hard links, which have the times of what was stored to the nanosecond. */
export function writeSample({ whole, stored, folder, files, changed }: Sample): void {
  const step = Math.floor(stored.files / files);
  if (step === 0) throw new RangeError(`There are no ${files} files in ${stored.files}.`);
  for (let index = 0; index < files; index += 1) {
    const path = pathOfFile(index * step);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (index >= changed) linkSync(join(whole, path), join(folder, path));
    else writeFileSync(join(folder, path), Buffer.alloc(sizeOfFile(stored, index * step) + 1, 'x'));
  }
}

function checkNamed(dryRun: DryRun, { output }: CommandRun, changed: number): void {
  const named = dryRun.countNamed(output);
  if (named !== changed) throw new Error(`it named ${named} files, and ${changed} would have to be sent`);
}

function checkWritesNothing(requests: Parameters<Attempt['check']>[1]): void {
  const written = requests?.find(
    ({ method }) => method === 'PUT' || method === 'POST' || method === 'DELETE',
  );
  if (written) throw new Error(`it wrote: ${written.operation} ${written.path}`);
}
