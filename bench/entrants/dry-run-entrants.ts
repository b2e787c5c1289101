/** Entrants that say what an upload would do: of a few files against many objects, of many against none, of a million. */
import { appendFileSync, linkSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clearFolders } from '../data/clear-folders.ts';
import { type DatasetShape, listPaths, pathOfFile, sizeOfFile } from '../data/dataset.ts';
import { guardObjects } from '../data/stored-objects.ts';
import { writtenTree } from '../data/written-trees.ts';
import type { Bench } from '../machines/bench.ts';
import { datasetHolding, type Needs, uploadedHolding, writtenHolding } from '../scenarios/holding.ts';
import { roomOf } from '../scenarios/room.ts';
import type { Attempt, Entrant } from '../scenarios/scenario.ts';
import type { Contender, ContenderName, DryRun, Place } from './contender.ts';
import { s5cmdOneByOne } from './contenders.ts';
import { rcloneWithoutListing } from './rclone.ts';
import { createUnable, mapContenders, type TransferOptions } from './transfer-entrants.ts';

export const RCLONE_WITHOUT_LISTING = 'rclone (no traverse)';
export const S5CMD_ONE_BY_ONE = 's5cmd (one by one)';

export interface DryRunOptions {
  /** What is at the destination; absent: nothing. */
  readonly stored?: DatasetShape;
  readonly local: Local;
  /** Absent: each as it does. By size what is stored may be written, instead of uploaded, and a million of it is feasible. */
  readonly by?: 'size';
  readonly contenders: readonly ContenderName[];
  /** Of each round trip. */
  readonly latencyMs: number;
}

export type Local =
  | { readonly kind: 'all'; readonly shape: DatasetShape }
  /** Of what is stored, every so manieth file; the first `changed` of them have grown. */
  | { readonly kind: 'some'; readonly files: number; readonly changed: number };

/** Of plain trees: where some of the files are local, they are links or, where they have grown, new. */
export function needsOfDryRun({ by, local, stored }: LocalOptions): Needs {
  const whole = local.kind === 'all' ? local.shape : stored;
  const objects = by === 'size' ? writtenHolding : uploadedHolding;
  return {
    holdings: [...(whole ? [datasetHolding(whole, ownerOf(by))] : []), ...(stored ? [objects(stored)] : [])],
    ...(stored && local.kind === 'some' ? { source: roomOf({ ...stored, files: local.files }) } : {}),
  };
}

/** Nothing is remembered of the destination. What each names has to be what has changed. */
export async function openDryRun(bench: Bench, options: DryRunOptions): Promise<readonly Entrant[]> {
  const { by, stored } = options;
  const open = (shape: DatasetShape) => (by === 'size' ? writtenTree(bench, shape) : bench.stored(shape));
  // First: what has changed here has to be younger than its object for tools that go by that.
  if (stored) await open(stored);
  const { folder, changed } = await openLocal(bench, options);
  const attemptsOf = (dryRun: DryRun): Pick<Entrant, 'prepare'> => ({
    prepare: async () => {
      const fresh = await bench.newPlace(options.latencyMs);
      const place: Place = stored
        ? { ...(await bench.reach(await open(stored), options.latencyMs)), cacheFolder: fresh.cacheFolder }
        : fresh;
      return prepareDryRun(bench, { dryRun, place, changed, command: dryRun.command(folder, place, by) });
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

export function needsOfComparison(shape: DatasetShape): Needs {
  return { holdings: [datasetHolding(shape, COMPARED), writtenHolding(shape)] };
}

/**
 * A folder against objects of the same names and sizes but for the last, by size alone: what is measured is listing and
 * comparing, and who names the last has come to the end.
 */
export async function openComparison(
  bench: Bench,
  { shape, contenders, latencyMs }: TransferOptions,
): Promise<readonly Entrant[]> {
  const openPlace = async (): Promise<Place> => {
    const { cacheFolder } = await bench.newPlace();
    return { ...(await bench.reach(await writtenTree(bench, shape), latencyMs)), cacheFolder };
  };
  const { folder } = await bench.dataset(shape, COMPARED);
  const last = pathOfFile(shape.files - 1);
  // Once is enough, and the folder is of other scenarios too.
  if (statSync(join(folder, last)).size === sizeOfFile(shape, shape.files - 1))
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

interface LocalFiles {
  readonly folder: string;
  readonly paths: readonly string[];
  /** Of `paths`, those that would have to be sent. */
  readonly changed: readonly string[];
}

type LocalOptions = Pick<DryRunOptions, 'by' | 'local' | 'stored'>;

async function openLocal(bench: Bench, options: LocalOptions): Promise<LocalFiles> {
  const { local } = options;
  if (local.kind === 'some') return linkLocal(bench, options);
  const { folder } = await bench.dataset(local.shape, ownerOf(options.by));
  const paths = listPaths(local.shape.files);
  return { folder, paths, changed: paths };
}

/** In a folder of its own. */
export async function linkLocal(bench: Bench, options: LocalOptions): Promise<LocalFiles> {
  const { local, stored } = options;
  const shape = local.kind === 'all' ? local.shape : stored;
  if (!shape) throw new RangeError('Some of nothing is nothing.');
  const { folder: whole } = await bench.dataset(shape, ownerOf(options.by));
  const folder = bench.newPath('local');
  const files = local.kind === 'all' ? shape.files : local.files;
  const changed = local.kind === 'all' ? 0 : local.changed;
  const paths = listSample(shape, files);
  const grown = writeSample({ whole, stored: shape, folder, files, changed });
  return { folder, paths, changed: local.kind === 'all' ? paths : grown };
}

const COMPARED = 'compared';

/** A million files are written once: the folder in which the last has grown serves here as well. */
function ownerOf(by: LocalOptions['by']): string | undefined {
  return by === 'size' ? COMPARED : undefined;
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
  const grown: string[] = [];
  for (const [index, path] of listSample(stored, files).entries()) {
    const own = join(folder, path);
    mkdirSync(dirname(own), { recursive: true });
    if (index >= changed) {
      linkSync(join(whole, path), own);
      continue;
    }
    // Each another content, and none that is stored: of a single byte all are among a million files.
    writeFileSync(own, Buffer.alloc(statSync(join(whole, path)).size + path.length, path));
    grown.push(path);
  }
  return grown;
}

function listSample(stored: DatasetShape, files: number): readonly string[] {
  const step = Math.floor(stored.files / files);
  if (step === 0) throw new RangeError(`There are no ${files} files in ${stored.files}.`);
  return Array.from({ length: files }, (_, index) => pathOfFile(index * step));
}

/** @throws Error when the two are not the same paths, each once. */
export function checkNamed(named: readonly string[], changed: readonly string[]): void {
  if (named.length !== changed.length)
    throw new Error(`it named ${named.length} files, and ${changed.length} would have to be sent`);
  const unnamed = new Set(changed);
  for (const path of named)
    if (!unnamed.delete(path)) throw new Error(`it named ${path}, which has not changed or was named before`);
}
