/**
 * Entrants that say what an upload would do: a few files against many objects, many against none, a million
 * against a million.
 */
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
  /** The objects at the destination. Absent: none. */
  readonly stored?: DatasetShape;
  readonly local: Local;
  /**
   * Absent: each tool's default. By size, the objects may be written instead of uploaded, which makes a
   * million of them feasible.
   */
  readonly by?: 'size';
  readonly contenders: readonly ContenderName[];
  /** The added latency of each round trip. */
  readonly latencyMs: number;
}

export type Local =
  | { readonly kind: 'all'; readonly shape: DatasetShape }
  /** A sample of the stored files at equal distances; the first `changed` of them have grown. */
  | { readonly kind: 'some'; readonly files: number; readonly changed: number };

/** The needs of plain trees: some of the local files are links, the grown ones are new. */
export function needsOfDryRun({ by, local, stored }: LocalOptions): Needs {
  const whole = local.kind === 'all' ? local.shape : stored;
  const objects = by === 'size' ? writtenHolding : uploadedHolding;
  return {
    holdings: [...(whole ? [datasetHolding(whole, ownerOf(by))] : []), ...(stored ? [objects(stored)] : [])],
    ...(stored && local.kind === 'some' ? { source: roomOf({ ...stored, files: local.files }) } : {}),
  };
}

/** The destination has no cache. Each tool must name exactly the changed files. */
export async function openDryRun(bench: Bench, options: DryRunOptions): Promise<readonly Entrant[]> {
  const { by, stored } = options;
  const open = (shape: DatasetShape) => (by === 'size' ? writtenTree(bench, shape) : bench.stored(shape));
  // Stored first: a changed file must be younger than its object for tools that compare times.
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
 * A comparison by size of a folder with objects of the same names and sizes, except for the last: it measures
 * listing and comparing, and a tool that names the last file has reached the end.
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
  // Changed once only; other scenarios use the folder too.
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
  /** The paths that an upload would send. */
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

/** Makes the local files in their own folder. */
export async function linkLocal(bench: Bench, options: LocalOptions): Promise<LocalFiles> {
  const { local, stored } = options;
  const shape = local.kind === 'all' ? local.shape : stored;
  if (!shape) throw new RangeError('A sample needs stored files.');
  const { folder: whole } = await bench.dataset(shape, ownerOf(options.by));
  const folder = bench.newPath('local');
  const files = local.kind === 'all' ? shape.files : local.files;
  const changed = local.kind === 'all' ? 0 : local.changed;
  const paths = listSample(shape, files);
  const grown = writeSample({ whole, stored: shape, folder, files, changed });
  return { folder, paths, changed: local.kind === 'all' ? paths : grown };
}

const COMPARED = 'compared';

/** A million files are written once: the folder with the grown last file serves here as well. */
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

/**
 * Makes hard links, which keep the stored files' times to the nanosecond. Returns the paths of the changed
 * files.
 */
export function writeSample({ whole, stored, folder, files, changed }: Sample): readonly string[] {
  const grown: string[] = [];
  for (const [index, path] of listSample(stored, files).entries()) {
    const own = join(folder, path);
    mkdirSync(dirname(own), { recursive: true });
    if (index >= changed) {
      linkSync(join(whole, path), own);
      continue;
    }
    // Each content is new and differs from every stored one: a million files cover all contents of one byte.
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
    throw new Error(`it named ${named.length} files instead of ${changed.length}`);
  const unnamed = new Set(changed);
  for (const path of named)
    if (!unnamed.delete(path)) throw new Error(`it named ${path}, which has not changed or was named before`);
}
