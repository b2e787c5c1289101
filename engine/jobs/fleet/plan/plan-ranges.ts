/** Divides the work into ranges of keys that are listed at the same time. */
import * as v from 'valibot';
import type { FleetPlan, FleetRequest, FleetWork } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { type KeyRange, withinRange } from '../../../remotes/wrappers/within-range.ts';
import { nothingThere } from '../../places/open-side.ts';
import { holdsSomething } from '../../places/source-presence.ts';
import { openTreePair, type TreePair } from '../../trees/open-pair.ts';
import type { TreeSide } from '../../trees/sides.ts';
import { forgetFailures } from '../failures.ts';
import { type FleetFolder, withFleet } from '../fleet-folder.ts';
import { readPart } from '../fleet-part.ts';
import { PART_FILES_MAX, RANGES_WANTED } from '../fleet-sizes.ts';
import { checkPrefix, readTarget } from '../push/push-target.ts';
import { planVerification } from '../verify/plan-verification.ts';
import { divideKeys, type ReadKeys } from './divide-keys.ts';

/** The fewest parts of a range: with fewer, sampling costs more than it saves. */
const PARTS_IN_RANGE_MIN = 5;

const NAME = 'ranges.json';
const ranges = v.object({ splits: v.array(v.string()), estimatedKeys: v.number() });

/** Samples only the first time. @throws `notFound` when there is nothing at the source */
export function planRanges(context: JobContext, work: FleetWork): Promise<FleetPlan> {
  return withFleet(context, work, async (folder, { request }) => {
    // Without a part, they are those of an earlier run, whose parts may have been more.
    if (!(await readPart(folder, { range: 0, number: 0 }))) await forgetFailures(folder);
    if (request.kind === 'verify') return planVerification(context, folder, request);
    if (request.kind === 'push')
      await checkPrefix(context, folder.store, await readTarget(context, folder, request));
    if (request.workers) return { ranges: request.workers.length, estimatedKeys: 0 };
    let found = await folder.read(NAME, ranges);
    if (!found) {
      const divided = await divide(context, request);
      found = (await folder.writeNew(NAME, divided)) ? divided : await folder.read(NAME, ranges);
    }
    const { estimatedKeys, splits } = found!;
    return { ranges: splits.length + 1, estimatedKeys };
  });
}

/** The bounds of a range. */
export async function readRange(folder: FleetFolder, range: number): Promise<KeyRange> {
  const { splits } = (await folder.read(NAME, ranges)) ?? { splits: [] };
  return boundsOf(splits[range - 1], splits[range]);
}

export function boundsOf(after: string | undefined, upTo: string | undefined): KeyRange {
  return { ...(after === undefined ? {} : { after }), ...(upTo === undefined ? {} : { upTo }) };
}

async function divide(context: JobContext, request: FleetRequest) {
  const pair = await openTreePair(context, request);
  try {
    await checkHolds(pair, context.signal);
    const sides = listsBothSides(request) ? [pair.source, pair.destination] : [pair.source];
    return await divideKeys({
      stores: sides.map((side) => readerOf(side, context.signal)),
      rangesWanted: request.rangesWanted ?? RANGES_WANTED,
      keysInRangeMin: PARTS_IN_RANGE_MIN * (request.partFilesMax ?? PART_FILES_MAX),
    });
  } finally {
    await pair.close();
  }
}

/** Extra files at the destination are work too. */
export function listsBothSides({ kind, oneWay }: FleetRequest): boolean {
  return kind === 'sync' || (kind === 'check' && !oneWay);
}

/** @throws `notFound` when there is nothing at the source, `bucketMissing` */
export async function checkSource(context: JobContext, request: FleetRequest): Promise<void> {
  await using pair = await openTreePair(context, request);
  await checkHolds(pair, context.signal);
}

/** A source without objects is probably mistyped, and a sync would empty the destination. */
async function checkHolds({ mayBeEmpty, source }: TreePair, signal: AbortSignal): Promise<void> {
  if (source.kind === 'local' || (await holdsSomething(source, signal)) || mayBeEmpty) return;
  throw nothingThere(source.text);
}

function readerOf(side: TreeSide, signal: AbortSignal): ReadKeys {
  if (side.kind === 'local') throw new Error('unreachable');
  return async (after) => {
    // A store that lists without order is refused.
    const store = withinRange(side.store, after === undefined ? {} : { after });
    const page = await side.limit.run(() => store.list({ prefix: '' }, { signal }), { bytes: 0, signal });
    return { keys: page.objects.map(({ key }) => key), isLast: page.continuation === undefined };
  };
}
