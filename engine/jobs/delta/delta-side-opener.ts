/** Opens the two ends of a block delta: each is a file here or at a peer. */
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext, Throttle } from '../../api/jobs/jobs.ts';
import type { DeltaRequest } from '../../api/jobs/peers.ts';
import { systemClock } from '../../base/clock.ts';
import type { BlockSignature } from '../../checksums/block-digest.ts';
import { type BlockThreads, openBlockThreads } from '../../files/blocks/block-threads.ts';
import { openLocalDeltaSource } from '../../files/blocks/local-delta-source.ts';
import { openLocalDeltaTarget } from '../../files/blocks/local-delta-target.ts';
import { openTemporaryFolderBeside, type TemporaryFolder } from '../../files/disk/temporary-folder.ts';
import { localPlaceKind } from '../../files/scan/local-place.ts';
import { DELTA_CHUNK_SIZE, type DeltaFile, type DeltaTarget } from '../../model/delta-sides.ts';
import { travellingMode } from '../../model/special-modes.ts';
import type { PeerClient } from '../../remotes/peer/peer-client.ts';
import {
  createThrottle,
  throttledDeltaSource,
  throttledDeltaTarget,
} from '../../remotes/wrappers/with-throttle.ts';
import type { LocalPlace, RemotePlace } from '../places/places.ts';
import { connectJobToPeer } from '../session/opened-remote.ts';
import { readOnlyError } from '../session/read-only-peer.ts';
import { followLink } from '../trees/local-items.ts';

const BLOCK_BYTES = 64 * 1024;

type Wish = Pick<DeltaRequest, 'blockBytes' | 'hash' | 'isDryRun' | 'isInPlace' | 'mode'>;

export class SideOpener {
  readonly signature: BlockSignature;
  readonly #context: JobContext;
  readonly #request: Wish;
  readonly #clients: PeerClient[] = [];
  readonly #temporaries: TemporaryFolder[] = [];
  #threads: BlockThreads | undefined;

  constructor(context: JobContext, request: Wish) {
    this.#context = context;
    this.#request = request;
    // Content-defined chunks have one digest each.
    const blockBytes =
      request.mode === 'content' ? DELTA_CHUNK_SIZE.max : (request.blockBytes ?? BLOCK_BYTES);
    this.signature = { hash: request.hash ?? 'xxh3', seed: randomBytes(8).readBigUInt64BE(), blockBytes };
  }

  async source(place: LocalPlace | RemotePlace): Promise<DeltaFile> {
    if (place.kind === 'remote') {
      const { client, path } = await this.#openSessionRemote(place);
      const { deltaOpening, openPeerDeltaSource } = await import('../../remotes/peer/peer-delta-sides.ts');
      const opening = deltaOpening(path, this.signature);
      const source = await openPeerDeltaSource(client, opening, this.#context.signal);
      return throttlesOf(this.#context).reduce(throttledDeltaSource, source);
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

  async target(
    place: LocalPlace | RemotePlace,
    name: string,
    source: Pick<DeltaFile, 'mode' | 'mtimeNs'>,
  ): Promise<DeltaTarget> {
    const { isDryRun = false, isInPlace = false } = this.#request;
    const { mtimeNs } = source;
    const mode = travellingMode(source.mode, {});
    if (place.kind === 'remote') {
      const { client, path } = await this.#openSessionRemote(place);
      if (isDryRun) await refuseReadOnly(client, place, this.#context.signal);
      const { deltaOpening, openPeerDeltaTarget } = await import('../../remotes/peer/peer-delta-sides.ts');
      const target = place.isFolderForm ? [path, name].filter((part) => part !== '').join('/') : path;
      const wish = { isInPlace, isDryRun, mtimeNs: mtimeNs.toString(), mode };
      const opening = { ...deltaOpening(target, this.signature), ...wish };
      const opened = await openPeerDeltaTarget(client, opening, this.#context.signal);
      return throttlesOf(this.#context).reduce(throttledDeltaTarget, opened);
    }
    const isFolder = place.isFolderForm || localPlaceKind(place.path) === 'folder';
    const path = isFolder ? join(place.path, name) : place.path;
    return openLocalDeltaTarget({
      path,
      signature: this.signature,
      chunkSize: DELTA_CHUNK_SIZE,
      threads: this.#ownThreads(),
      newTemporary: isInPlace || isDryRun ? undefined : this.#newTemporaryBeside(path),
      isDryRun: isDryRun && !isInPlace,
      mtimeNs,
      mode,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#threads?.close();
    for (const folder of this.#temporaries) folder.close();
    for (const client of this.#clients) await client.close();
  }

  #newTemporaryBeside(path: string): () => string {
    const folder = openTemporaryFolderBeside(path);
    this.#temporaries.push(folder);
    return folder.newName;
  }

  #ownThreads(): BlockThreads {
    this.#threads ??= openBlockThreads({ threads: availableParallelism(), signal: this.#context.signal });
    return this.#threads;
  }

  async #openSessionRemote(
    place: RemotePlace,
  ): Promise<{ readonly client: PeerClient; readonly path: string }> {
    if (place.url.kind !== 'peer')
      throw new DrayError(
        'usage',
        `${place.text} is not a file of this machine or of a peer; "dray copy" sends deltas to stores.`,
      );
    const client = await connectJobToPeer(this.#context, place.url);
    this.#clients.push(client);
    return { client, path: place.url.prefix };
  }
}

/** Each peer has its own bandwidth limit, as each store of a copy does. */
function throttlesOf({
  connection: { bandwidthBytesPerSecond: rate },
  throttle,
}: Pick<JobContext, 'connection' | 'throttle'>): readonly Throttle[] {
  return [
    ...(throttle ? [throttle] : []),
    ...(rate === undefined ? [] : [createThrottle({ bytesPerSecond: () => rate, clock: systemClock })]),
  ];
}

/** A peer compares for a dry run even if it is read-only, but the real run would fail like this. */
async function refuseReadOnly(client: PeerClient, { text }: RemotePlace, signal: AbortSignal): Promise<void> {
  const { isPeerReadOnly } = await import('../../remotes/peer/peer-files.ts');
  if (await isPeerReadOnly(client, signal)) throw readOnlyError(text);
}
