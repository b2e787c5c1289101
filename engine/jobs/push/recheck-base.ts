/**
 * `dray push --no-index` checks on the remote for everything that the base commit names, and stores lost
 * content again from the working copy. The existence query finds objects and chunks; a listing finds packs. A
 * blob that moves to a new pack gets its new place in the next commit.
 */
import { isDeepStrictEqual } from 'node:util';
import { DrayError } from '../../api/error.ts';
import type { Chunk, Entry, FileEntry, PackHash } from '../../model/entry.ts';
import type { ExistenceQuery } from '../../query/existence/existence-query.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import {
  hashFromAnyObjectKey,
  hashFromPackKey,
  objectKey,
  PACKS_PREFIX,
  packKey,
  segmentKey,
} from '../../repository/keys.ts';
import { keysOfEntry } from '../../repository/manifest/entry-keys.ts';
import { EMPTY_MANIFEST, type EntryChange } from '../../repository/manifest/manifest.ts';
import { type ReadEntriesOptions, readEntries } from '../../repository/manifest/read-entries.ts';
import {
  createRelocations,
  currentPlace,
  type KnownRelocations,
} from '../../repository/packs/current-place.ts';
import { type BaseCommit, rememberBlob } from '../session/base/base-commit.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { storedAs } from './stored-blobs.ts';

export interface RecheckOptions {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly link: LinkedRepository;
  readonly base: BaseCommit;
  readonly query: ExistenceQuery;
}

/** @throws `conflict` when the branch has moved on: a repair would not mend the commit that it names now */
function checkAtBase(session: Session, link: LinkedRepository): void {
  const base = session.state.bases[session.remoteName];
  if (link.tip && base !== undefined && link.tip.commit !== base) throw movedOn(session.state.branch);
}

/** @throws `conflict` */
export function forgetRemote(session: Session, link: LinkedRepository): void {
  checkAtBase(session, link);
  session.index.repositories.forgetObjects(link.known.id);
  session.index.settings.base = undefined;
}

export function movedOn(branch: string): DrayError {
  return new DrayError('conflict', `The branch ${branch} has moved on. Pull first.`, {
    data: { branch },
    advice: 'Then run the command again.',
  });
}

/** What a repair knows: it restores only the base, and leaves changes of the working copy alone. */
export interface Restoration {
  /** Objects and packs that are missing or damaged. */
  readonly faulty: ReadonlySet<RemoteKey>;
  /** Segments and commits whose keys must not be named any more; their bytes are known. */
  readonly replaced: ReadonlySet<RemoteKey>;
}

/**
 * The rest of the index stays: after a kill the next repair may need its rows for a damaged segment.
 * @throws `conflict`
 */
export function forgetFaulty(session: Session, link: LinkedRepository, { faulty }: Restoration): void {
  checkAtBase(session, link);
  session.index.transaction(() => {
    for (const key of faulty) {
      const [blob, pack] = [hashFromAnyObjectKey(key), hashFromPackKey(key)];
      if (blob) link.blobs.removeObject(blob);
      if (pack) link.blobs.removePack(pack);
    }
  });
}

type RestoreOptions = Omit<RecheckOptions, 'query'> & { readonly restoration: Restoration };

/** Like `recheckBase`, without a question: the rest is on the remote. */
export async function rememberIntact(options: RestoreOptions): Promise<void> {
  const { base, link, restoration, session, store } = options;
  if (!base.commit) return;
  const relocations = createRelocations(store);
  for await (const entries of readEntries(store, base.commit, { signal: session.context.signal })) {
    const files = entries.filter(isStored);
    const moved = await movedEntries(files, options, { relocations });
    session.index.transaction(() => {
      for (const entry of files) {
        if (isIntact(entry, restoration)) {
          rememberBlob(link, moved.get(entry) ?? entry);
          continue;
        }
        // Nobody has looked at another place that the index may know.
        link.blobs.remove(entry.blob);
        if (entry.location.in === 'chunks')
          for (const { hash, sizeBytes: _, ...stored } of entry.location.chunks)
            if (!restoration.faulty.has(objectKey(hash, stored.generation)))
              link.blobs.add(hash, { in: 'object', ...stored });
      }
    });
  }
}

/** The entries of the base whose content has a new place, and one entry of each segment to be replaced. */
export async function restoredEntries(options: RestoreOptions): Promise<readonly EntryChange[]> {
  const { base, link, restoration, session, store } = options;
  const { manifest = EMPTY_MANIFEST } = base.commit ?? {};
  const rewritten = new Set<string>();
  if (manifest.kind === 'segments')
    for (const { first, hash } of manifest.segments)
      if (restoration.replaced.has(segmentKey(hash))) rewritten.add(first);
  const changes: EntryChange[] = [];
  for await (const entries of readEntries(store, { manifest }, { signal: session.context.signal })) {
    for (const entry of entries) {
      const isFaulty = isStored(entry) && !isIntact(entry, restoration);
      const location = isFaulty ? link.blobs.locate(entry.blob) : undefined;
      if (isFaulty && location && !isDeepStrictEqual(entry.location, location))
        changes.push({ path: entry.path, entry: { ...entry, location } });
      else if (rewritten.has(entry.path)) changes.push({ path: entry.path, entry });
    }
  }
  return changes;
}

function isIntact(entry: FileEntry, { faulty }: Restoration): boolean {
  for (const key of keysOfEntry(entry)) if (faulty.has(key)) return false;
  return true;
}

/** Records in the index which of the base's blobs are on the remote. */
export async function recheckBase(options: RecheckOptions): Promise<void> {
  const { session, store, link, base, query } = options;
  if (!base.commit) return;
  let packs: ReadonlySet<PackHash> | undefined;
  const relocations = createRelocations(store);
  for await (const entries of readEntries(store, base.commit, partOf(session))) {
    const files = entries.filter(isStored);
    if (files.some((entry) => entry.location.in === 'pack')) packs ??= await listPacks(session, store);
    const moved = await movedEntries(files, options, { relocations, packs });
    query.noteWanted(files.length);
    const present = await query.resolve([...new Set(files.flatMap(objectsOf).map(({ hash }) => hash))]);
    session.index.transaction(() => {
      for (const entry of files) {
        const { location } = entry;
        if (location.in === 'pack') {
          if (moved.has(entry) || packs?.has(location.pack)) rememberBlob(link, moved.get(entry) ?? entry);
          continue;
        }
        const found = objectsOf(entry).flatMap(({ hash, sizeBytes }): Chunk[] => {
          const storedBytes = present.get(hash);
          if (storedBytes === undefined) return [];
          return [{ hash, sizeBytes, ...storedAs(sizeBytes, storedBytes) }];
        });
        for (const { hash, sizeBytes: _, ...stored } of found)
          link.blobs.add(hash, { in: 'object', ...stored });
        if (location.in === 'chunks' && found.length === location.chunks.length)
          link.blobs.add(entry.blob, { in: 'chunks', chunks: found });
      }
    });
  }
}

/**
 * Entries of the base whose content has a new place and which the working copy did not change, in order.
 * Content that is neither on the remote nor here gets a warning, and its entry stays.
 */
export async function relocatedEntries(options: RecheckOptions): Promise<readonly EntryChange[]> {
  const { session, store, link, base } = options;
  const relocated: EntryChange[] = [];
  if (!base.commit) return relocated;
  const relocations = createRelocations(store);
  for await (const entries of readEntries(store, base.commit, partOf(session))) {
    const files = entries.filter(isStored);
    const moved = await movedEntries(files, options, { relocations });
    for (const entry of files) {
      const location = link.blobs.locate(entry.blob);
      const isThere = [entry, moved.get(entry)].some((known) => isDeepStrictEqual(known?.location, location));
      if (!location) reportLost(session, entry);
      else if (!isThere && isUnchanged(session, entry)) {
        relocated.push({ path: entry.path, entry: { ...entry, location } });
      }
    }
  }
  return relocated;
}

/** Only content that the workspace holds can be stored again from here. */
function partOf(session: Session): ReadEntriesOptions {
  return { scope: scopeOf(session), signal: session.context.signal };
}

interface KnownPacks {
  readonly relocations: KnownRelocations;
  /** Those on the store, if they are known. */
  readonly packs?: ReadonlySet<PackHash> | undefined;
}

/** The entries in packs that a collection wrote anew, each with the place that its blob has now. */
async function movedEntries(
  entries: readonly FileEntry[],
  { link: { view }, session }: Pick<RecheckOptions, 'link' | 'session'>,
  { packs, relocations }: KnownPacks,
): Promise<ReadonlyMap<FileEntry, FileEntry>> {
  const moved = new Map<FileEntry, FileEntry>();
  if (!view || view.round === 0) return moved;
  const isThere = (pack: PackHash) => !view.avoids(packKey(pack)) && packs?.has(pack) !== false;
  for (const entry of entries) {
    if (entry.location.in !== 'pack' || isThere(entry.location.pack)) continue;
    const { signal } = session.context;
    const location = await currentPlace(entry.location, { isThere, relocations, signal });
    if (location) moved.set(entry, { ...entry, location });
  }
  return moved;
}

function isStored(entry: Entry): entry is FileEntry {
  return entry.kind === 'file' && entry.location.in !== 'nowhere';
}

function objectsOf({ blob: hash, location, sizeBytes }: FileEntry): readonly Chunk[] {
  if (location.in === 'object') return [{ hash, sizeBytes }];
  return location.in === 'chunks' ? location.chunks : [];
}

async function listPacks(session: Session, store: ObjectStore): Promise<ReadonlySet<PackHash>> {
  const packs = new Set<PackHash>();
  let continuation: string | undefined;
  do {
    const page = await store.list(
      { prefix: PACKS_PREFIX, ...(continuation === undefined ? {} : { continuation }) },
      { signal: session.context.signal },
    );
    for (const { key } of page.objects) {
      const hash = hashFromPackKey(key);
      if (hash !== undefined) packs.add(hash);
    }
    continuation = page.continuation;
  } while (continuation !== undefined);
  return packs;
}

function isUnchanged(session: Session, entry: FileEntry): boolean {
  const row = session.index.files.find(entry.path, 0);
  return row?.after?.hash === entry.blob;
}

function reportLost(session: Session, entry: FileEntry): void {
  session.context.emit({
    type: 'warning',
    warning: 'contentLost',
    path: entry.path,
    message: `${entry.path}: the remote has lost the base commit's content, and this workspace does not have it. Restore the file and push again.`,
  });
}
