/**
 * Measures a collection in a bucket of 100,000 objects, half of which go, through latency, beside restic.
 * Prints a table.
 *
 *     npm run build && node bench/retention/many-objects.ts --rustic PATH [--files 100000] [--latency 20]
 *       [--json FILE]
 *
 * Each object holds one file of 1 KB. For Dray that is a repository without packs. restic's packs of 16 MiB
 * would take 1.6 TB for so many objects, so rustic, which shares its format, writes packs of one file each.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';
import { createStream, pathOfFile } from '../data/dataset.ts';
import { fleetCircumstances, publishFigure, target } from '../fleet/fleet-figure.ts';
import { type Built, buildRepository, measureWork, openRetentionBench, type Work } from './repositories.ts';
import { drayTool, type RetentionTool, resticTool, rusticTool } from './retention-tools.ts';

const FILE_BYTES = 1_000;
/** restic's usual size of a pack. */
const PACK_BYTES = 16 * 1024 * 1024;

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '100000' },
    latency: { type: 'string', default: '20' },
    restic: { type: 'string', default: 'restic' },
    rustic: { type: 'string' },
    json: { type: 'string' },
  },
});
const files = Number(values.files);

/** The first version has all files, the second half of them. */
function createHalving(): (folder: string) => void {
  const next = createStream('many objects');
  let isFirst = true;
  return (folder) => {
    for (let at = 0; at < files; at += 1) {
      const path = join(folder, pathOfFile(at));
      if (isFirst) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, next(FILE_BYTES));
      } else if (at % 2 === 0) rmSync(path);
    }
    isFirst = false;
  };
}

/** A repository that rustic writes and restic forgets in. */
function resticOfRustic(restic: RetentionTool, rustic: RetentionTool): RetentionTool {
  return {
    name: restic.name,
    version: restic.version,
    commands: (place, folder, state) => {
      const writer = rustic.commands(place, folder, state);
      const { collect, forget } = restic.commands(place, folder, join(state, 'restic-cache'));
      return { ...writer, collect, forget, local: [state] };
    },
  };
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function rowOf({ tool }: Built, near: Work, far: Work): readonly string[] {
  return [
    ...[`${tool.name} ${tool.version}`.trim(), seconds(near.wallMs), seconds(far.wallMs)],
    ...[
      seconds(far.cpuMs),
      formatCount(far.requests),
      formatBytes(far.peakBytes),
      formatBytes(far.storedBytes),
    ],
  ];
}

const circumstances = fleetCircumstances();
await using bench = await openRetentionBench();
const rustic = values.rustic === undefined ? undefined : rusticTool(values.rustic, { packBytes: FILE_BYTES });
const works: { readonly built: Built; readonly near: Work; readonly far: Work }[] = [];
for (const tool of [
  drayTool(['--pack-below', '0']),
  ...(rustic ? [resticOfRustic(resticTool(values.restic), rustic), rustic] : []),
]) {
  const writeNext = createHalving();
  const built = await buildRepository(bench, {
    tool,
    versions: 2,
    latencyMs: Number(values.latency),
    writeNext,
  });
  const forget = (place: Built['place']) =>
    measureWork(bench, built, place, (commands) => commands.forget(1));
  works.push({ built, near: await forget(built.place), far: await forget(built.far) });
}
const [dray, restic] = works;
publishFigure(
  {
    order: 1,
    title: `A bucket of ${formatCount(files)} objects, half of which go`,
    text:
      'Each object has one file of 1,000 bytes of noise. Dray has a repository without packs; for restic and ' +
      'rustic, rustic wrote packs of one file each, since packs of their usual size would take ' +
      `${formatBytes(files * PACK_BYTES)} for as many objects. The second version lacks half of the files, and only that one is kept. One run each; CPU, requests and memory are those through ${values.latency} ms.`,
    command: 'npm run build && node bench/retention/many-objects.ts --rustic PATH',
    circumstances,
    headings: ['tool', 'time', `with ${values.latency} ms`, 'CPU', 'requests', 'peak memory', 'stored after'],
    rows: works.map(({ built, far, near }) => rowOf(built, near, far)),
    targets:
      dray && restic
        ? [
            target(
              `at most a tenth of restic's time with ${values.latency} ms`,
              (dray.far.wallMs / restic.far.wallMs).toFixed(3),
              dray.far.wallMs <= restic.far.wallMs / 10,
            ),
            target(
              "at most a tenth of restic's requests",
              (dray.far.requests / restic.far.requests).toFixed(3),
              dray.far.requests <= restic.far.requests / 10,
            ),
          ]
        : [],
    notes: [],
  },
  values.json,
);
