/** The scenarios of plain trees (`dray copy`, `dray sync`), and what this release promises in each. */
import { formatCount } from '../engine/api/numbers.ts';
import { createBareGets } from './bare-get-entrant.ts';
import { createBarePuts } from './bare-put-entrant.ts';
import type { ContenderName } from './contender.ts';
import { type DatasetShape, describeShape } from './dataset.ts';
import { openComparison, openDryRun, RCLONE_WITHOUT_LISTING, S5CMD_ONE_BY_ONE } from './dry-run-entrants.ts';
import type { Target } from './results.ts';
import type { Scenario } from './scenario.ts';
import { openAcross } from './server-to-server-entrants.ts';
import { openClone, openFirstPush, openSecondPush, RCLONE_BY_SERVER_TIME } from './transfer-entrants.ts';

export interface TreeShapes {
  readonly few: DatasetShape;
  readonly many: DatasetShape;
  readonly large: DatasetShape;
  /** Of single objects between two servers. */
  readonly objectBytes: { readonly '1gb': number; readonly '10gb': number };
  readonly compared: DatasetShape;
}

const MB = 1_000_000;
const PEERS: readonly ContenderName[] = ['rclone', 'rclone (defaults)', 's5cmd', 'aws'];
const ALL: readonly ContenderName[] = ['dray copy', ...PEERS];
/** aws compares like the others, but its dry run takes minutes. */
const DRY_RUNNERS: readonly ContenderName[] = ['dray copy', 'rclone', 'rclone (defaults)', 's5cmd'];
/** Its target is memory; that a peer takes longer says enough. */
const COMPARISON_LIMIT_MS = 10 * 60_000;
const ACROSS: readonly ContenderName[] = ['dray copy', 'rclone', 'rclone (defaults)'];

export function createTreeScenarios(shapes: TreeShapes): readonly Scenario[] {
  return [
    ...createUploads(shapes),
    ...createDownloads(shapes),
    ...createAcross(shapes),
    ...createDryRuns(shapes),
    createComparison(shapes),
  ];
}

function createUploads({ few, many, large }: TreeShapes): readonly Scenario[] {
  return [
    {
      name: 'copy-1k',
      title: `Copy of ${describeShape(few)} to a bucket`,
      targets: [copyToBestOf(0.7, PEERS)],
      open: async (bench) => [
        ...(await openFirstPush(bench, { shape: few, contenders: ALL, link: 'direct' })),
        await createBarePuts(bench, few),
      ],
    },
    {
      name: 'copy-1k-latency',
      title: `Copy of ${describeShape(few)} to a bucket, through 30 ms of latency`,
      targets: [copyToBestOf(0.7, PEERS)],
      open: (bench) => openFirstPush(bench, { shape: few, contenders: ALL, link: 'slow' }),
    },
    {
      name: 'copy-50k',
      title: `Copy of ${describeShape(many)} to a bucket`,
      targets: [copyToBestOf(0.7, PEERS)],
      open: async (bench) => [
        ...(await openFirstPush(bench, { shape: many, contenders: ALL, link: 'direct' })),
        await createBarePuts(bench, many),
      ],
    },
    {
      name: 'copy-50k-again',
      title: `Second copy of ${describeShape(many)} to a bucket, nothing changed`,
      targets: [copyToBestOf(0.5, [...PEERS, RCLONE_BY_SERVER_TIME])],
      open: (bench) => openSecondPush(bench, { shape: many, contenders: ALL }),
    },
    {
      name: 'copy-large',
      title: `Copy of ${describeShape(large)} to a bucket`,
      targets: [copyToBestOf(0.8, PEERS)],
      open: (bench) => openFirstPush(bench, { shape: large, contenders: ALL, link: 'direct' }),
    },
  ];
}

function createDownloads({ few, many, large }: TreeShapes): readonly Scenario[] {
  return [
    {
      name: 'copy-1k-down',
      title: `Copy of ${describeShape(few)} to a folder`,
      targets: [copyToBestOf(0.7, PEERS)],
      open: (bench) => openClone(bench, { shape: few, contenders: ALL }),
    },
    {
      name: 'copy-1k-down-latency',
      title: `Copy of ${describeShape(few)} to a folder, through 30 ms of latency`,
      targets: [copyToBestOf(0.7, PEERS)],
      open: (bench) => openClone(bench, { shape: few, contenders: ALL, link: 'slow' }),
    },
    {
      name: 'copy-50k-down',
      title: `Copy of ${describeShape(many)} to a folder`,
      targets: [copyToBestOf(0.7, PEERS)],
      open: (bench) => openClone(bench, { shape: many, contenders: ALL }),
    },
    {
      name: 'copy-large-down',
      title: `Copy of ${describeShape(large)} to a folder`,
      targets: [copyToBestOf(0.8, PEERS)],
      open: async (bench) => [
        ...(await openClone(bench, { shape: large, contenders: ALL })),
        await createBareGets(bench, large),
      ],
    },
  ];
}

function createAcross({ objectBytes }: TreeShapes): readonly Scenario[] {
  return (['1gb', '10gb'] as const).map((size) => ({
    name: `s2s-${size}`,
    title: `One object of ${formatCount(objectBytes[size] / MB)} MB from one server to another`,
    targets: [copyToBestOf(0.8, ['rclone', 'rclone (defaults)'])],
    open: (bench) => openAcross(bench, { objectBytes: objectBytes[size], contenders: ACROSS }),
  }));
}

function createDryRuns({ many }: TreeShapes): readonly Scenario[] {
  const targets = [copyToBestOf(0.5, [...DRY_RUNNERS.slice(1), RCLONE_WITHOUT_LISTING, S5CMD_ONE_BY_ONE])];
  const objects = formatCount(many.files);
  const some = Math.floor(many.files / 100);
  return [
    {
      name: 'dry-500',
      title: `Dry run of ${formatCount(some)} files, a fifth of them changed, against ${objects} objects`,
      targets,
      open: (bench) =>
        openDryRun(bench, {
          stored: many,
          local: { kind: 'some', files: some, changed: Math.floor(some / 5) },
          contenders: DRY_RUNNERS,
        }),
    },
    {
      name: 'dry-1',
      title: `Dry run of 1 changed file against ${objects} objects`,
      targets,
      open: (bench) =>
        openDryRun(bench, {
          stored: many,
          local: { kind: 'some', files: 1, changed: 1 },
          contenders: DRY_RUNNERS,
        }),
    },
    {
      name: 'dry-50k',
      title: `Dry run of ${objects} files against an empty prefix`,
      targets,
      open: (bench) => openDryRun(bench, { local: { kind: 'all', shape: many }, contenders: DRY_RUNNERS }),
    },
  ];
}

function createComparison({ compared }: TreeShapes): Scenario {
  return {
    name: 'compare-1m',
    title: `Dry run of a sync by size: ${formatCount(compared.files)} files against as many objects, all equal but one`,
    targets: [{ kind: 'peakRss', of: 'dray copy', atMostBytes: 300 * MB }],
    limitMs: COMPARISON_LIMIT_MS,
    open: (bench) => openComparison(bench, { shape: compared, contenders: DRY_RUNNERS }),
  };
}

function copyToBestOf(atMost: number, toBestOf: readonly string[]): Target {
  return { kind: 'ratio', of: 'dray copy', toBestOf, atMost };
}
