/** The scenarios of plain trees (`dray copy`, `dray sync`), and what this release promises in each. */
import { formatCount } from '../../engine/api/text/numbers.ts';
import { type DatasetShape, describeShape, shapeOfSizes } from '../data/dataset.ts';
import { createBareGets } from '../entrants/bare/get-entrant.ts';
import { createBarePuts } from '../entrants/bare/put-entrant.ts';
import type { ContenderName } from '../entrants/contender.ts';
import { needsOfComparison, openComparison } from '../entrants/dry-run-entrants.ts';
import { needsOfAcross, openAcross } from '../entrants/server-to-server-entrants.ts';
import { RCLONE_BY_SERVER_TIME } from '../entrants/transfer-entrants.ts';
import { clone, firstPush, leaveOutSlow, secondPush, type Work } from '../entrants/transfer-works.ts';
import type { Bench } from '../machines/bench.ts';
import type { Target } from '../page/results.ts';
import { createExistence, DRY_RUNNERS } from './existence-scenarios.ts';
import type { Entrant, Scenario } from './scenario.ts';

export interface TreeShapes {
  readonly few: DatasetShape;
  readonly many: DatasetShape;
  readonly large: DatasetShape;
  /** The sizes of single objects between two servers. */
  readonly objectBytes: { readonly '1gb': number; readonly '10gb': number };
  /** Also copied between two servers: small and large files in one tree. */
  readonly mixed: DatasetShape;
  readonly compared: DatasetShape;
}

const MB = 1_000_000;
const PEERS: readonly ContenderName[] = ['rclone', 'rclone (defaults)', 's5cmd', 'aws'];
const ALL: readonly ContenderName[] = ['dray copy', ...PEERS];
const MANY_FILE_TOOLS = ALL.filter((name) => name !== 'aws');
/** Its target is about memory; a peer that takes longer is slow enough. */
const COMPARISON_LIMIT_MS = 5 * 60_000;
/** For an object of 10 GB on a disk of 100 MB/s. */
const ACROSS_LIMIT_MS = 5 * 60_000;
const ACROSS: readonly ContenderName[] = ['dray copy', 'rclone', 'rclone (defaults)'];

export function createTreeScenarios(shapes: TreeShapes): readonly Scenario[] {
  return [
    ...createUploads(shapes),
    ...createDownloads(shapes),
    ...createAcross(shapes),
    ...createExistence(shapes),
    createComparison(shapes),
  ];
}

function createUploads({ few, many, large }: TreeShapes): readonly Scenario[] {
  return [
    {
      name: 'copy-1k',
      title: `Copy of ${describeShape(few)} to a bucket`,
      targets: [copyToBestOf(0.7, PEERS)],
      latenciesMs: [0, 30],
      ...besides(firstPush(few, ALL), (bench, latencyMs) => createBarePuts(bench, few, latencyMs)),
    },
    {
      name: 'copy-1k-again',
      title: `Second copy of ${describeShape(few)} to a bucket, nothing changed`,
      targets: [copyToBestOf(0.5, [...PEERS, RCLONE_BY_SERVER_TIME])],
      latenciesMs: [0, 30],
      ...secondPush(few, ALL),
    },
    {
      name: 'copy-50k',
      title: `Copy of ${describeShape(many)} to a bucket`,
      targets: [copyToBestOf(0.7, PEERS)],
      ...besides(leaveOutSlow(firstPush(many, MANY_FILE_TOOLS), ['aws']), (bench, latencyMs) =>
        createBarePuts(bench, many, latencyMs),
      ),
    },
    {
      name: 'copy-50k-again',
      title: `Second copy of ${describeShape(many)} to a bucket, nothing changed`,
      targets: [copyToBestOf(0.5, [...PEERS, RCLONE_BY_SERVER_TIME])],
      ...leaveOutSlow(secondPush(many, MANY_FILE_TOOLS), ['aws']),
    },
    {
      name: 'copy-large',
      title: `Copy of ${describeShape(large)} to a bucket`,
      targets: [copyToBestOf(0.8, PEERS)],
      ...firstPush(large, ALL),
    },
    {
      name: 'copy-large-again',
      title: `Second copy of ${describeShape(large)} to a bucket, nothing changed`,
      targets: [copyToBestOf(1, [...PEERS, RCLONE_BY_SERVER_TIME])],
      ...secondPush(large, ALL),
    },
  ];
}

/** Adds a yardstick to a work; it needs no more room than a tool. */
function besides({ needs, open }: Work, create: (bench: Bench, latencyMs: number) => Promise<Entrant>): Work {
  return {
    needs,
    open: async (bench, latencyMs) => [...(await open(bench, latencyMs)), await create(bench, latencyMs)],
  };
}

function createDownloads({ few, many, large }: TreeShapes): readonly Scenario[] {
  return [
    {
      name: 'copy-1k-down',
      title: `Copy of ${describeShape(few)} to a folder`,
      targets: [copyToBestOf(0.7, PEERS)],
      latenciesMs: [0, 30],
      ...clone(few, ALL),
    },
    {
      name: 'copy-50k-down',
      title: `Copy of ${describeShape(many)} to a folder`,
      targets: [copyToBestOf(0.7, PEERS)],
      ...leaveOutSlow(clone(many, MANY_FILE_TOOLS), ['aws']),
    },
    {
      name: 'copy-large-down',
      title: `Copy of ${describeShape(large)} to a folder`,
      targets: [copyToBestOf(0.8, PEERS)],
      ...besides(clone(large, ALL), (bench, latencyMs) => createBareGets(bench, large, latencyMs)),
    },
  ];
}

function createAcross({ mixed, objectBytes }: TreeShapes): readonly Scenario[] {
  const create = (name: string, title: string, shape: DatasetShape): Scenario => ({
    name,
    title: `${title} from one server to another`,
    targets: [copyToBestOf(0.8, ['rclone', 'rclone (defaults)'])],
    limitMs: ACROSS_LIMIT_MS,
    needs: needsOfAcross(shape),
    open: (bench, latencyMs) => openAcross(bench, { shape, contenders: ACROSS, latencyMs }),
  });
  const createOne = (size: keyof typeof objectBytes) => {
    const sizeBytes = objectBytes[size];
    const title = `One object of ${formatCount(sizeBytes / MB)} MB`;
    return create(`s2s-${size}`, title, shapeOfSizes([sizeBytes]));
  };
  return [
    createOne('1gb'),
    // versitygw joins parts by copying them: to a slow disk, rclone sent 10 GB three times in half an hour
    // without success.
    { ...createOne('10gb'), server: 'minio' },
    create('s2s-mixed', describeShape(mixed), mixed),
  ];
}

function createComparison({ compared }: TreeShapes): Scenario {
  return {
    name: 'compare-1m',
    title: `Dry run of a sync by size: ${formatCount(compared.files)} files against as many objects, all equal but one`,
    targets: [{ kind: 'peakRss', of: 'dray copy', atMostBytes: 300 * MB }],
    limitMs: COMPARISON_LIMIT_MS,
    needs: needsOfComparison(compared),
    open: (bench, latencyMs) =>
      openComparison(bench, { shape: compared, contenders: DRY_RUNNERS, latencyMs }),
  };
}

function copyToBestOf(atMost: number, toBestOf: readonly string[]): Target {
  return { kind: 'ratio', of: 'dray copy', toBestOf, atMost };
}
