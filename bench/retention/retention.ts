/**
 * Measures how a repository of 20 versions forgets all but five and frees their room, beside restic and,
 * where their commands are given, rustic and kopia. The store is versitygw in memory. Prints a table.
 *
 *     npm run build && node bench/retention/retention.ts [--runs 5] [--latency 20] [--rustic PATH]
 *       [--kopia PATH] [--json FILE]
 *
 * Each run begins with the same store and the same local state. The tools take turns.
 */
import { parseArgs } from 'node:util';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';
import { fleetCircumstances, publishFigure, target } from '../fleet/fleet-figure.ts';
import type { Bench } from '../machines/bench.ts';
import {
  type Built,
  buildRepository,
  measureWork,
  medianWork,
  openRetentionBench,
  type Work,
} from './repositories.ts';
import { drayTool, kopiaTool, type RetentionTool, resticTool, rusticTool } from './retention-tools.ts';
import { createVersions, FILES } from './versions.ts';

const VERSIONS = 20;
const KEPT = 5;

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

async function build(bench: Bench, tool: RetentionTool): Promise<Built> {
  const versions = createVersions();
  return buildRepository(bench, {
    tool,
    versions: VERSIONS,
    latencyMs: Number(values.latency),
    writeNext: (folder) => versions.writeNext(folder),
  });
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
        if (way === 'far' && built.tool.isNearOnly) continue;
        const place = way === 'near' ? built.place : built.far;
        works[at]![way].push(await measureWork(bench, built, place, (commands) => commands.forget(KEPT)));
      }
  const measured: Measured[] = [];
  for (const [at, built] of builts.entries()) {
    const later = await measureWork(bench, built, built.place, (commands) => [
      ...commands.forget(KEPT),
      commands.collect,
    ]);
    const { far, near } = works[at]!;
    measured.push({
      built,
      near: medianWork(near),
      far: medianWork(far.length > 0 ? far : near),
      laterBytes: later.storedBytes,
    });
  }
  return measured;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;

function rowOf({ built, far, laterBytes, near }: Measured): readonly string[] {
  return [
    ...[`${built.tool.name} ${built.tool.version}`.trim(), seconds(near.wallMs)],
    built.tool.isNearOnly ? '-' : seconds(far.wallMs),
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
await using bench = await openRetentionBench();
const builts: Built[] = [];
for (const tool of [
  drayTool(),
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
