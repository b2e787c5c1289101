/** The scenarios of this release, and what it promises in each. */

import { type DatasetShape, describeShape, mixSizes, shapeOfSizes } from '../data/dataset.ts';
import type { ContenderName } from '../entrants/contender.ts';
import { needsOfCycles, openCycles } from '../entrants/cycle-entrants.ts';
import { NODE_ALONE, RCLONE_BY_SERVER_TIME } from '../entrants/transfer-entrants.ts';
import { clone, firstPush, leaveOutSlow, secondPush } from '../entrants/transfer-works.ts';
import type { Target } from '../page/results.ts';
import { createGrowthScenarios } from './growth-scenarios.ts';
import { createPeerScenarios, type PeerShapes } from './peer-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { createTreeScenarios, type TreeShapes } from './tree-scenarios.ts';

interface Shapes extends TreeShapes, PeerShapes {
  /** The first version of a growing dataset. */
  readonly growing: DatasetShape;
  /** The number of versions after it. */
  readonly versions: number;
  readonly growth: readonly DatasetShape[];
}

const MB = 1_000_000;
const KIB = 1024;
const GIB = 1024 ** 3;

const FULL: Shapes = {
  few: { files: 1_000, bytesMax: KIB, sizes: 'equal' },
  many: { files: 50_000, bytesMax: KIB, sizes: 'equal' },
  large: { files: 10, bytesMax: 100 * MB, sizes: 'equal' },
  growing: { files: 5_000, bytesMax: 128 * KIB, sizes: 'spread' },
  versions: 20,
  growth: growAcross(1_000, 10_000, 100_000, 1_000_000),
  objectBytes: { '1gb': 1_000 * MB, '10gb': 10_000 * MB },
  compared: { files: 1_000_000, bytesMax: KIB, sizes: 'spread' },
  mixed: mixSizes({ files: 35, bytesMin: 990, bytesMax: 412 * MB }),
  images: shapeOfSizes([700 * MB, 1_800 * MB, 4_700 * MB]),
  fileBytes: GIB,
  deltaBytes: { medium: Math.round(1.79 * GIB), large: 5_500 * MB },
  huge: { files: 20, bytesMax: 200 * MB, sizes: 'equal' },
};

/** To check that everything works: too small for the figures to mean anything. */
const QUICK: Shapes = {
  few: { files: 100, bytesMax: KIB, sizes: 'equal' },
  many: { files: 1_500, bytesMax: KIB, sizes: 'equal' },
  large: { files: 2, bytesMax: 10 * MB, sizes: 'equal' },
  growing: { files: 200, bytesMax: 16 * KIB, sizes: 'spread' },
  versions: 3,
  growth: growAcross(100, 1_000, 10_000),
  objectBytes: { '1gb': 50 * MB, '10gb': 300 * MB },
  compared: { files: 10_000, bytesMax: KIB, sizes: 'spread' },
  mixed: mixSizes({ files: 35, bytesMin: 990, bytesMax: 4 * MB }),
  images: shapeOfSizes([7 * MB, 18 * MB, 47 * MB]),
  fileBytes: GIB / 32,
  deltaBytes: { medium: GIB / 32, large: 55 * MB },
  huge: { files: 4, bytesMax: 10 * MB, sizes: 'equal' },
};

const SMALL_FILE_TOOLS: readonly ContenderName[] = ['dray', 'rclone', 's5cmd', 'restic', 'dvc'];
const ALL: readonly ContenderName[] = ['dray', 'rclone', 's5cmd', 'aws', 'restic', 'dvc'];
const MANY_FILE_TOOLS: readonly ContenderName[] = ['dray', 'rclone', 's5cmd', 'restic'];

export function createScenarios({ isQuick }: { readonly isQuick: boolean }): readonly Scenario[] {
  const shapes = isQuick ? QUICK : FULL;
  return [
    ...createPushes(shapes),
    ...createClones(shapes),
    createCycles(shapes),
    ...createGrowthScenarios(shapes.growth),
    ...createTreeScenarios(shapes),
    ...createPeerScenarios(shapes),
  ];
}

const SECOND_PUSH_TARGETS: readonly Target[] = [
  { kind: 'excess', of: 'dray', over: NODE_ALONE, atMostMs: 500 },
  drayToBestOf(1, 'rclone', RCLONE_BY_SERVER_TIME),
];

function createPushes({ few, many, large }: Shapes): readonly Scenario[] {
  return [
    {
      name: 'push-1k',
      title: `First push of ${describeShape(few)}`,
      targets: [drayToBestOf(0.5, 'rclone', 's5cmd', 'restic')],
      targetsThroughLatency: [drayToBestOf(0.4, 'rclone', 's5cmd', 'restic')],
      latenciesMs: [0, 30],
      ...firstPush(few, SMALL_FILE_TOOLS),
    },
    {
      name: 'push-1k-again',
      title: `Second push of ${describeShape(few)}, nothing changed`,
      targets: SECOND_PUSH_TARGETS,
      latenciesMs: [0, 30],
      ...secondPush(few, SMALL_FILE_TOOLS),
    },
    {
      name: 'push-50k',
      title: `First push of ${describeShape(many)}`,
      targets: [drayToBestOf(0.7, 'restic')],
      ...leaveOutSlow(firstPush(many, MANY_FILE_TOOLS), ['dvc']),
    },
    {
      name: 'push-50k-again',
      title: `Second push of ${describeShape(many)}, nothing changed`,
      targets: SECOND_PUSH_TARGETS,
      ...leaveOutSlow(secondPush(many, MANY_FILE_TOOLS), ['dvc']),
    },
    {
      name: 'push-large',
      title: `First push of ${describeShape(large)}`,
      targets: [drayToBestOf(0.8, 'rclone', 'aws', 's5cmd')],
      ...firstPush(large, ALL),
    },
    {
      name: 'push-large-again',
      title: `Second push of ${describeShape(large)}, nothing changed`,
      targets: SECOND_PUSH_TARGETS,
      ...secondPush(large, ALL),
    },
  ];
}

function createClones({ few, many, large }: Shapes): readonly Scenario[] {
  return [
    {
      name: 'clone-1k',
      title: `Clone of ${describeShape(few)}`,
      targets: [drayToBestOf(0.8, 'rclone', 's5cmd', 'aws', 'restic')],
      latenciesMs: [0, 30],
      ...clone(few, ALL),
    },
    {
      name: 'clone-large',
      title: `Clone of ${describeShape(large)}`,
      targets: [drayToBestOf(0.8, 'rclone', 's5cmd', 'aws', 'restic')],
      ...clone(large, ALL),
    },
    {
      name: 'clone-50k',
      title: `Clone of ${describeShape(many)}`,
      targets: [drayToBestOf(0.8, 'rclone', 's5cmd', 'aws', 'restic')],
      ...leaveOutSlow(clone(many, MANY_FILE_TOOLS), ['aws', 'dvc']),
    },
  ];
}

function growAcross(...counts: readonly number[]): readonly DatasetShape[] {
  return counts.map((files) => ({ files, bytesMax: KIB, sizes: 'spread' }));
}

const VERSIONED: readonly ContenderName[] = ['dray', 'dvc', 'restic'];

function createCycles({ growing, versions }: Shapes): Scenario {
  return {
    name: 'cycles',
    title: `${versions} versions of ${describeShape(growing)}, of which each changes 2 % of the files and brings 1 % more: pushed here, pulled elsewhere`,
    targets: [drayToBestOf(0.5, 'dvc', 'restic')],
    needs: needsOfCycles(growing, versions),
    open: (bench, latencyMs) =>
      openCycles(bench, { shape: growing, versions, contenders: VERSIONED, latencyMs }),
  };
}

function drayToBestOf(atMost: number, ...toBestOf: readonly string[]): Target {
  return { kind: 'ratio', of: 'dray', toBestOf, atMost };
}
