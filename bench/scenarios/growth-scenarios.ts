/** How each work grows with the number of files, and what this release promises about it. */
import { formatCount } from '../../engine/api/text/numbers.ts';
import type { DatasetShape } from '../data/dataset.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import {
  openFetch,
  openGrowth,
  openList,
  openPush,
  openScan,
  openUnchanged,
  START,
  sizedName,
} from '../entrants/growth-entrants.ts';
import type { Target } from '../page/results.ts';
import { datasetHolding, type Holding, type Needs, writtenHolding } from './holding.ts';
import { addRooms, NO_ROOM, type Room, roomOf } from './room.ts';
import type { Scenario } from './scenario.ts';

const EXPONENT_MAX = 1.05;
/** From the second largest size to the largest: memory held for each file would grow tenfold. */
const RSS_GROWTH_MAX = 1.5;
const RSS_MAX_BYTES = 500_000_000;
/** The ratio of finding no change without reading a file to listing a million objects. */
const UNCHANGED_RATIO_MAX = 0.1;
/** A peer that takes longer at the largest size gets a row that says so. */
const LIMIT_MS = 25 * 60_000;

interface Growth {
  readonly name: string;
  readonly title: string;
  /** The works of Dray, each with its own targets. */
  readonly works: readonly string[];
  readonly peer: string;
  readonly open: Parameters<typeof openGrowth>[2];
  /** True when the link to the store is part of the work. */
  readonly isFar: boolean;
  needs(shapes: readonly DatasetShape[]): Needs;
  readonly more?: (largest: DatasetShape) => readonly Target[];
}

const GROWTHS: readonly Growth[] = [
  {
    name: 'growth-scan',
    title: 'First look at a folder, all of it read and hashed',
    works: ['dray push --dry-run'],
    peer: 'rclone md5sum',
    open: openScan,
    needs: (shapes) => ({ holdings: ofAll(shapes, datasetHolding) }),
    isFar: false,
  },
  {
    name: 'growth-unchanged',
    title: 'Nothing changed since the last push, index warm',
    works: ['dray status', 'dray push'],
    peer: 'rclone sync --dry-run --size-only',
    open: openUnchanged,
    needs: (shapes) => ({
      holdings: [
        ...ofAll(shapes, datasetHolding),
        ...ofAll(shapes, (shape) => datasetHolding(shape, 'dray')),
        ...ofAll(shapes, writtenHolding),
      ],
      store: packsOf(shapes),
    }),
    isFar: false,
    more: (largest) =>
      ['dray status', 'dray push'].flatMap((work): Target[] => [
        {
          kind: 'ratio',
          of: sizedName(work, largest),
          toBestOf: [sizedName('rclone sync --dry-run --size-only', largest)],
          atMost: UNCHANGED_RATIO_MAX,
        },
        { kind: 'peakRss', of: sizedName(work, largest), atMostBytes: RSS_MAX_BYTES },
      ]),
  },
  {
    name: 'growth-list',
    title: 'List of all objects below a prefix',
    works: ['dray ls'],
    peer: 'rclone lsf',
    open: openList,
    needs: (shapes) => ({ holdings: ofAll(shapes, writtenHolding) }),
    isFar: true,
  },
  {
    name: 'growth-push',
    title: 'First push',
    works: ['dray push'],
    peer: 'rclone copy',
    open: openPush,
    needs: (shapes) => ({
      holdings: ofAll(shapes, datasetHolding),
      // One at a time: the stored data, and the download for the comparison.
      source: largestOf(shapes),
      store: largestOf(shapes),
    }),
    isFar: true,
  },
  {
    name: 'growth-clone',
    title: 'Clone',
    works: ['dray clone'],
    peer: 'rclone copy',
    open: openFetch,
    needs: (shapes) => ({
      holdings: [...ofAll(shapes, datasetHolding), ...ofAll(shapes, writtenHolding)],
      source: largestOf(shapes),
      store: packsOf(shapes),
    }),
    isFar: true,
  },
];

function ofAll(
  shapes: readonly DatasetShape[],
  create: (shape: DatasetShape) => Holding,
): readonly Holding[] {
  return shapes.map((shape) => create(shape));
}

function largestOf(shapes: readonly DatasetShape[]): Room {
  const largest = shapes.at(-1);
  return largest ? roomOf(largest) : NO_ROOM;
}

/** Dray's stored data of all shapes: small files share objects. */
function packsOf(shapes: readonly DatasetShape[]): Room {
  return { ...addRooms(...shapes.map((shape) => roomOf(shape))), inodes: 0 };
}

/**
 * @param shapes Shapes of one kind, from the smallest to the largest, each with ten times as many files.
 * @param program The program that Node runs as Dray: the published command; tests use the sources.
 */
export function createGrowthScenarios(
  shapes: readonly DatasetShape[],
  program = DRAY_COMMAND,
): readonly Scenario[] {
  const counts = shapes.map(({ files }) => formatCount(files)).join(', ');
  return GROWTHS.map(
    (growth): Scenario => ({
      name: growth.name,
      title: `${growth.title}: ${counts} files of up to 1 KiB`,
      targets: listTargets(growth, shapes),
      limitMs: LIMIT_MS,
      needs: growth.needs(shapes),
      ...(growth.isFar ? {} : { isLocal: true }),
      open: (bench, latencyMs) => openGrowth(bench, { shapes, latencyMs, program }, growth.open),
    }),
  );
}

function listTargets({ works, peer, more }: Growth, shapes: readonly DatasetShape[]): readonly Target[] {
  const [fewer, largest] = shapes.slice(-2);
  if (!fewer || !largest) throw new RangeError('Growth needs two sizes.');
  const ofWork = works.flatMap((work): Target[] => {
    // Over all sizes, and over the two largest alone, because a constant part hides in the smallest.
    const exponents = [shapes, [fewer, largest]].flatMap((sizes) =>
      (['wall', 'cpu'] as const).map(
        (measure): Target => ({
          kind: 'exponent',
          of: work,
          points: sizes.map((shape) => ({ files: shape.files, entrant: sizedName(work, shape) })),
          start: START,
          measure,
          atMost: EXPONENT_MAX,
        }),
      ),
    );
    const rss = (over: string, of: DatasetShape, atMost: number): Target => ({
      kind: 'growthOfRss',
      of: sizedName(work, of),
      over,
      atMost,
    });
    return [
      ...exponents,
      rss(sizedName(work, fewer), largest, RSS_GROWTH_MAX),
      ...shapes.slice(-2).map((shape) => rss(sizedName(peer, shape), shape, 1)),
    ];
  });
  return [...ofWork, ...(more?.(largest) ?? [])];
}
