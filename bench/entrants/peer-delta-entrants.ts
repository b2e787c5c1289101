/** Entrants that update one huge file on another machine, most of which is equal. */
import { copyFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { startByteCounter } from '../../e2e/servers/byte-counter.ts';
import {
  BLOCK_BYTES,
  CHANGED_FILE,
  type Change,
  type ChangedFile,
  changedHolding,
  makeChanged,
  oldFileHolding,
} from '../data/changed-file.ts';
import { checkArrival } from '../data/fingerprint.ts';
import type { Bench } from '../machines/bench.ts';
import { attemptAt, offerFolder } from '../machines/offered-folder.ts';
import type { Needs } from '../scenarios/holding.ts';
import { type Room, roomOf } from '../scenarios/room.ts';
import type { Entrant } from '../scenarios/scenario.ts';
import {
  createAbsent,
  createDrayWay,
  createEntrant,
  createPdiffcopyWay,
  createRsyncWay,
  missingCommand,
  RSYNC,
  type Way,
} from './peer-ways.ts';

export const DRAY_DELTA = 'dray delta';
const DRAY_DELTA_TLS = 'dray delta (TLS)';
export const DRAY_WHOLE = 'dray delta (whole file)';
export const PDIFFCOPY = 'pdiffcopy';
const RSYNC_WHOLE = 'rsync daemon (whole file)';

const CONCURRENCY = 2;

/**
 * pdiffcopy requests each changed block by itself, so its time grows with their number. It takes part up to
 * half of 1 GiB.
 */
const PDIFFCOPY_BLOCKS_MAX = 131_072;
const PDIFFCOPY_PERCENTS: readonly number[] = [10, 50];
const PDIFFCOPY_LEFT_OUT = `left out: it asks for each changed block of ${BLOCK_BYTES} bytes by itself, and waits for each answer; see the rows of ${PDIFFCOPY_PERCENTS.join(' and ')} % without latency`;

interface DeltaOptions {
  readonly fileBytes: number;
  readonly latencyMs: number;
  /** The program that Node runs as Dray. */
  readonly program: string;
}

/** The needs for one tool at a time. */
export function needsOfDelta(change: Change): Needs {
  return {
    holdings: [oldFileHolding(change), changedHolding(change)],
    offered: offeredRoom(change.fileBytes),
  };
}

/** Room for the file, and for its replacement where it is not updated in place. */
function offeredRoom(fileBytes: number): Room {
  return roomOf({ files: 1, bytesMax: fileBytes, sizes: 'equal' }, 2);
}

/** Updates in place, which is pdiffcopy's only way. */
export async function openDelta(
  bench: Bench,
  { fileBytes, latencyMs, percent, program }: DeltaOptions & { readonly percent: number },
): Promise<readonly Entrant[]> {
  const pair = await makeChanged(bench, { fileBytes, by: { percent } });
  const missing = await missingCommand(bench, program, 'delta');
  const blocks = [`--block-size=${BLOCK_BYTES}`, `--concurrency=${CONCURRENCY}`];
  const createDray = deltaOf(program, missing);
  const ways = [
    createDray(DRAY_DELTA, ['--inplace', ...blocks]),
    createDray(DRAY_DELTA_TLS, ['--inplace', ...blocks], true),
    createDray(DRAY_WHOLE, ['--inplace', ...blocks, '--whole-file']),
    isTooMuchForPdiffcopy({ fileBytes, percent, latencyMs })
      ? createAbsent(PDIFFCOPY, PDIFFCOPY_LEFT_OUT)
      : await createPdiffcopyWay(PDIFFCOPY, { options: blocks, target: CHANGED_FILE }),
    await createRsyncWay(RSYNC, ['--inplace', '--no-whole-file'], { target: CHANGED_FILE }),
    await createRsyncWay(RSYNC_WHOLE, ['--inplace', '--whole-file'], { target: CHANGED_FILE }),
  ];
  return ways.map((way) => createRuns(bench, { way, pair, fileBytes, latencyMs, isCounted: false }));
}

interface Asked extends Omit<DeltaOptions, 'program'> {
  readonly percent: number;
}

export function isTooMuchForPdiffcopy({ fileBytes, percent, latencyMs }: Asked): boolean {
  const blocks = (fileBytes / BLOCK_BYTES) * (percent / 100);
  return latencyMs > 0 || blocks > PDIFFCOPY_BLOCKS_MAX || !PDIFFCOPY_PERCENTS.includes(percent);
}

/** No blocks at equal offsets match any more. The target is about bytes, not time. */
export async function openInsertion(
  bench: Bench,
  { fileBytes, latencyMs, program }: DeltaOptions,
): Promise<readonly Entrant[]> {
  const pair = await makeChanged(bench, { fileBytes, by: 'insertion' });
  const createDray = deltaOf(program, await missingCommand(bench, program, 'delta'));
  const ways = [
    createDray(DRAY_DELTA, ['--cdc']),
    createDray(DRAY_DELTA_TLS, ['--cdc'], true),
    await createRsyncWay(RSYNC, ['--no-whole-file'], { target: CHANGED_FILE }),
  ];
  return ways.map((way) => createRuns(bench, { way, pair, fileBytes, latencyMs, isCounted: true }));
}

function deltaOf(program: string, missing: string | undefined) {
  return (name: string, options: readonly string[], isTls = false): Way =>
    createDrayWay({
      name,
      program,
      missing,
      isTls,
      target: CHANGED_FILE,
      args: (source, url) => ['delta', source, url, ...options],
    });
}

interface EntrantOptions {
  readonly way: Way;
  readonly pair: ChangedFile;
  readonly fileBytes: number;
  readonly latencyMs: number;
  readonly isCounted: boolean;
}

/** Each run has its own server, over a folder with the old file. */
function createRuns(bench: Bench, { way, pair, fileBytes, latencyMs, isCounted }: EntrantOptions): Entrant {
  return createEntrant(way, {
    prepare: async () => {
      const offered = await offerFolder(bench, { room: offeredRoom(fileBytes), latencyMs, start: way.start });
      const counter = isCounted ? await startByteCounter(offered.port) : undefined;
      const target = join(offered.folder, CHANGED_FILE);
      copyFileSync(pair.old, target);
      // Much older than the source, so that no tool considers the two equal by their times.
      utimesSync(target, 1, 1);
      const reached = { ...offered, port: counter?.port ?? offered.port };
      const attempt = attemptAt(offered, {
        command: way.command(join(pair.source, CHANGED_FILE), reached),
        check: () => checkArrival(offered.folder, pair.fingerprint),
        close: async () => {
          await counter?.stop();
          await offered.stop();
        },
      });
      return counter ? { ...attempt, sentBytes: counter.sentBytes } : attempt;
    },
  });
}
