/**
 * `dray delta`: makes one file equal to another; either may be at a peer. Only blocks that differ are sent.
 */
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { DeltaRequest, DeltaSummary } from '../../api/jobs/peers.ts';
import { Budget } from '../../base/budget.ts';
import { systemClock } from '../../base/clock.ts';
import { createLeasedMemory } from '../../base/leased-memory.ts';
import type { BlockSignature } from '../../checksums/block-digest.ts';
import type { DeltaFile, DeltaTarget } from '../../model/delta-sides.ts';
import { type DeltaReport, runBlockDelta } from '../../transfer/delta/block-delta.ts';
import { DELTA_RANGE_BYTES_MAX } from '../../transfer/delta/delta-plan.ts';
import { parseNamedPlace } from '../places/open-side.ts';
import { nameOfPlace } from '../places/places.ts';
import { createProgress } from '../session/progress.ts';
import { SideOpener } from './delta-side-opener.ts';

const CONCURRENCY = 4;
const MEMORY_BYTES = 128 * 1024 * 1024;

/**
 * @throws `notFound` without a source, `usage` for places that are not files, errors of reading and writing
 */
export async function deltaFile(context: JobContext, request: DeltaRequest): Promise<DeltaSummary> {
  const from = parseNamedPlace(context, request.source);
  const to = parseNamedPlace(context, request.destination);
  await using opener = new SideOpener(context, request);
  const source = await opener.source(from);
  try {
    const target = await opener.target(to, nameOfPlace(from), source);
    const report = await runDelta(context, request, { source, target, signature: opener.signature });
    return summaryOf(request, { source: from.text, destination: to.text }, report);
  } finally {
    await source.close();
  }
}

interface Sides {
  readonly source: DeltaFile;
  readonly target: DeltaTarget;
  readonly signature: BlockSignature;
}

export async function runDelta(
  context: JobContext,
  request: DeltaRequest,
  sides: Sides,
): Promise<DeltaReport> {
  const totals = { filesTotal: 1, bytesTotal: sides.source.sizeBytes };
  const progress = createProgress({ context, clock: systemClock }, { phase: 'upload', totals: () => totals });
  let reported = 0;
  const report = await runBlockDelta({
    ...sides,
    mode: request.mode ?? 'blocks',
    concurrency: request.concurrency ?? CONCURRENCY,
    memory: createLeasedMemory({
      budget: new Budget(MEMORY_BYTES),
      largestBytes: Math.max(DELTA_RANGE_BYTES_MAX, sides.signature.blockBytes),
      open: (length) => ({ buffer: new SharedArrayBuffer(length), start: 0 }),
    }),
    ...(request.isDryRun ? { isDryRun: true } : {}),
    signal: context.signal,
    onProgress: ({ doneBytes }) => {
      progress.add(0, doneBytes - reported);
      reported = doneBytes;
    },
  });
  progress.add(1, 0);
  progress.end();
  return report;
}

function summaryOf(
  { isDryRun }: DeltaRequest,
  places: Pick<DeltaSummary, 'source' | 'destination'>,
  { clearedBytes, copiedBytes, sameBytes, sentBytes, sizeBytes, zeroBytes }: DeltaReport,
): DeltaSummary {
  const isSame = sentBytes + copiedBytes + clearedBytes === 0;
  return {
    result: isSame ? 'upToDate' : isDryRun ? 'wouldCopy' : 'copied',
    ...places,
    sizeBytes,
    sentBytes,
    keptBytes: sameBytes,
    zeroBytes,
  };
}
