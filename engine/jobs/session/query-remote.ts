/** Prepares the existence query for a repository: its probe, its measured costs, its remembered size. */
import type { QueryMode } from '../../api/events.ts';
import type { BlobHash } from '../../model/entry.ts';
import { pricesOf } from '../../model/prices.ts';
import type { ExistenceProbe } from '../../query/existence/existence-probe.ts';
import {
  createExistenceQuery,
  type ExistenceOptions,
  type ExistenceQuery,
} from '../../query/existence/existence-query.ts';
import { type CostModel, DEFAULT_COSTS } from '../../query/existence/plan-query.ts';
import type { ObjectStore, RemoteKey, StoreSealing } from '../../remotes/object-store.ts';
import { hashFromObjectKey, OBJECTS_PREFIX, objectKey } from '../../repository/keys.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { type BaseCommit, pendingScope } from './base/base-commit.ts';
import type { LinkedRepository } from './link-repository.ts';
import type { Session } from './open-workspace.ts';
import type { OpenedRemote } from './opened-remote.ts';

/** A key that a collection has condemned counts as absent, whatever the store answers, and is not asked. */
export function openExistenceQuery(
  session: Session,
  remote: OpenedRemote,
  link: LinkedRepository,
  options: { readonly base: BaseCommit; readonly mode?: QueryMode | undefined },
): ExistenceQuery {
  const { signal } = session.context;
  const query = inStoredNames(
    remote,
    createExistenceQuery(existenceOptions(session, remote, link, options)),
    signal,
  );
  const { view } = link;
  if (!view) return query;
  return {
    ...query,
    resolve: (hashes) => query.resolve(hashes.filter((hash) => !view.avoids(objectKey(hash)))),
  };
}

function existenceOptions(
  session: Session,
  { store, limit }: OpenedRemote,
  link: LinkedRepository,
  { base, mode = 'auto' }: { readonly base: BaseCommit; readonly mode?: QueryMode | undefined },
): ExistenceOptions {
  const { repositories } = session.index;
  const { known } = link;
  return {
    probe: probeOf(store),
    mode,
    expectedCandidates: expectedCandidates(session, link, base),
    isEmpty: link.isEmpty,
    ...(known.objects === undefined
      ? {}
      : {
          remembered: { objects: known.objects.estimate, low: known.objects.low, high: known.objects.high },
        }),
    onEstimate: ({ objects, low, high, headMs, listMs }) => {
      repositories.rememberEstimate(known.id, { estimate: objects, low, high, atMs: session.clock.nowMs() });
      repositories.rememberLatencies(known.id, {
        ...(headMs === undefined ? {} : { headMs }),
        ...(listMs === undefined ? {} : { listMs }),
      });
    },
    costs: costsOf(store, link, limit),
    clock: session.clock,
    signal: session.context.signal,
  };
}

/**
 * The query relies on the order of a listing. In an encrypted repository that is the order of the keyed
 * names, so the query knows the objects by these.
 */
function inStoredNames(remote: OpenedRemote, query: ExistenceQuery, signal: AbortSignal): ExistenceQuery {
  const { sealing } = remote.store;
  if (!sealing) return query;
  const { plainKey, storedKey } = sealing;
  return {
    ...query,
    async resolve(hashes) {
      const stored = hashes.map((hash) => hashFromObjectKey(storedKey(objectKey(hash)))!);
      const found = await query.resolve(stored);
      const sizes = new Map<BlobHash, number>();
      const add = async ([name, sizeBytes]: [BlobHash, number]) => {
        const key = plainKey(objectKey(name));
        const size = await exactSize(remote, key, sizeBytes, signal);
        if (size !== undefined) sizes.set(hashFromObjectKey(key)!, size);
      };
      await Promise.all([...found].map(add));
      return sizes;
    },
  };
}

/** A listing shows padded sizes. The blob may be compressed, so its size must be known exactly. */
async function exactSize(
  { limit, store }: OpenedRemote,
  key: RemoteKey,
  sizeBytes: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (store.sealing?.listedBytes(sizeBytes) !== sizeBytes) return sizeBytes;
  return (await limit.run(() => store.head(key, { signal }), { bytes: 0, signal }))?.sizeBytes;
}

type Names = Pick<StoreSealing, 'plainKey' | 'storedKey'>;
const UNCHANGED: Names = { plainKey: (key) => key, storedKey: (key) => key };

/** HEAD and LIST over a repository's objects, by their names on the store. */
function probeOf(store: ObjectStore): ExistenceProbe {
  const { plainKey, storedKey }: Names = store.sealing ?? UNCHANGED;
  return {
    head: async (hash, signal) =>
      (await store.head(plainKey(objectKey(hash)), signal ? { signal } : {}))?.sizeBytes,
    list: async ({ prefix, after }, signal) => {
      const options = signal ? { signal } : {};
      const start = after === undefined ? {} : { startAfter: partialKey(after) };
      for (let from: { startAfter?: string; continuation?: string } = start; ; ) {
        const page = await store.list({ prefix: partialKey(prefix), ...from }, options);
        const hashes: BlobHash[] = [];
        const sizes: number[] = [];
        for (const { key, sizeBytes } of page.objects) {
          const hash = hashFromObjectKey(storedKey(key));
          if (hash === undefined) continue;
          hashes.push(hash);
          sizes.push(sizeBytes);
        }
        const { continuation } = page;
        // Other programs may have put so many keys there that a whole page has none of ours.
        if (hashes.length > 0 || continuation === undefined)
          return { hashes, sizes, isTruncated: continuation !== undefined };
        from = { continuation };
      }
    },
  };
}

/** `objects/ab/c` for `abc`: a key or a prefix of one. */
function partialKey(digits: string): string {
  return digits.length < 2
    ? `${OBJECTS_PREFIX}${digits}`
    : `${OBJECTS_PREFIX}${digits.slice(0, 2)}/${digits.slice(2)}`;
}

/** Files that may become objects: the pending ones too large for packs, and the chunks of the large ones. */
function expectedCandidates(session: Session, link: LinkedRepository, base: BaseCommit): number {
  const { packBelow, chunkAbove, chunkSize } = link.layout;
  return session.index.files.pendingObjects(pendingScope(link, base), {
    packBelow,
    chunkAbove: chunkAbove === 0 ? Number.MAX_SAFE_INTEGER : chunkAbove,
    chunkAverage: chunkSize.average,
  });
}

function costsOf(store: ObjectStore, link: LinkedRepository, limit: AdaptiveLimit): CostModel {
  const prices = pricesOf(store.provider);
  return {
    ...DEFAULT_COSTS,
    concurrency: limit.fixed ?? DEFAULT_COSTS.concurrency,
    headMs: link.known.headMs ?? DEFAULT_COSTS.headMs,
    listMs: link.known.listMs ?? DEFAULT_COSTS.listMs,
    dollarsPerHead: prices.reads / 1000,
    dollarsPerList: prices.lists / 1000,
  };
}
