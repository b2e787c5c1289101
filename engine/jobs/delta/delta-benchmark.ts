/**
 * `dray delta --benchmark`: measures the time and the bytes of a delta for several shares of changed data. It
 * makes a copy of the source beside the destination. For each row it overwrites random blocks of the copy and
 * then synchronises it with the source. The source is only read, and the destination itself is not touched.
 */
import { randomBytes, randomFillSync } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type {
  DeltaBenchmarkRequest,
  DeltaBenchmarkRow,
  DeltaBenchmarkSummary,
  DeltaRequest,
  DeltaTiming,
} from '../../api/jobs/peers.ts';
import { systemClock } from '../../base/clock.ts';
import { localPlaceKind } from '../../files/scan/local-place.ts';
import { DELTA_RANGE_BYTES_MAX } from '../../transfer/delta/delta-plan.ts';
import { parseNamedPlace } from '../places/open-side.ts';
import { type LocalPlace, nameOfPlace, type RemotePlace } from '../places/places.ts';
import { connectJobToPeer } from '../session/opened-remote.ts';
import { runDelta } from './delta-file.ts';
import { SideOpener } from './delta-side-opener.ts';
import { findRsync, type Rsync } from './local-rsync.ts';

const OWNER_WRITES = 0o600;
const REMOVE_WITHIN_MS = 10_000;

interface Benchmark {
  readonly context: JobContext;
  readonly request: DeltaRequest;
  readonly from: LocalPlace | RemotePlace;
  /** Place of the copy. */
  readonly at: LocalPlace | RemotePlace;
}

/**
 * @throws As `deltaFile`; `damaged` when the copy does not equal the source in the end. Removes the copy in
 * any case.
 */
export async function benchmarkDelta(
  context: JobContext,
  { rows: rowCount, ...request }: DeltaBenchmarkRequest,
): Promise<DeltaBenchmarkSummary> {
  const from = parseNamedPlace(context, request.source);
  const to = parseNamedPlace(context, request.destination);
  const benchmark = {
    context: withoutProgress(context),
    request,
    from,
    at: placeBeside(to, nameOfPlace(from)),
  };
  const isLocal = from.kind === 'local' && benchmark.at.kind === 'local';
  const rsync = isLocal ? await findRsync(context) : undefined;
  try {
    const { blockBytes, sizeBytes } = await synchronise(benchmark, { mode: 'whole' });
    const rows: DeltaBenchmarkRow[] = [];
    for (let index = 0; index < rowCount; index += 1) {
      const changedShare = index / Math.max(1, rowCount - 1);
      rows.push(await measureRow({ benchmark, rsync, blockBytes }, changedShare));
    }
    return {
      source: from.text,
      destination: to.text,
      sizeBytes,
      blockBytes,
      rows,
      ...(rsync ? { rsyncVersion: rsync.version } : {}),
    };
  } finally {
    await remove(benchmark);
  }
}

/** Hides a row's progress: only the table is shown. */
function withoutProgress(context: JobContext): JobContext {
  return {
    ...context,
    emit: (event) => {
      if (event.type !== 'phase' && event.type !== 'progress') context.emit(event);
    },
  };
}

interface Measuring {
  readonly benchmark: Benchmark;
  readonly rsync: Rsync | undefined;
  readonly blockBytes: number;
}

/** Measures Dray and rsync; each starts with a copy that differs from the source by the same share. */
async function measureRow(
  { benchmark, blockBytes, rsync }: Measuring,
  changedShare: number,
): Promise<DeltaBenchmarkRow> {
  const changedBytes = await changeBlocks(benchmark, { blockBytes, changedShare });
  const dray = await timed(async () => (await synchronise(benchmark, {})).sentBytes);
  await checkSame(benchmark);
  if (!rsync) return { changedShare, changedBytes, dray };
  await changeBlocks(benchmark, { blockBytes, changedShare });
  const { at, from, request } = benchmark;
  const files = { source: (from as LocalPlace).path, destination: (at as LocalPlace).path };
  const rival = await timed(() =>
    rsync.synchronise(files, {
      isInPlace: request.isInPlace ?? false,
      isWhole: request.mode === 'whole',
      signal: benchmark.context.signal,
    }),
  );
  await checkSame(benchmark);
  return { changedShare, changedBytes, dray, rsync: rival };
}

async function timed(work: () => Promise<number>): Promise<DeltaTiming> {
  const startedMs = systemClock.monotonicMs();
  const sentBytes = await work();
  return { sentBytes, elapsedMs: systemClock.monotonicMs() - startedMs };
}

interface Synchronised {
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly blockBytes: number;
}

/** All of `dray delta`, connections and threads included, except the start of the program. */
async function synchronise(
  { at, context, from, request }: Benchmark,
  change: Pick<DeltaRequest, 'mode' | 'isDryRun'>,
): Promise<Synchronised> {
  const wish = { ...request, ...change };
  await using opener = new SideOpener(context, wish);
  const source = await opener.source(from);
  try {
    const { mtimeNs } = source;
    // The copy must be writable for the next row, even if the source is not.
    const target = await opener.target(at, '', { mtimeNs, mode: source.mode | OWNER_WRITES });
    const sides = { source, target, signature: opener.signature };
    const { sentBytes, sizeBytes } = await runDelta(context, wish, sides);
    return { sizeBytes, sentBytes, blockBytes: opener.signature.blockBytes };
  } finally {
    await source.close();
  }
}

async function checkSame(benchmark: Benchmark): Promise<void> {
  const { sentBytes } = await synchronise(benchmark, { mode: 'blocks', isDryRun: true });
  if (sentBytes === 0) return;
  throw new DrayError('damaged', `${benchmark.at.text} does not equal ${benchmark.from.text}.`, {
    data: { differentBytes: sentBytes },
  });
}

/** Overwrites a random share of the copy's blocks with random bytes. Resolves to the number of bytes. */
async function changeBlocks(
  { at, context, request }: Benchmark,
  { blockBytes, changedShare }: { readonly blockBytes: number; readonly changedShare: number },
): Promise<number> {
  const { signal } = context;
  await using opener = new SideOpener(context, { ...request, mode: 'blocks', isInPlace: true, blockBytes });
  const target = await opener.target(at, '', { mode: OWNER_WRITES, mtimeNs: 0n });
  try {
    const sizeBytes = target.oldBytes;
    await target.begin({ sizeBytes, keepsOld: true });
    let changedBytes = 0;
    let ranges: number[] = [];
    let bytes = 0;
    const flush = async () => {
      if (bytes > 0) await target.write(Float64Array.from(ranges), randomShared(bytes), signal);
      ranges = [];
      bytes = 0;
    };
    for (const start of chosenBlocks(sizeBytes, { blockBytes, changedShare })) {
      const end = Math.min(start + blockBytes, sizeBytes);
      ranges.push(start, end);
      bytes += end - start;
      changedBytes += end - start;
      if (bytes >= DELTA_RANGE_BYTES_MAX) await flush();
    }
    await flush();
    await target.complete();
    return changedBytes;
  } finally {
    await target.discard();
  }
}

/** Exactly `count` of the blocks in order, each equally likely (Knuth, TAOCP 2, 3.4.2, algorithm S). */
function* chosenBlocks(
  sizeBytes: number,
  { blockBytes, changedShare }: { readonly blockBytes: number; readonly changedShare: number },
): Generator<number> {
  const blocks = Math.ceil(sizeBytes / blockBytes);
  let wanted = Math.round(blocks * changedShare);
  for (let index = 0; index < blocks && wanted > 0; index += 1) {
    if (systemClock.random() * (blocks - index) >= wanted) continue;
    wanted -= 1;
    yield index * blockBytes;
  }
}

function randomShared(lengthBytes: number): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(lengthBytes));
  bytes.set(randomFillSync(new Uint8Array(lengthBytes)));
  return bytes;
}

/** A new name in the same folder. */
function placeBeside(to: LocalPlace | RemotePlace, sourceName: string): LocalPlace | RemotePlace {
  const ending = `.${randomBytes(6).toString('hex')}.dray-benchmark`;
  if (to.kind === 'local') {
    const isFolder = to.isFolderForm || localPlaceKind(to.path) === 'folder';
    const path = isFolder
      ? join(to.path, `.${sourceName}${ending}`)
      : join(dirname(to.path), `.${basename(to.path)}${ending}`);
    return { ...to, path, text: path, isFolderForm: false };
  }
  const { prefix } = to.url;
  const name = to.isFolderForm ? [prefix.replace(/\/$/, ''), sourceName].filter(Boolean).join('/') : prefix;
  return {
    ...to,
    url: { ...to.url, prefix: `${name}${ending}` },
    text: `${to.text}${ending}`,
    isFolderForm: false,
  };
}

/** Runs also after a stop. */
async function remove({ at, context }: Benchmark): Promise<void> {
  if (at.kind === 'local') return rmSync(at.path, { force: true });
  if (at.url.kind !== 'peer') return;
  const { removePeerFiles } = await import('../../remotes/peer/peer-files.ts');
  const client = await connectJobToPeer(context, at.url);
  try {
    await removePeerFiles(client, [at.url.prefix], AbortSignal.timeout(REMOVE_WITHIN_MS));
  } finally {
    await client.close();
  }
}
