/**
 * Entrants that take a growing dataset through versions: one machine edits and pushes, another pulls. Each
 * command is measured by itself; editing and comparing are not.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ByteCounter, startByteCounter } from '../../e2e/servers/byte-counter.ts';
import { clearFolders } from '../data/clear-folders.ts';
import { createStream, type DatasetShape, pathOfFile, writeDataset } from '../data/dataset.ts';
import { checkArrival, fingerprintOf } from '../data/fingerprint.ts';
import { removePlace } from '../data/stored-objects.ts';
import type { Bench } from '../machines/bench.ts';
import { type Command, type CommandRun, runUnmeasured } from '../machines/measure.ts';
import type { Needs } from '../scenarios/holding.ts';
import { addRooms, roomOf } from '../scenarios/room.ts';
import type { Attempt, Entrant, SeriesRun } from '../scenarios/scenario.ts';
import type { Contender, ContenderName, Place } from './contender.ts';
import { createUnable, mapContenders } from './transfer-entrants.ts';

export interface CycleOptions {
  /** The shape of the first version. */
  readonly shape: DatasetShape;
  /** The number of versions after the first. */
  readonly versions: number;
  readonly contenders: readonly ContenderName[];
  readonly latencyMs: number;
}

/** The share of the existing files that change. */
const CHANGED_SHARE = 0.02;
/** The share of new files, relative to the first version. */
const NEW_SHARE = 0.01;

/**
 * One tool runs at a time. The workspace, the pulled folder and DVC's copy have grown; its two caches and the
 * store hold all versions.
 */
export function needsOfCycles(shape: DatasetShape, versions: number): Needs {
  const grown = roomOf(shape, 1 + versions * NEW_SHARE);
  const all = roomOf(shape, 1 + versions * (CHANGED_SHARE * (1 + versions * NEW_SHARE) + NEW_SHARE));
  return { holdings: [], source: addRooms(grown, grown, grown, all, all), store: all };
}

export async function openCycles(
  bench: Bench,
  { contenders, latencyMs, shape, versions }: CycleOptions,
): Promise<readonly Entrant[]> {
  return mapContenders(bench, contenders, (contender) => {
    if (!contender.update) return createUnable('it keeps no versions');
    return { prepare: () => prepareCycles(bench, { contender, latencyMs, shape, versions }) };
  });
}

interface CyclesOf extends Omit<CycleOptions, 'contenders'> {
  readonly contender: Contender;
}

async function prepareCycles(
  bench: Bench,
  { contender, latencyMs, shape, versions }: CyclesOf,
): Promise<Attempt> {
  const source = bench.newPath('edited');
  const pulled = bench.newPath('pulled');
  writeDataset(source, shape);
  const reached = await bench.newPlace(latencyMs);
  const counter = await startByteCounter(Number(new URL(reached.endpoint).port));
  const place = through(reached, counter);
  const first = contender.prepareUpload?.(source, place);
  if (first) await runUnmeasured(first, bench.signal);
  const workspace = contender.workspaceOf?.(source, place) ?? source;
  const push = contender.upload(source, place);
  return {
    command: push,
    runAll: async (run) => {
      const course = startCourse(run, counter, place);
      await course.push(push);
      await course.pull(contender.download(place, pulled));
      let files = shape.files;
      for (let version = 1; version <= versions; version += 1) {
        files = editDataset(workspace, { shape, files, version });
        await course.push(contender.uploadAgain(source, place));
        await course.pull(contender.update?.(place, pulled) ?? contender.download(place, pulled));
        // Checked each time, because a later version may hide one that did not arrive.
        checkArrival(pulled, fingerprintOf(workspace));
      }
      return course.end();
    },
    check: async () => checkArrival(pulled, fingerprintOf(workspace)),
    close: async () => {
      await counter.stop();
      await clearFolders(source, pulled);
      await removePlace(place);
    },
  };
}

/** Makes all of a tool's traffic pass through the counter. */
function through(place: Place, { port }: ByteCounter): Place {
  const endpoint = `http://127.0.0.1:${port}`;
  return { ...place, endpoint, environment: { ...place.environment, AWS_ENDPOINT_URL: endpoint } };
}

interface Course {
  push(command: Command): Promise<void>;
  pull(command: Command): Promise<void>;
  end(): SeriesRun;
}

function startCourse(
  run: (command: Command) => Promise<CommandRun>,
  counter: ByteCounter,
  { storeFolder }: Place,
): Course {
  const runs: CommandRun[] = [];
  const series = {
    pushMs: [] as number[],
    pullMs: [] as number[],
    sentBytes: [] as number[],
    receivedBytes: [] as number[],
    storedBytes: [] as number[],
  };
  const runOne = async (command: Command) => {
    const measured = await run(command);
    runs.push(measured);
    return measured.wallMs;
  };
  return {
    push: async (command) => {
      const before = counter.sentBytes();
      series.pushMs.push(await runOne(command));
      series.sentBytes.push(counter.sentBytes() - before);
      series.storedBytes.push(bytesBelow(storeFolder));
    },
    pull: async (command) => {
      const before = counter.receivedBytes();
      series.pullMs.push(await runOne(command));
      series.receivedBytes.push(counter.receivedBytes() - before);
    },
    end: () => ({ ...joinRuns(runs), series }),
  };
}

function joinRuns(runs: readonly CommandRun[]): CommandRun {
  const cpuMs = runs.map((run) => run.cpuMs);
  const peaks = runs.map((run) => run.peakRssBytes);
  return {
    wallMs: runs.reduce((sum, run) => sum + run.wallMs, 0),
    cpuMs: cpuMs.some((value) => value === null)
      ? null
      : cpuMs.reduce<number>((sum, ms) => sum + (ms ?? 0), 0),
    peakRssBytes: peaks.some((value) => value === null)
      ? null
      : Math.max(...peaks.map((value) => value ?? 0)),
    output: runs.at(-1)?.output ?? '',
  };
}

export interface Edit {
  readonly shape: DatasetShape;
  /** The number of existing files. */
  readonly files: number;
  /** The version number from 1; each one has other contents. */
  readonly version: number;
}

const STEP = 7_919;

/**
 * Gives some of the files, spread over the tree, other contents of the same size, and adds new files at the
 * end. A new file replaces the old one, as an editor saves it. Returns the number of files.
 */
export function editDataset(folder: string, { shape, files, version }: Edit): number {
  const next = createStream(`version ${version}`);
  const write = (index: number, sizeBytes: number) => {
    const path = join(folder, pathOfFile(index));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, next(sizeBytes));
    rmSync(path, { force: true });
    renameSync(`${path}.new`, path);
  };
  const changed = Math.max(1, Math.round(files * CHANGED_SHARE));
  const added = Math.max(1, Math.round(shape.files * NEW_SHARE));
  for (let count = 0; count < changed; count += 1) {
    const index = ((version * changed + count) * STEP) % files;
    // An empty file has no other content of the same size.
    write(index, Math.max(1, statSync(join(folder, pathOfFile(index))).size));
  }
  for (let index = files; index < files + added; index += 1)
    write(index, 1 + ((index * STEP) % shape.bytesMax));
  return files + added;
}

function bytesBelow(folder: string): number {
  let bytes = 0;
  for (const item of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (item.isFile()) bytes += statSync(join(item.parentPath, item.name)).size;
  return bytes;
}
