/** The scenarios between machines (`dray serve` with `copy` and `delta`), and what this release promises. */
import { formatBytes } from '../../engine/api/text/numbers.ts';
import { type DatasetShape, describeShape } from '../data/dataset.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import {
  DRAY_DELTA,
  DRAY_WHOLE,
  needsOfDelta,
  openDelta,
  openInsertion,
  PDIFFCOPY,
} from '../entrants/peer-delta-entrants.ts';
import { DRAY_PEER, needsOfPeerTree, openPeerTree, TREE_LIMIT_MS } from '../entrants/peer-tree-entrants.ts';
import { RCLONE_WAYS, RSYNC } from '../entrants/peer-ways.ts';
import type { Target } from '../page/results.ts';
import type { Scenario } from './scenario.ts';

export interface PeerShapes {
  readonly many: DatasetShape;
  readonly huge: DatasetShape;
  /** Files as large as system images. */
  readonly images: DatasetShape;
  /** The size of the file that changes by each tenth of its blocks. */
  readonly fileBytes: number;
  /** The sizes of the files that change by few, half and all of their blocks. */
  readonly deltaBytes: { readonly medium: number; readonly large: number };
}

const LATENCIES_MS = [0, 30] as const;
const PERCENTS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100] as const;
/** For runs through a latency and for the larger files. */
const FEW_PERCENTS: readonly number[] = [10, 50, 100];
/** A peer that takes longer gets a row that says so. */
const DELTA_LIMIT_MS = 4 * 60_000;
const SENT_SHARE_MAX = 0.05;

/** @param program The program that Node runs as Dray: the published command; tests use the sources. */
export function createPeerScenarios(shapes: PeerShapes, program = DRAY_COMMAND): readonly Scenario[] {
  const scenarios = [
    ...createTrees(shapes, program),
    ...PERCENTS.map((percent) =>
      createDelta({
        name: `delta-${percent}`,
        fileBytes: shapes.fileBytes,
        percent,
        program,
        latenciesMs: FEW_PERCENTS.includes(percent) ? LATENCIES_MS : [0],
      }),
    ),
    ...(['medium', 'large'] as const).flatMap((size) =>
      FEW_PERCENTS.map((percent) =>
        createDelta({
          name: `delta-${size}-${percent}`,
          fileBytes: shapes.deltaBytes[size],
          percent,
          program,
          latenciesMs: [0],
        }),
      ),
    ),
    createInsertion(shapes, program),
  ];
  return scenarios.map((scenario) => ({ ...scenario, isWithoutStore: true }));
}

function createTrees({ fileBytes, huge, images, many }: PeerShapes, program: string): readonly Scenario[] {
  const file: DatasetShape = { files: 1, bytesMax: fileBytes, sizes: 'equal' };
  const works = [
    { name: 'peer-file', shape: file, work: 'fresh', targets: [toBestOf(1, RSYNC)] },
    { name: 'peer-large', shape: huge, work: 'fresh', targets: [toBestOf(0.9, RSYNC, ...RCLONE_WAYS)] },
    { name: 'peer-images', shape: images, work: 'fresh', targets: [toBestOf(0.9, RSYNC, ...RCLONE_WAYS)] },
    { name: 'peer-50k', shape: many, work: 'fresh', targets: [toBestOf(0.8, RSYNC)] },
    { name: 'peer-50k-again', shape: many, work: 'again', targets: [toBestOf(0.8, RSYNC)] },
  ] as const;
  return works.map(({ name, shape, targets, work }): Scenario => {
    const what = work === 'again' ? 'Second copy' : 'Copy';
    return {
      name,
      title: `${what} of ${describeShape(shape)} to another machine${work === 'again' ? ', nothing changed' : ''}`,
      targets,
      latenciesMs: shape === images ? [0] : LATENCIES_MS,
      limitMs: TREE_LIMIT_MS,
      needs: needsOfPeerTree(shape, work),
      open: (bench, latencyMs) => openPeerTree(bench, { shape, work, latencyMs, program }),
    };
  });
}

function createInsertion({ fileBytes }: PeerShapes, program: string): Scenario {
  return {
    name: 'cdc-insert',
    title: `File of ${formatBytes(fileBytes)} with one byte inserted at its start, to another machine`,
    latenciesMs: LATENCIES_MS,
    targets: [{ kind: 'sent', of: DRAY_DELTA, atMostBytes: Math.floor(fileBytes * SENT_SHARE_MAX) }],
    needs: needsOfDelta({ fileBytes, by: 'insertion' }),
    open: (bench, latencyMs) => openInsertion(bench, { fileBytes, latencyMs, program }),
  };
}

interface DeltaRow extends Required<Pick<Scenario, 'name' | 'latenciesMs'>> {
  readonly fileBytes: number;
  readonly percent: number;
  readonly program: string;
}

function createDelta({ name, fileBytes, percent, program, latenciesMs }: DeltaRow): Scenario {
  const targets: Target[] =
    percent === 10
      ? [deltaTo(0.6, PDIFFCOPY), deltaTo(0.4, RSYNC)]
      : [deltaTo(1, PDIFFCOPY, RSYNC), ...(percent === 100 ? [deltaTo(1.2, DRAY_WHOLE)] : [])];
  return {
    name,
    title: `File of ${formatBytes(fileBytes)}, ${percent} % of its blocks of 4 KiB changed, in place on another machine`,
    latenciesMs,
    targets,
    limitMs: DELTA_LIMIT_MS,
    needs: needsOfDelta({ fileBytes, by: { percent } }),
    open: (bench, latencyMs) => openDelta(bench, { fileBytes, percent, latencyMs, program }),
  };
}

function toBestOf(atMost: number, ...names: readonly string[]): Target {
  return { kind: 'ratio', of: DRAY_PEER, toBestOf: names, atMost };
}

function deltaTo(atMost: number, ...names: readonly string[]): Target {
  return { kind: 'ratio', of: DRAY_DELTA, toBestOf: names, atMost };
}
