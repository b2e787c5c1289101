/**
 * Makes one file equal to another that is elsewhere, block by block. Both ends sign a segment at the same
 * time. The blocks that differ travel while later segments are still being signed.
 *
 * Invariant: before the target is completed, each of its blocks is known to have the source's digest. It had
 * that digest before, or both blocks are zeros, or the target signed the bytes that arrived and this module
 * compared the digests. A source that changes during the delta sends bytes that it did not sign, so the
 * comparison fails. Damage in transit fails it too.
 */
import { DrayError } from '../../api/error.ts';
import { checkAborted } from '../../base/abort.ts';
import { Budget } from '../../base/budget.ts';
import type { LeasedMemory } from '../../base/leased-memory.ts';
import { TaskSet } from '../../base/task-set.ts';
import { BLOCK_DIGEST_BYTES, type BlockSignature, zeroBlockDigest } from '../../checksums/block-digest.ts';
import {
  type DeltaSource,
  type DeltaStart,
  type DeltaTarget,
  type RangeList,
  totalBytes,
} from '../../model/delta-sides.ts';
import { createDeltaOdds, type DeltaOdds } from './delta-odds.ts';
import {
  batchRanges,
  DELTA_RANGE_BYTES_MAX,
  planContent,
  planSegment,
  type RangeBatch,
} from './delta-plan.ts';

/** One request signs a segment. Rounded down to whole blocks. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;

export interface BlockDelta {
  readonly source: DeltaSource;
  readonly target: DeltaTarget;
  /**
   * The signature that both sides were opened with. For `content`, a block is as long as the largest chunk,
   * so each chunk has one digest.
   */
  readonly signature: BlockSignature;
  /**
   * `blocks` compares blocks at equal offsets. `content` finds chunks anywhere in the old file. `whole` sends
   * everything.
   */
  readonly mode: 'blocks' | 'content' | 'whole';
  /** Segments or batches in flight. */
  readonly concurrency: number;
  /** Buffers for content. One lease may take `DELTA_RANGE_BYTES_MAX` plus a block. */
  readonly memory: LeasedMemory;
  /** Writes nothing, and neither begins nor completes the target. */
  readonly isDryRun?: boolean;
  readonly signal: AbortSignal;
  readonly onProgress?: (report: DeltaReport) => void;
}

/**
 * Counts bytes of the new file. `sentBytes`, `copiedBytes`, `zeroBytes` and the bytes that stayed in place
 * add up to `doneBytes`.
 */
export interface DeltaReport {
  readonly sizeBytes: number;
  /** Compared, and sent if they differ. */
  readonly doneBytes: number;
  /** In a dry run: the bytes that a real run would send. */
  readonly sentBytes: number;
  /** Not sent: the target has these bytes, or they are zeros. */
  readonly sameBytes: number;
  readonly copiedBytes: number;
  readonly zeroBytes: number;
  /** Zeros that replaced other bytes. */
  readonly clearedBytes: number;
  /** Calls that carried the sent bytes, or would carry them in a dry run. */
  readonly batches: number;
}

export interface DeltaResult extends DeltaReport {
  /** Identifies the new file's content. '' if nothing does, and in a dry run. */
  readonly token: string;
}

interface Run extends BlockDelta {
  readonly set: TaskSet;
  readonly zero: Uint8Array;
  readonly starts: DeltaStart;
  readonly odds: DeltaOdds;
  readonly tally: { -readonly [K in keyof DeltaReport]: DeltaReport[K] };
}

/**
 * Closes the target (`complete` or `discard`) but not the source.
 * @throws `io` with reason `changedWhileRead` if either file changed during the delta; `checksumRefused` if
 * the bytes that arrived are not those that were signed; `aborted`; any error of the two sides.
 */
export async function runBlockDelta(delta: BlockDelta): Promise<DeltaResult> {
  const { source, target } = delta;
  const set = new TaskSet(delta.signal);
  try {
    checkAborted(delta.signal);
    if (delta.mode === 'content' && target.isInPlace) throw contentInPlace();
    const run = await openRun(delta, set);
    await everyBlock(run);
    await source.checkUnchanged();
    checkAborted(delta.signal);
    if (delta.isDryRun) await target.discard();
    const token = delta.isDryRun ? '' : await target.complete();
    return { ...run.tally, token };
  } catch (error) {
    set.fail(error);
    await set.settle().catch(() => undefined);
    await target.discard();
    throw error;
  } finally {
    set.end();
  }
}

async function openRun(delta: BlockDelta, set: TaskSet): Promise<Run> {
  const { isDryRun, mode, signature, source, target } = delta;
  const { sizeBytes } = source;
  const begun = isDryRun ? 'old' : await target.begin({ sizeBytes, keepsOld: mode !== 'whole' });
  const none = {
    doneBytes: 0,
    sentBytes: 0,
    sameBytes: 0,
    copiedBytes: 0,
    zeroBytes: 0,
    clearedBytes: 0,
    batches: 0,
  };
  const tally = { sizeBytes, ...none };
  return {
    ...delta,
    set,
    zero: await zeroBlockDigest(signature),
    starts: begun,
    odds: createDeltaOdds(),
    tally,
  };
}

async function everyBlock(run: Run): Promise<void> {
  switch (run.mode) {
    case 'blocks':
      return eachSegment(run, (start, end) =>
        // A dry run signs every segment, since it reports how much the files have in common.
        run.isDryRun || run.odds.isWorthSigning()
          ? deltaSegment(run, start, end)
          : wholeSegment(run, start, end),
      );
    case 'whole':
      return eachSegment(run, (start, end) => wholeSegment(run, start, end));
    case 'content':
      return deltaContent(run);
  }
}

async function eachSegment(run: Run, work: (start: number, end: number) => Promise<void>): Promise<void> {
  const { signature, source } = run;
  const segmentBytes = Math.max(1, Math.floor(SEGMENT_BYTES / signature.blockBytes)) * signature.blockBytes;
  const segments = Math.ceil(source.sizeBytes / segmentBytes);
  await inParallel(run, segments, (index) => {
    const start = index * segmentBytes;
    return work(start, Math.min(start + segmentBytes, source.sizeBytes));
  });
}

/** Starts the work in ascending order, and keeps `concurrency` of it in flight. */
async function inParallel(run: Run, count: number, work: (index: number) => Promise<void>): Promise<void> {
  const lanes = new Budget(run.concurrency);
  for (let index = 0; index < count; index += 1) {
    let permit: Awaited<ReturnType<Budget['acquire']>>;
    try {
      permit = await lanes.acquire(1, run.set.signal);
    } catch {
      // `settle` or `checkAborted` below throws the cause.
      break;
    }
    run.set.spawn(() => work(index).finally(() => permit.release()));
  }
  await run.set.settle();
  checkAborted(run.signal);
}

async function deltaSegment(run: Run, start: number, end: number): Promise<void> {
  const { set, signature, source, starts, target, zero } = run;
  const targetEnd = Math.min(end, target.oldBytes);
  const [signed, old] = await Promise.all([
    source.sign(start, end, set.signal),
    start < targetEnd ? target.sign(start, targetEnd, set.signal) : new Uint8Array(0),
  ]);
  const { blockBytes } = signature;
  const digestBytes = BLOCK_DIGEST_BYTES[signature.hash];
  checkLength(signed, digestBytes * Math.ceil((end - start) / blockBytes));
  checkLength(old, digestBytes * Math.ceil(Math.max(0, targetEnd - start) / blockBytes));
  const segment = { start, end, blockBytes, digestBytes, source: signed, target: old, targetEnd };
  const plan = planSegment({ ...segment, zero, starts });
  run.odds.found(plan.differentBytes, end - start);
  const batches = batchRanges(plan.different, DELTA_RANGE_BYTES_MAX);
  if (run.isDryRun) wouldSend(run, plan.differentBytes, batches.length);
  else {
    if (plan.cleared.length > 0) await target.clear(plan.cleared, set.signal);
    if (plan.copied.length > 0) await target.copy(plan.copied, set.signal);
    await allOf(
      batches.map((batch) =>
        send(run, batch, digestsOf(batch.ranges, { digests: signed, start, blockBytes, digestBytes })),
      ),
    );
  }
  for (let at = 2; at < plan.copied.length; at += 3) run.tally.copiedBytes += plan.copied[at]!;
  run.tally.sameBytes += plan.sameBytes;
  run.tally.zeroBytes += plan.zeroBytes;
  run.tally.clearedBytes += totalBytes(plan.cleared);
  done(run, end - start);
}

/** Waits for the batches of one segment. They run concurrently; memory and the sides bound them. */
async function allOf(sends: readonly Promise<void>[]): Promise<void> {
  // When one fails, the others end before this throws.
  await Promise.allSettled(sends);
  await Promise.all(sends);
}

function wouldSend({ tally }: Run, bytes: number, batches: number): void {
  tally.sentBytes += bytes;
  tally.batches += batches;
}

async function send(run: Run, { bytes, ranges }: RangeBatch, expected: Uint8Array): Promise<void> {
  const { set, source, target } = run;
  using lease = await run.memory.take(bytes, set.signal);
  const content = lease.bytes.subarray(0, bytes);
  await source.read(ranges, content, { sign: false, signal: set.signal });
  checkArrived(await target.write(ranges, content, set.signal), expected);
  run.tally.sentBytes += bytes;
  run.tally.batches += 1;
}

/** The source signs the bytes as it reads them. Zeros are not sent if the new file begins as zeros. */
async function wholeSegment(run: Run, start: number, end: number): Promise<void> {
  const { blockBytes } = run.signature;
  const step = Math.max(1, Math.floor(DELTA_RANGE_BYTES_MAX / blockBytes)) * blockBytes;
  const sends: Promise<void>[] = [];
  for (let at = start; at < end; at += step) sends.push(wholeRange(run, at, Math.min(at + step, end)));
  await allOf(sends);
}

async function wholeRange(run: Run, start: number, end: number): Promise<void> {
  const { set, source } = run;
  const lease = await run.memory.take(end - start, set.signal);
  try {
    const content = lease.bytes.subarray(0, end - start);
    const range = Float64Array.of(start, end);
    const digests = await source.read(range, content, { sign: true, signal: set.signal });
    if (run.isDryRun) wouldSend(run, end - start, 1);
    else await writeWhole(run, start, content, digests!);
  } finally {
    lease.release();
  }
  done(run, end - start);
}

async function writeWhole(run: Run, at: number, content: Uint8Array, digests: Uint8Array): Promise<void> {
  const { signature, starts, target, zero } = run;
  const { blockBytes } = signature;
  const digestBytes = BLOCK_DIGEST_BYTES[signature.hash];
  const end = at + content.length;
  checkLength(digests, digestBytes * Math.ceil(content.length / blockBytes));
  const segment = { start: at, end, blockBytes, digestBytes, source: digests };
  // Zeros are left out only where the new file begins as zeros. Elsewhere they overwrite old bytes.
  const isFresh = starts === 'zeros' || at >= target.oldBytes;
  const whole = isFresh
    ? planSegment({ ...segment, target: new Uint8Array(0), targetEnd: 0, zero, starts: 'zeros' })
    : { different: Float64Array.of(at, end), zeroBytes: 0, sameBytes: 0 };
  for (let index = 0; index < whole.different.length; index += 2) {
    const [from, to] = [whole.different[index]!, whole.different[index + 1]!];
    const ranges = Float64Array.of(from, to);
    const expected = digestsOf(ranges, { digests, start: at, blockBytes, digestBytes });
    checkArrived(await target.write(ranges, content.subarray(from - at, to - at), run.set.signal), expected);
    run.tally.sentBytes += to - from;
    run.tally.batches += 1;
  }
  run.tally.zeroBytes += whole.zeroBytes;
  run.tally.sameBytes += whole.sameBytes;
}

async function deltaContent(run: Run): Promise<void> {
  const { isDryRun, set, signature, source, target, tally } = run;
  const digestBytes = BLOCK_DIGEST_BYTES[signature.hash];
  const [now, old] = await Promise.all([source.cut(set.signal), target.cut(set.signal)]);
  checkLength(now.digests, digestBytes * now.lengths.length);
  checkLength(old.digests, digestBytes * old.lengths.length);
  const plan = planContent(now, old, digestBytes);
  if (plan.sentBytes + plan.copiedBytes !== source.sizeBytes) throw changed('chunks have another size');
  tally.copiedBytes = plan.copiedBytes;
  tally.sameBytes = plan.copiedBytes;
  const batches = batchRanges(plan.sent, DELTA_RANGE_BYTES_MAX);
  if (isDryRun) {
    wouldSend(run, plan.sentBytes, batches.length);
    done(run, source.sizeBytes);
    return;
  }
  const firsts: number[] = [];
  for (let at = 0, chunk = 0; at < batches.length; at += 1) {
    firsts.push(chunk);
    chunk += batches[at]!.ranges.length / 2;
  }
  const moves = batchMoves(plan.copied);
  await inParallel(run, moves.length + batches.length, async (index) => {
    if (index < moves.length) {
      await target.copy(moves[index]!, set.signal);
      done(run, moveBytes(moves[index]!));
      return;
    }
    const batch = batches[index - moves.length]!;
    const first = firsts[index - moves.length]! * digestBytes;
    const expected = plan.digests.subarray(first, first + (batch.ranges.length / 2) * digestBytes);
    await send(run, batch, expected);
    done(run, batch.bytes);
  });
}

const MOVES_IN_BATCH = 1_000;

/**
 * Batches of up to `SEGMENT_BYTES`. Longer moves are split, so that several run concurrently and each reports
 * progress soon.
 */
function batchMoves(moves: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer>[] {
  const batches: Float64Array<ArrayBuffer>[] = [];
  let batch: number[] = [];
  let bytes = 0;
  const end = () => {
    if (batch.length > 0) batches.push(Float64Array.from(batch));
    batch = [];
    bytes = 0;
  };
  for (let at = 0; at < moves.length; at += 3) {
    const [from, to, length] = [moves[at]!, moves[at + 1]!, moves[at + 2]!];
    for (let moved = 0; moved < length; ) {
      if (bytes >= SEGMENT_BYTES || batch.length >= 3 * MOVES_IN_BATCH) end();
      const part = Math.min(length - moved, SEGMENT_BYTES - bytes);
      batch.push(from + moved, to + moved, part);
      bytes += part;
      moved += part;
    }
  }
  end();
  return batches;
}

function moveBytes(moves: Float64Array): number {
  let total = 0;
  for (let at = 2; at < moves.length; at += 3) total += moves[at]!;
  return total;
}

function done(run: Run, bytes: number): void {
  run.tally.doneBytes += bytes;
  run.onProgress?.({ ...run.tally });
}

interface SignedBlocks {
  readonly digests: Uint8Array;
  /** The offset of the first block in the file. */
  readonly start: number;
  readonly blockBytes: number;
  readonly digestBytes: number;
}

function digestsOf(ranges: RangeList, { blockBytes, digestBytes, digests, start }: SignedBlocks): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < ranges.length; at += 2) {
    const first = (ranges[at]! - start) / blockBytes;
    const last = Math.ceil((ranges[at + 1]! - start) / blockBytes);
    parts.push(digests.subarray(digestBytes * first, digestBytes * last));
  }
  return Buffer.concat(parts);
}

function checkArrived(arrived: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(arrived, expected) !== 0) throw changed('written blocks do not match their digests');
}

function checkLength(digests: Uint8Array, lengthBytes: number): void {
  if (digests.length !== lengthBytes) throw changed('number of digests is wrong');
}

function contentInPlace(): DrayError {
  const message =
    '`--cdc` cannot be used with `--inplace`: chunks cannot move within one file. Leave out one of them.';
  return new DrayError('usage', message);
}

function changed(cause: string): DrayError {
  return new DrayError(
    'checksumRefused',
    `The file changed while it was read, or in transit: its ${cause}. ` +
      'Run the command again when no program writes to it.',
  );
}
