/**
 * Entrants that do one work at several sizes, to measure how time and memory grow with the number of files.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { formatCount } from '../../engine/api/text/numbers.ts';
import { clearFolders } from '../data/clear-folders.ts';
import type { DatasetShape } from '../data/dataset.ts';
import { checkArrival } from '../data/fingerprint.ts';
import { writtenTree } from '../data/written-trees.ts';
import type { Bench } from '../machines/bench.ts';
import { type CommandRun, runUnmeasured } from '../machines/measure.ts';
import type { Attempt, Entrant } from '../scenarios/scenario.ts';
import type { Contender, Place } from './contender.ts';
import { drayCommand } from './contenders.ts';
import { rcloneHashes } from './rclone.ts';
import { mapContenders, openClone, openFirstPush } from './transfer-entrants.ts';

/** A run that only starts. Its time is subtracted before growth is computed. */
export const START = 'dray --version';

export interface GrowthOptions {
  readonly shapes: readonly DatasetShape[];
  /** The added latency of each round trip. */
  readonly latencyMs: number;
  /** The program that Node runs as Dray. */
  readonly program: string;
}

type Size = Omit<GrowthOptions, 'shapes'> & { readonly shape: DatasetShape };

/** `status, 1,000,000 files`. */
export function sizedName(work: string, { files }: DatasetShape): string {
  return `${work}, ${formatCount(files)} files`;
}

/** Opens the work at each size, the smallest first, and a start without work. */
export async function openGrowth(
  bench: Bench,
  { shapes, ...rest }: GrowthOptions,
  open: (bench: Bench, size: Size) => Promise<readonly Entrant[]>,
): Promise<readonly Entrant[]> {
  const field: Entrant[] = [];
  for (const shape of shapes) {
    const entrants = await open(bench, { ...rest, shape });
    field.push(
      ...entrants.map((entrant) => ({
        ...entrant,
        name: sizedName(entrant.name, shape),
        files: shape.files,
      })),
    );
  }
  const command = { file: process.execPath, args: [rest.program, '--version'], environment: process.env };
  const start: Attempt = { command, check: async () => {}, close: async () => {} };
  return [...field, { name: START, kind: 'reference', prepare: async () => start }];
}

/** A workspace without an index: everything is read and hashed, and nothing is sent. */
export async function openScan(bench: Bench, { shape, program }: Size): Promise<readonly Entrant[]> {
  const { folder } = await bench.dataset(shape);
  const forget = () => rm(join(folder, '.dray'), { recursive: true, force: true });
  return mapContenders(bench, ['dray', 'rclone'], (contender) => {
    if (contender.name !== 'dray')
      return rename('rclone md5sum', {
        prepare: async () => ({
          command: rcloneHashes(contender, folder, await bench.newPlace()),
          check: async ({ output }) => checkLines(output, shape),
          close: async () => {},
        }),
      });
    return rename('dray push --dry-run', {
      prepare: async () => {
        const place = await bench.newPlace();
        await forget();
        await makeRepository(bench, contender, folder, place);
        return {
          command: drayCommand(program, place, ['-C', folder, 'push', '--dry-run', '--json']),
          check: async (run) => {
            const { changes, result } = summaryOf(run);
            if (result !== 'wouldPush') throw new Error(`it answered ${result}`);
            checkCount(changes.added, shape);
          },
          close: forget,
        };
      },
    });
  });
}

/**
 * Nothing has changed since the last push. rclone compares with as many objects by size, which a listing
 * shows.
 */
export async function openUnchanged(bench: Bench, size: Size): Promise<readonly Entrant[]> {
  const { shape, program } = size;
  const pushed = once(() => pushOnce(bench, shape));
  const dray = (['status', 'push'] as const).flatMap((work) =>
    mapContenders(bench, ['dray'], () =>
      rename(`dray ${work}`, {
        setUp: async () => {
          await pushed();
        },
        prepare: async () => {
          const { folder, place } = await pushed();
          return {
            command: drayCommand(program, place, ['-C', folder, work, '--json']),
            check: async (run) => checkUnchanged(run, work, shape),
            close: async () => {},
          };
        },
      }),
    ),
  );
  const objects = objectsOf(bench, size);
  const rclone = mapContenders(bench, ['rclone'], ({ dryRun }) =>
    rename('rclone sync --dry-run --size-only', {
      setUp: async () => {
        await objects();
      },
      prepare: async () => {
        const [place, { folder }] = [await objects(), await bench.dataset(shape)];
        if (!dryRun) throw new Error('it has no dry run');
        return {
          command: dryRun.syncBySize(folder, place),
          check: async ({ output }) => {
            if (dryRun.pathsNamed(output, place).length > 0) throw new Error('it found changes');
          },
          close: async () => {},
        };
      },
    }),
  );
  return [...dray, ...rclone];
}

/** Lists all objects below a prefix, with sizes or times. */
export async function openList(bench: Bench, size: Size): Promise<readonly Entrant[]> {
  const { shape, program } = size;
  const objects = objectsOf(bench, size);
  const setUp = async () => {
    await objects();
  };
  return mapContenders(bench, ['dray', 'rclone'], ({ name }) => {
    if (name === 'dray')
      return rename('dray ls', {
        setUp,
        prepare: async () => {
          const place = await objects();
          const args = ['ls', `s3://${place.bucket}/${place.prefix}/`, '--recursive', '--json'];
          return {
            command: drayCommand(program, place, args),
            check: async (run) => checkCount(summaryOf(run).entries, shape),
            close: async () => {},
          };
        },
      });
    return rename('rclone lsf', {
      setUp,
      prepare: async () => ({
        command: (await bench.courier()).list(await objects()),
        check: async ({ output }) => checkLines(output, shape),
        close: async () => {},
      }),
    });
  });
}

/** Pushes to a new place. */
export async function openPush(bench: Bench, { shape, latencyMs }: Size): Promise<readonly Entrant[]> {
  const field = await openFirstPush(bench, { shape, contenders: ['dray', 'rclone'], latencyMs });
  return field.map((entrant) => ({
    ...entrant,
    name: entrant.name === 'dray' ? 'dray push' : 'rclone copy',
  }));
}

/**
 * Clones into a new folder. rclone's objects are not uploaded by rclone: a million would take longer than all
 * the rest.
 */
export async function openFetch(bench: Bench, size: Size): Promise<readonly Entrant[]> {
  const { shape, latencyMs } = size;
  const field = await openClone(bench, { shape, contenders: ['dray'], latencyMs });
  const objects = objectsOf(bench, size);
  const rclone = mapContenders(bench, ['rclone'], (contender) =>
    rename('rclone copy', {
      setUp: async () => {
        await objects();
      },
      prepare: async () => {
        const folder = bench.newPath('fetched');
        return {
          command: contender.download(await objects(), folder),
          check: async () => checkArrival(folder, (await bench.dataset(shape)).fingerprint()),
          close: () => clearFolders(folder),
        };
      },
    }),
  );
  return [...field.map((entrant) => ({ ...entrant, name: 'dray clone' })), ...rclone];
}

/** Its own workspace, since no peer may find the folder of Dray's index. */
async function pushOnce(
  bench: Bench,
  shape: DatasetShape,
): Promise<{ readonly folder: string; readonly place: Place }> {
  const dray = bench.contenders.get('dray');
  if (!dray || 'missing' in dray) throw new Error('Dray does not take part.');
  const { folder } = await bench.dataset(shape, 'dray');
  const place = await bench.newPlace();
  await rm(join(folder, '.dray'), { recursive: true, force: true });
  await makeRepository(bench, dray, folder, place);
  await runUnmeasured(dray.upload(folder, place), bench.signal);
  return { folder, place };
}

async function makeRepository(bench: Bench, dray: Contender, folder: string, place: Place): Promise<void> {
  const command = dray.prepareUpload?.(folder, place);
  if (command) await runUnmeasured(command, bench.signal);
}

/** As many objects as files, shared by all scenarios. */
function objectsOf(bench: Bench, { shape, latencyMs }: Size): () => Promise<Place> {
  return async () => bench.reach(await writtenTree(bench, shape), latencyMs);
}

function once<Answer>(find: () => Promise<Answer>): () => Promise<Answer> {
  let found: Promise<Answer> | undefined;
  return () => {
    found ??= find();
    return found;
  };
}

/** Keeps the contender's kind and names the row after the work. */
function rename<Work extends Pick<Entrant, 'setUp' | 'prepare'>>(name: string, work: Work) {
  return { ...work, name };
}

interface Summary {
  readonly result?: string;
  readonly changes: { readonly added: number; readonly modified: number; readonly deleted: number };
  readonly files?: number;
  readonly entries?: number;
}

/** The summary in the last line of output. */
function summaryOf({ output }: CommandRun): Summary {
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}

function checkUnchanged(run: CommandRun, work: 'status' | 'push', shape: DatasetShape): void {
  const { changes, files, result } = summaryOf(run);
  if (changes.added + changes.modified + changes.deleted !== 0)
    throw new Error('it found changes, but there are none');
  if (work === 'status') checkCount(files, shape);
  else if (result !== 'nothingToPush') throw new Error('it pushed again');
}

function checkLines(output: string, shape: DatasetShape): void {
  checkCount(output.trim().split('\n').length, shape);
}

function checkCount(count: number | undefined, { files }: DatasetShape): void {
  if (count !== files) throw new Error(`it saw ${count} of ${files} files`);
}
