/** The scenarios of files between machines (`dray serve` with `dray copy`, `dray delta`), and what this release promises. */
import { formatBytes } from '../engine/api/numbers.ts';
import { DRAY_COMMAND } from './contenders.ts';
import { type DatasetShape, describeShape } from './dataset.ts';
import { DRAY_DELTA, DRAY_WHOLE, openDelta, openInsertion, PDIFFCOPY } from './peer-delta-entrants.ts';
import { DRAY_PEER, openPeerTree, RCLONE_WAYS, RSYNC } from './peer-tree-entrants.ts';
import type { Target } from './results.ts';
import type { Scenario } from './scenario.ts';

export interface PeerShapes {
  readonly many: DatasetShape;
  readonly huge: DatasetShape;
  /** Of the one file that is changed by blocks. */
  readonly fileBytes: number;
}

const LATENCIES_MS = [0, 30] as const;
const PERCENTS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100] as const;
const SENT_SHARE_MAX = 0.05;

/** @param program What Node runs as Dray: the published command, unless tests run the sources. */
export function createPeerScenarios(shapes: PeerShapes, program = DRAY_COMMAND): readonly Scenario[] {
  return [
    ...createTrees(shapes, program),
    ...PERCENTS.map((percent) => createDelta(shapes, percent, program)),
    createInsertion(shapes, program),
  ];
}

function createTrees({ fileBytes, huge, many }: PeerShapes, program: string): readonly Scenario[] {
  const file: DatasetShape = { files: 1, bytesMax: fileBytes, sizes: 'equal' };
  const works = [
    { name: 'peer-file', shape: file, work: 'fresh', targets: [toBestOf(1, RSYNC)] },
    { name: 'peer-large', shape: huge, work: 'fresh', targets: [toBestOf(0.9, RSYNC, ...RCLONE_WAYS)] },
    { name: 'peer-50k', shape: many, work: 'fresh', targets: [toBestOf(0.8, RSYNC)] },
    { name: 'peer-50k-again', shape: many, work: 'again', targets: [toBestOf(0.8, RSYNC)] },
  ] as const;
  return works.map(({ name, shape, targets, work }): Scenario => {
    const what = work === 'again' ? 'Second copy' : 'Copy';
    return {
      name,
      title: `${what} of ${describeShape(shape)} to another machine${work === 'again' ? ', nothing changed' : ''}`,
      targets,
      latenciesMs: LATENCIES_MS,
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
    open: (bench, latencyMs) => openInsertion(bench, { fileBytes, latencyMs, program }),
  };
}

function createDelta({ fileBytes }: PeerShapes, percent: number, program: string): Scenario {
  const targets: Target[] =
    percent === 10
      ? [deltaTo(0.6, PDIFFCOPY), deltaTo(0.4, RSYNC)]
      : [deltaTo(1, PDIFFCOPY, RSYNC), ...(percent === 100 ? [deltaTo(1.2, DRAY_WHOLE)] : [])];
  const title = `File of ${formatBytes(fileBytes)}, ${percent} % of its blocks of 4 KiB changed, in place on another machine`;
  return {
    name: `delta-${percent}`,
    title,
    latenciesMs: LATENCIES_MS,
    targets,
    open: (bench, latencyMs) => openDelta(bench, { fileBytes, percent, latencyMs, program }),
  };
}

function toBestOf(atMost: number, ...names: readonly string[]): Target {
  return { kind: 'ratio', of: DRAY_PEER, toBestOf: names, atMost };
}

function deltaTo(atMost: number, ...names: readonly string[]): Target {
  return { kind: 'ratio', of: DRAY_DELTA, toBestOf: names, atMost };
}
