/** Entrants that say what an upload would do: of a few files against many objects, of many against none, of a million. */
import { appendFileSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bench } from './bench.ts';
import type { Contender, ContenderName, DryRun, Place } from './contender.ts';
import { s5cmdOneByOne } from './contenders.ts';
import { type DatasetShape, pathOfFile, sizeOfFile, writeDataset } from './dataset.ts';
import { rcloneWithoutListing } from './rclone.ts';
import type { Attempt, Entrant } from './scenario.ts';
import { clearFolders, guardObjects } from './stored-objects.ts';
import { mapContenders, type TransferOptions } from './transfer-entrants.ts';

export const RCLONE_WITHOUT_LISTING = 'rclone (no traverse)';
export const S5CMD_ONE_BY_ONE = 's5cmd (one by one)';

export interface DryRunOptions {
  /** What is at the destination; absent: nothing. */
  readonly stored?: DatasetShape;
  readonly local: Local;
  readonly contenders: readonly ContenderName[];
  /** Of each round trip. */
  readonly latencyMs: number;
}

export type Local =
  | { readonly kind: 'all'; readonly shape: DatasetShape }
  /** Of what is stored, every so manieth file; the first `changed` of them have grown. */
  | { readonly kind: 'some'; readonly files: number; readonly changed: number };

/** Nothing is remembered of the destination. What each names has to be what has changed. */
export async function openDryRun(bench: Bench, options: DryRunOptions): Promise<readonly Entrant[]> {
  const { folder, changed } = await openLocal(bench, options);
  const attemptsOf = (dryRun: DryRun): Pick<Entrant, 'setUp' | 'prepare'> => ({
    setUp: async () => {
      if (options.stored) await bench.stored(options.stored);
    },
    prepare: async () => {
      const fresh = await bench.newPlace(options.latencyMs);
      const place: Place = options.stored
        ? {
            ...(await bench.reach(await bench.stored(options.stored), options.latencyMs)),
            cacheFolder: fresh.cacheFolder,
          }
        : fresh;
      return prepareDryRun(bench, { dryRun, place, changed, command: dryRun.command(folder, place) });
    },
  });
  const variants = [
    createVariant(bench, 'rclone', RCLONE_WITHOUT_LISTING, rcloneWithoutListing),
    createVariant(bench, 's5cmd', S5CMD_ONE_BY_ONE, s5cmdOneByOne),
  ].flatMap((variant) => variant ?? []);
  return [
    ...mapContenders(bench, options.contenders, ({ dryRun }) =>
      dryRun ? attemptsOf(dryRun) : createUnable('it has no dry run'),
    ),
    ...variants.map(({ name, dryRun }): Entrant => ({ name, kind: 'peer', ...attemptsOf(dryRun) })),
  ];
}

/**
 * A folder against objects of the same names and sizes but for the last, by size alone: what is measured is listing and
 * comparing, and who names the last has come to the end. Where the server's objects are files they are written as such; to
 * upload a million takes a quarter of an hour.
 */
export async function openComparison(
  bench: Bench,
  { shape, contenders, latencyMs }: TransferOptions,
): Promise<readonly Entrant[]> {
  const fresh = await bench.newPlace(latencyMs);
  if (fresh.storesPlainFiles) writeDataset(fresh.storeFolder, shape);
  const openPlace = async (): Promise<Place> =>
    fresh.storesPlainFiles
      ? fresh
      : { ...(await bench.reach(await bench.stored(shape), latencyMs)), cacheFolder: fresh.cacheFolder };
  const { folder } = await bench.dataset(shape, 'compared');
  const last = pathOfFile(shape.files - 1);
  appendFileSync(join(folder, last), 'x');
  return mapContenders(bench, contenders, ({ dryRun }) => {
    if (!dryRun) return createUnable('it has no dry run');
    return {
      setUp: async () => {
        await openPlace();
      },
      prepare: async () => {
        const place = await openPlace();
        const command = dryRun.syncBySize(folder, place);
        return prepareDryRun(bench, { dryRun, place, changed: [last], command });
      },
    };
  });
}

function createVariant(
  bench: Bench,
  of: ContenderName,
  name: string,
  vary: (contender: Contender) => Contender,
): { readonly name: string; readonly dryRun: DryRun } | undefined {
  const contender = bench.contenders.get(of);
  const dryRun = contender && !('missing' in contender) ? vary(contender).dryRun : undefined;
  return dryRun && { name, dryRun };
}

function createUnable(missing: string): Pick<Entrant, 'missing' | 'prepare'> {
  return { missing, prepare: () => Promise.reject(new Error(missing)) };
}

interface DryRunAttempt extends Pick<Attempt, 'command'> {
  readonly dryRun: DryRun;
  readonly place: Place;
  readonly changed: readonly string[];
}

async function prepareDryRun(bench: Bench, attempt: DryRunAttempt): Promise<Attempt> {
  const { command, dryRun, place, changed } = attempt;
  const guard = await guardObjects(bench, place);
  return {
    command,
    check: async ({ output }, requests) => {
      await guard(requests);
      checkNamed(dryRun.pathsNamed(output, place), changed);
    },
    close: () => clearFolders(place.cacheFolder),
  };
}

async function openLocal(
  bench: Bench,
  { local, stored }: DryRunOptions,
): Promise<{ readonly folder: string; readonly changed: readonly string[] }> {
  if (local.kind === 'all') {
    const { folder } = await bench.dataset(local.shape);
    return { folder, changed: Array.from({ length: local.shape.files }, (_, index) => pathOfFile(index)) };
  }
  if (!stored) throw new RangeError('Some of nothing is nothing.');
  const { folder: whole } = await bench.dataset(stored);
  const folder = bench.newPath('local');
  return {
    folder,
    changed: writeSample({ whole, stored, folder, files: local.files, changed: local.changed }),
  };
}

export interface Sample {
  readonly whole: string;
  readonly stored: DatasetShape;
  readonly folder: string;
  readonly files: number;
  readonly changed: number;
}

/** Hard links, which have the times of what was stored to the nanosecond. Answers with the paths of what has changed. */
export function writeSample({ whole, stored, folder, files, changed }: Sample): readonly string[] {
  const step = Math.floor(stored.files / files);
  if (step === 0) throw new RangeError(`There are no ${files} files in ${stored.files}.`);
  const paths: string[] = [];
  for (let index = 0; index < files; index += 1) {
    const path = pathOfFile(index * step);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (index >= changed) {
      linkSync(join(whole, path), join(folder, path));
      continue;
    }
    writeFileSync(join(folder, path), Buffer.alloc(sizeOfFile(stored, index * step) + 1, 'x'));
    paths.push(path);
  }
  return paths;
}

/** @throws Error when the two are not the same paths, each once. */
export function checkNamed(named: readonly string[], changed: readonly string[]): void {
  if (named.length !== changed.length)
    throw new Error(`it named ${named.length} files, and ${changed.length} would have to be sent`);
  const unnamed = new Set(changed);
  for (const path of named)
    if (!unnamed.delete(path)) throw new Error(`it named ${path}, which has not changed or was named before`);
}
