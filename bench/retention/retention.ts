/**
 * Measures how a repository of 20 versions forgets all but five and frees their room, beside restic and,
 * where their commands are given, rustic and kopia. The store is versitygw in memory. Prints a table.
 *
 *     npm run build && node bench/retention/retention.ts [--runs 5] [--latency 20] [--rustic PATH]
 *       [--kopia PATH] [--json FILE]
 *
 * Each run begins with the same store and the same local state. The tools take turns.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { roomyFolder } from '../../e2e/servers/memory-folder.ts';
import { formatBytes, formatCount } from '../../engine/api/numbers.ts';
import type { Place } from '../entrants/contender.ts';
import { fleetCircumstances, publishFigure, target } from '../fleet/fleet-figure.ts';
import { type Bench, openBench } from '../machines/bench.ts';
import { type Command, runUnmeasured } from '../machines/measure.ts';
import { medianOf } from '../page/statistics.ts';
import {
  DRAY,
  kopiaTool,
  type RetentionCommands,
  type RetentionTool,
  resticTool,
  rusticTool,
} from './retention-tools.ts';
import { createVersions, FILES } from './versions.ts';

const VERSIONS = 20;
const KEPT = 5;

interface Built {
  readonly tool: RetentionTool;
  readonly place: Place;
  readonly far: Place;
  readonly folder: string;
  readonly state: string;
  /** Copies of the store and of the local state. */
  readonly template: string;
  readonly storedBytes: number;
}

interface Work {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly requests: number;
  readonly storedBytes: number;
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    latency: { type: 'string', default: '20' },
    restic: { type: 'string', default: 'restic' },
    rustic: { type: 'string' },
    kopia: { type: 'string' },
    'kopia-version': { type: 'string', default: 'unknown' },
    json: { type: 'string' },
  },
});

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

async function build(bench: Bench, tool: RetentionTool): Promise<Built> {
  const [folder, state, template] = [
    bench.newPath('data'),
    bench.newPath('state'),
    bench.newPath('template'),
  ];
  for (const path of [folder, state, template]) mkdirSync(path);
  const place = await bench.newPlace();
  const commands = tool.commands(place, folder, state);
  const versions = createVersions();
  for (let version = 1; version <= VERSIONS; version += 1) {
    versions.writeNext(folder);
    if (version === 1) for (const command of commands.create) await runUnmeasured(command, bench.signal);
    await runUnmeasured(commands.save, bench.signal);
  }
  await copyWhole(bench, place.storeFolder, join(template, 'store'));
  for (const [at, path] of commands.local.entries()) await copyWhole(bench, path, join(template, `${at}`));
  const far = await bench.reach(place, Number(values.latency));
  return { tool, place, far, folder, state, template, storedBytes: bytesBelow(place.storeFolder) };
}

async function measure(
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

function medianWork(runs: readonly Work[]): Work {
  const of = (name: keyof Work) => medianOf(runs.map((run) => run[name]));
  return {
    ...{ wallMs: of('wallMs'), cpuMs: of('cpuMs'), peakBytes: of('peakBytes') },
    ...{ requests: of('requests'), storedBytes: of('storedBytes') },
  };
}

interface Measured {
  readonly built: Built;
  readonly near: Work;
  readonly far: Work;
  /** On the store after one more run that frees room. */
  readonly laterBytes: number;
}

async function measureAll(bench: Bench, builts: readonly Built[]): Promise<readonly Measured[]> {
  const works = builts.map(() => ({ near: [] as Work[], far: [] as Work[] }));
  for (let round = 0; round < Number(values.runs); round += 1)
    for (const way of ['near', 'far'] as const)
      for (let turn = 0; turn < builts.length; turn += 1) {
        const at = (turn + round) % builts.length;
        const built = builts[at]!;
        const place = way === 'near' ? built.place : built.far;
        works[at]![way].push(await measure(bench, built, place, (commands) => commands.forget(KEPT)));
      }
  const measured: Measured[] = [];
  for (const [at, built] of builts.entries()) {
    const later = await measure(bench, built, built.place, (commands) => [
      ...commands.forget(KEPT),
      commands.collect,
    ]);
    const { far, near } = works[at]!;
    measured.push({ built, near: medianWork(near), far: medianWork(far), laterBytes: later.storedBytes });
  }
  return measured;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;

function rowOf({ built, far, laterBytes, near }: Measured): readonly string[] {
  return [
    ...[`${built.tool.name} ${built.tool.version}`, seconds(near.wallMs), seconds(far.wallMs)],
    ...[seconds(near.cpuMs), formatCount(near.requests), formatBytes(near.peakBytes)],
    ...[built.storedBytes, near.storedBytes, laterBytes].map((bytes) => formatBytes(bytes)),
  ];
}

function targetsOf([dray, restic]: readonly Measured[]) {
  const compare = (what: string, of: (measured: Measured) => number) => {
    const ratio = of(dray!) / of(restic!);
    return target(`at most restic's ${what}`, ratio.toFixed(2), ratio <= 1);
  };
  return [
    compare('time without latency', ({ near }) => near.wallMs),
    compare(`time with ${values.latency} ms`, ({ far }) => far.wallMs),
    compare('CPU time', ({ near }) => near.cpuMs),
    compare('requests', ({ near }) => near.requests),
    compare('peak memory', ({ near }) => near.peakBytes),
    compare('bytes on the store after one run', ({ near }) => near.storedBytes),
    compare('bytes on the store after one more', ({ laterBytes }) => laterBytes),
  ];
}

const circumstances = fleetCircumstances();
await using bench = await openBench({
  parent: tmpdir(),
  storeParent: await roomyFolder(),
  chooseFolder: roomyFolder,
  server: 'versitygw',
  contenders: new Map(),
  courier: () => Promise.reject(new Error('Nothing is fetched.')),
  signal: new AbortController().signal,
});
const builts: Built[] = [];
for (const tool of [
  DRAY,
  resticTool(values.restic),
  ...(values.rustic === undefined ? [] : [rusticTool(values.rustic)]),
  ...(values.kopia === undefined ? [] : [kopiaTool(values.kopia, values['kopia-version'])]),
])
  builts.push(await build(bench, tool));
const measured = await measureAll(bench, builts);
publishFigure(
  {
    order: 0,
    title: `${VERSIONS} versions, all but ${KEPT} forgotten and their room freed`,
    text:
      `${formatCount(FILES)} files of CSV, JSON and noise, 0.5 to 80 KB and 15 of 2 MB; each version changes 30 of them, adds 15 and ` +
      'removes 6. The store is versitygw in memory. Each run begins with the same store and the same local ' +
      `state, the tools take turns, and the figures are medians of ${values.runs}. Dray runs \`forget\` and \`gc\`, ` +
      'restic and rustic `forget --prune`, kopia `policy set`, `snapshot expire` and `maintenance run`, each ' +
      'without the pauses by which rustic, kopia and Dray spare what is young.',
    command: 'npm run build && node bench/retention/retention.ts',
    circumstances,
    headings: [
      ...['tool', 'time', `with ${values.latency} ms`, 'CPU', 'requests', 'peak memory'],
      ...['stored before', 'after', 'after one more run'],
    ],
    rows: measured.map(rowOf),
    targets: targetsOf(measured),
    notes: [],
  },
  values.json,
);
