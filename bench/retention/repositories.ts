/** Repositories with versions that are measured again and again: each run begins with the same state. */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { roomyFolder } from '../../e2e/servers/memory-folder.ts';
import type { Place } from '../entrants/contender.ts';
import { type Bench, openBench } from '../machines/bench.ts';
import { type Command, runUnmeasured } from '../machines/measure.ts';
import { medianOf } from '../page/statistics.ts';
import type { RetentionCommands, RetentionTool } from './retention-tools.ts';

export interface Built {
  readonly tool: RetentionTool;
  readonly place: Place;
  /** The same through latency. */
  readonly far: Place;
  readonly folder: string;
  readonly state: string;
  /** Copies of the store and of the local state. */
  readonly template: string;
  readonly storedBytes: number;
}

export interface BuildOptions {
  readonly tool: RetentionTool;
  readonly versions: number;
  readonly latencyMs: number;
  /** Writes the next version into the folder. */
  writeNext(folder: string): void;
}

export interface Work {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly requests: number;
  readonly storedBytes: number;
}

export function openRetentionBench(): Promise<Bench> {
  return roomyFolder().then((storeParent) =>
    openBench({
      parent: tmpdir(),
      storeParent,
      chooseFolder: roomyFolder,
      server: 'versitygw',
      contenders: new Map(),
      courier: () => Promise.reject(new Error('Nothing is fetched.')),
      signal: new AbortController().signal,
    }),
  );
}

function bytesBelow(folder: string): number {
  const items = readdirSync(folder, { recursive: true, withFileTypes: true });
  return items.reduce(
    (sum, item) => sum + (item.isFile() ? statSync(join(item.parentPath, item.name)).size : 0),
    0,
  );
}

/** With extended attributes, in which versitygw keeps etags. */
function copyWhole(bench: Bench, from: string, to: string): Promise<string> {
  rmSync(to, { recursive: true, force: true });
  return runUnmeasured({ file: 'cp', args: ['-a', from, to], environment: process.env }, bench.signal);
}

export async function buildRepository(
  bench: Bench,
  { latencyMs, tool, versions, writeNext }: BuildOptions,
): Promise<Built> {
  const [folder, state, template] = [
    bench.newPath('data'),
    bench.newPath('state'),
    bench.newPath('template'),
  ];
  for (const path of [folder, state, template]) mkdirSync(path);
  const place = await bench.newPlace();
  const commands = tool.commands(place, folder, state);
  for (let version = 1; version <= versions; version += 1) {
    writeNext(folder);
    if (version === 1) for (const command of commands.create) await runUnmeasured(command, bench.signal);
    await runUnmeasured(commands.save, bench.signal);
  }
  await copyWhole(bench, place.storeFolder, join(template, 'store'));
  for (const [at, path] of commands.local.entries()) await copyWhole(bench, path, join(template, `${at}`));
  const far = await bench.reach(place, latencyMs);
  return { tool, place, far, folder, state, template, storedBytes: bytesBelow(place.storeFolder) };
}

/** @param place That of the repository, or the one through latency. */
export async function measureWork(
  bench: Bench,
  built: Built,
  place: Place,
  work: (commands: RetentionCommands) => readonly Command[],
): Promise<Work> {
  const commands = built.tool.commands(place, built.folder, built.state);
  await copyWhole(bench, join(built.template, 'store'), place.storeFolder);
  for (const [at, path] of commands.local.entries())
    await copyWhole(bench, join(built.template, `${at}`), path);
  await bench.watch.reset();
  const total = { wallMs: 0, cpuMs: 0, peakBytes: 0 };
  for (const command of work(commands)) {
    const run = await bench.meter.run(command, bench.signal);
    total.wallMs += run.wallMs;
    total.cpuMs += run.cpuMs ?? 0;
    total.peakBytes = Math.max(total.peakBytes, run.peakRssBytes ?? 0);
  }
  const { requests } = await bench.watch.read();
  return { ...total, requests: requests?.length ?? 0, storedBytes: bytesBelow(place.storeFolder) };
}
export function medianWork(runs: readonly Work[]): Work {
  const of = (name: keyof Work) => medianOf(runs.map((run) => run[name]));
  return {
    ...{ wallMs: of('wallMs'), cpuMs: of('cpuMs'), peakBytes: of('peakBytes') },
    ...{ requests: of('requests'), storedBytes: of('storedBytes') },
  };
}
