/** `dray delta`: one file made like another, of which either may be at a peer. Only blocks that differ travel. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { JobContext } from '../api/jobs.ts';
import type { DeltaRequest, DeltaSummary } from '../api/peers.ts';
import type { BlockSignature } from '../base/block-digest.ts';
import { Budget } from '../base/budget.ts';
import { systemClock } from '../base/clock.ts';
import { createLeasedMemory } from '../base/leased-memory.ts';
import { DELTA_CHUNK_SIZE, type DeltaFile, type DeltaTarget } from '../model/delta-sides.ts';
import type { PeerClient } from '../remotes/peer/peer-client.ts';
import { type DeltaReport, runBlockDelta } from '../transfer/block-delta.ts';
import { DELTA_RANGE_BYTES_MAX } from '../transfer/delta-plan.ts';
import { type BlockThreads, openBlockThreads } from '../workspace/block-threads.ts';
import { openLocalDeltaSource } from '../workspace/local-delta-source.ts';
import { openLocalDeltaTarget } from '../workspace/local-delta-target.ts';
import { localPlaceKind } from '../workspace/local-place.ts';
import { connectPeerOf } from './connection.ts';
import { followLink } from './local-items.ts';
import { parseNamedPlace } from './open-side.ts';
import { type LocalPlace, nameOfPlace, type RemotePlace } from './places.ts';
import { createProgress } from './progress.ts';

const BLOCK_BYTES = 64 * 1024;
const CONCURRENCY = 4;
const MEMORY_BYTES = 128 * 1024 * 1024;

/** @throws `notFound` without a source, `usage` for places that hold no file, and what reading and writing throw. */
export async function deltaFile(context: JobContext, request: DeltaRequest): Promise<DeltaSummary> {
  const from = parseNamedPlace(context, request.source);
  const to = parseNamedPlace(context, request.destination);
  const opener = new SideOpener(context, request);
  try {
    const source = await opener.source(from);
    try {
      const target = await opener.target(to, nameOfPlace(from), source);
      const report = await run(context, request, { source, target, signature: opener.signature });
      return summaryOf(request, { source: from.text, destination: to.text }, report);
    } finally {
      await source.close();
    }
  } finally {
    await opener.close();
  }
}

class SideOpener {
  readonly signature: BlockSignature;
  readonly #context: JobContext;
  readonly #request: DeltaRequest;
  readonly #clients: PeerClient[] = [];
  #threads: BlockThreads | undefined;

  constructor(context: JobContext, request: DeltaRequest) {
    this.#context = context;
    this.#request = request;
    // Of chunks that are cut by content each has one digest.
    const blockBytes =
      request.mode === 'content' ? DELTA_CHUNK_SIZE.max : (request.blockBytes ?? BLOCK_BYTES);
    this.signature = { hash: request.hash ?? 'xxh3', seed: randomBytes(8).readBigUInt64BE(), blockBytes };
  }

  async source(place: LocalPlace | RemotePlace): Promise<DeltaFile> {
    if (place.kind === 'remote') {
      const { client, path } = await this.#connect(place);
      const { deltaOpening, openPeerDeltaSource } = await import('../remotes/peer/peer-delta-sides.ts');
      return openPeerDeltaSource(client, deltaOpening(path, this.signature), this.#context.signal);
    }
    if (localPlaceKind(place.path) !== 'file')
      throw new DrayError('notFound', `There is no file ${place.text}.`, { data: { path: place.path } });
    return openLocalDeltaSource({
      path: followLink(place.path),
      signature: this.signature,
      chunkSize: DELTA_CHUNK_SIZE,
      threads: this.#ownThreads(),
    });
  }

  async target(place: LocalPlace | RemotePlace, name: string, source: DeltaFile): Promise<DeltaTarget> {
    const { isDryRun = false, isInPlace = false } = this.#request;
    const { mode, mtimeNs } = source;
    if (place.kind === 'remote') {
      const { client, path } = await this.#connect(place);
      const { deltaOpening, openPeerDeltaTarget } = await import('../remotes/peer/peer-delta-sides.ts');
      const target = place.isFolderForm ? [path, name].filter((part) => part !== '').join('/') : path;
      const wish = { isInPlace, isDryRun, mtimeNs: mtimeNs.toString(), mode };
      const opening = { ...deltaOpening(target, this.signature), ...wish };
      return openPeerDeltaTarget(client, opening, this.#context.signal);
    }
    const isFolder = place.isFolderForm || localPlaceKind(place.path) === 'folder';
    const path = isFolder ? join(place.path, name) : place.path;
    return openLocalDeltaTarget({
      path,
      signature: this.signature,
      chunkSize: DELTA_CHUNK_SIZE,
      threads: this.#ownThreads(),
      temporary: isInPlace || isDryRun ? undefined : temporaryFor(path),
      mtimeNs,
      mode,
      isDurable: false,
    });
  }

  async close(): Promise<void> {
    await this.#threads?.close();
    for (const client of this.#clients) await client.close();
  }

  #ownThreads(): BlockThreads {
    this.#threads ??= openBlockThreads({ threads: availableParallelism(), signal: this.#context.signal });
    return this.#threads;
  }

  async #connect(place: RemotePlace): Promise<{ readonly client: PeerClient; readonly path: string }> {
    if (place.url.kind !== 'peer')
      throw new DrayError(
        'usage',
        `${place.text} is no file of this machine or of a peer; "dray copy" sends deltas to stores.`,
      );
    const client = await connectPeerOf(this.#context, place.url);
    this.#clients.push(client);
    return { client, path: place.url.prefix };
  }
}

/** Beside the file, with a name that no scan of a tree would take for one of its own. */
function temporaryFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.dray-part`);
}

interface Sides {
  readonly source: DeltaFile;
  readonly target: DeltaTarget;
  readonly signature: BlockSignature;
}

async function run(context: JobContext, request: DeltaRequest, sides: Sides): Promise<DeltaReport> {
  const totals = { files: 1, bytes: sides.source.sizeBytes };
  const progress = createProgress({ context, clock: systemClock }, 'upload', totals, () => 0);
  let told = 0;
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
      progress.add(0, doneBytes - told);
      told = doneBytes;
    },
  });
  progress.add(1, 0);
  progress.end();
  return report;
}

function summaryOf(
  { isDryRun }: DeltaRequest,
  places: Pick<DeltaSummary, 'source' | 'destination'>,
  { copiedBytes, sameBytes, sentBytes, sizeBytes, zeroBytes }: DeltaReport,
): DeltaSummary {
  const isSame = sentBytes === 0 && copiedBytes === 0;
  return {
    result: isSame ? 'upToDate' : isDryRun ? 'wouldCopy' : 'copied',
    ...places,
    sizeBytes,
    sentBytes,
    keptBytes: sameBytes,
    zeroBytes,
  };
}
