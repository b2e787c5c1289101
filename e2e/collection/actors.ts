/**
 * Those who work on a repository at the same time: Dray's own rounds, publishing and reading, over content of
 * a few bytes. A writer stores what its files need as a push does, without a folder and an index.
 */
import { hash as hashOf } from 'node:crypto';
import { DrayError } from '../../engine/api/error.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { createRetryBudget } from '../../engine/base/retry.ts';
import { runRounds } from '../../engine/jobs/collect/rounds.ts';
import { retireKeys } from '../../engine/jobs/repair/retire-keys.ts';
import type { BlobHash, CommitHash, Entry, FileEntry, PackHash } from '../../engine/model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../engine/remotes/object-store.ts';
import { withRetry } from '../../engine/remotes/wrappers/with-retry.ts';
import { checkWhole } from '../../engine/repository/collection/check-whole.ts';
import { readCollectionState } from '../../engine/repository/collection/collection-state.ts';
import {
  type CollectionView,
  createCollectionView,
  newObject,
} from '../../engine/repository/collection/collection-view.ts';
import { findAvoided, findAvoidedCommit } from '../../engine/repository/collection/find-avoided.ts';
import { publish } from '../../engine/repository/collection/publish.ts';
import { encodeCommit, readCommit, storeCommit } from '../../engine/repository/commit.ts';
import { objectKey, packKey } from '../../engine/repository/keys.ts';
import { keysOfEntry } from '../../engine/repository/manifest/entry-keys.ts';
import { totalsOfManifest } from '../../engine/repository/manifest/manifest.ts';
import { readEntries } from '../../engine/repository/manifest/read-entries.ts';
import { encodeSegment } from '../../engine/repository/manifest/segment.ts';
import { writeSegment } from '../../engine/repository/manifest/stored-segment.ts';
import { PackBuilder } from '../../engine/repository/packs/pack.ts';
import { withRelocations } from '../../engine/repository/packs/relocated-reads.ts';
import { readRef, removeRef } from '../../engine/repository/refs.ts';
import { checkLength, readRetention, writeRetention } from '../../engine/repository/retention.ts';
import { createAdaptiveLimit } from '../../engine/transfer/limit/adaptive-limit.ts';
import type { Actor } from './scheduler.ts';

export const REPOSITORY = '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77';

/** Time passes by what is asked of it, so that no two commits are equal and nothing waits. */
export function createModelClock(): Clock {
  let nowMs = Date.parse('2026-01-31T12:00:00.000Z');
  return { ...systemClock, nowMs: () => nowMs++, sleep: async () => {}, random: () => 0.5 };
}

export type Files = Readonly<Record<string, string>>;

/** What a writer remembers of the store between two pushes. */
export interface Writer {
  base: CommitHash | undefined;
}

export interface PusherOptions {
  readonly branch: string;
  readonly files: Files;
  readonly inPack?: boolean;
  /** Content of the base that must be avoided is stored again. */
  readonly isRestored?: boolean;
}

/** Stores the files of a push, and moves the branch: content as objects, or all of it in one pack. */
export function pusher(
  clock: Clock,
  writer: Writer,
  { branch, files, inPack = false, isRestored = false }: PusherOptions,
): Actor {
  return async (raw) => {
    const store = retrying(raw, clock);
    const view = createCollectionView(store);
    const name = `heads/${branch}`;
    const tip = await readRef(store, name);
    if (tip && tip.epoch !== view.round) await view.refresh();
    let own:
      | { readonly hash: CommitHash; readonly entries: readonly Entry[]; readonly round: number }
      | undefined;
    const published = await publish({
      store,
      name,
      repository: REPOSITORY,
      tip,
      view,
      clock,
      prepare: async (tip) => {
        if (own && tip?.commit === own.hash) return own.hash;
        const { base } = writer;
        if (base && tip?.commit !== base) {
          const commit = await readCommit(store, base);
          const read = (hash: CommitHash) => readCommit(store, hash);
          const found =
            (await findAvoided(store, { commit, hash: base }, view).catch(keyOfDamage)) ??
            (await findAvoidedCommit(base, view, read));
          if (found !== undefined) throw baseCollected();
        }
        if (own?.round !== view.round) {
          const known = base ? await entriesOf(store, base).catch(collectedBase) : [];
          const isKept = (entry: Entry) => ![...keysOfEntry(entry)].some((key) => view.avoids(key));
          const before = isRestored
            ? known.filter((entry) => isKept(entry) || !(entry.path in files))
            : known;
          const { round } = view;
          const entries = await storeContent(store, view, { files, before, inPack });
          const parents = base ? [base] : [];
          const hash = await storeEntries(store, clock, view, { entries, parents });
          own = { entries, hash, round };
        }
        if (!tip || tip.commit === base) return own.hash;
        // The branch may have been removed since, and its commit collected.
        const theirs = await entriesOf(store, tip.commit).catch(collectedBase);
        const ours = own.entries.filter(({ path }) => path in files);
        const taken = new Set(ours.map(({ path }) => path));
        const entries = [...theirs.filter(({ path }) => !taken.has(path)), ...ours];
        return storeEntries(store, clock, view, { entries, parents: [tip.commit, own.hash] });
      },
    });
    writer.base = own?.hash ?? published.commit;
  };
}

/** A segment that is missing is one that was collected. */
function keyOfDamage(error: unknown): unknown {
  if (error instanceof DrayError && error.code === 'damaged') return error.data.key;
  throw error;
}

function collectedBase(error: unknown): never {
  throw error instanceof DrayError && error.code === 'damaged' ? baseCollected() : error;
}

function baseCollected(): DrayError {
  return new DrayError('conflict', 'Pull first.', { data: { reason: 'baseCollected' } });
}

async function entriesOf(store: ObjectStore, hash: CommitHash): Promise<Entry[]> {
  const commit = await readCommit(store, hash);
  const entries: Entry[] = [];
  for await (const batch of readEntries(store, commit, { prefetch: 1 })) entries.push(...batch);
  return entries;
}

interface Dataset {
  readonly files: Files;
  /** Entries of the base: content that they have keeps its place. */
  readonly before: readonly Entry[];
  readonly inPack: boolean;
}

async function storeContent(
  store: ObjectStore,
  view: CollectionView,
  { before, files, inPack }: Dataset,
): Promise<readonly Entry[]> {
  const known = new Map(before.map((entry) => [entry.path, entry]));
  const kept = before.filter(({ path }) => !(path in files));
  const pack = new PackBuilder();
  const packed = new Map<string, number>();
  const entries: Entry[] = [...kept];
  for (const [path, text] of Object.entries(files)) {
    const blob = hashOf('sha256', text, 'hex') as BlobHash;
    const old = known.get(path);
    if (old?.kind === 'file' && old.blob === blob) entries.push(old);
    else if (inPack) packed.set(path, pack.add(blob, Buffer.from(text)));
    else entries.push(fileOf(path, text, { in: 'object', ...(await storeObject(store, view, blob, text)) }));
  }
  if (packed.size > 0) {
    const { bytes, hash } = pack.finish((taken) => view.avoids(packKey(taken)));
    await store.put(packKey(hash), bytes, { condition: { absent: true } });
    for (const [path, offset] of packed)
      entries.push(fileOf(path, files[path]!, { in: 'pack', pack: hash as PackHash, offset }));
  }
  return entries;
}

/** As a push: what the store has already is not sent, unless a collection has condemned it. */
async function storeObject(store: ObjectStore, view: CollectionView, blob: BlobHash, text: string) {
  const key = objectKey(blob);
  if (!view.avoids(key) && (await store.head(key))) return {};
  const form = newObject(view, blob);
  await store.put(objectKey(blob, form.generation), Buffer.from(text), { condition: { absent: true } });
  return form;
}

function fileOf(path: string, text: string, location: FileEntry['location']): Entry {
  const blob = hashOf('sha256', text, 'hex') as BlobHash;
  return { kind: 'file', path, sizeBytes: text.length, mtimeNs: 0n, executable: false, blob, location };
}

/** One segment for each entry, so that commits share segments. */
async function storeEntries(
  store: ObjectStore,
  clock: Clock,
  view: CollectionView,
  { entries, parents }: { readonly entries: readonly Entry[]; readonly parents: readonly CommitHash[] },
): Promise<CommitHash> {
  const segments = [];
  for (const entry of entries.toSorted((left, right) => (left.path < right.path ? -1 : 1))) {
    const segment = encodeSegment([entry], view);
    await writeSegment(store, segment);
    segments.push(segment.ref);
  }
  const manifest = { kind: 'segments', segments } as const;
  const time = new Date(clock.nowMs()).toISOString();
  const totals = totalsOfManifest(manifest);
  const commit = { repository: REPOSITORY, parents, author: '', message: '', time, totals, manifest };
  const encoded = encodeCommit(commit, view.round);
  await storeCommit(store, encoded);
  return encoded.hash;
}

/** Makes sure that no new content gets the key, as a repair does where an object is damaged. */
export function retirer(clock: Clock, key: RemoteKey): Actor {
  return async (raw, signal) =>
    retireKeys({ ...toolsFor(raw, clock, signal), repository: REPOSITORY }, [key]);
}

function toolsFor(raw: ObjectStore, clock: Clock, signal: AbortSignal) {
  const context = { signal, emit: () => {} } as never;
  const limit = createAdaptiveLimit({ clock, idleMs: () => 0, fixed: 1 });
  return { context, clock, limit, store: retrying(raw, clock) };
}

export function collector(clock: Clock): Actor {
  return async (raw, signal) => {
    const progress = { phase: () => {}, add: () => {} };
    const tools = { ...toolsFor(raw, clock, signal), progress };
    await runRounds(tools, { repository: REPOSITORY, graceSeconds: 0, packTarget: 1_000, dryRun: false });
  };
}

/** Gives a tag or a branch to a commit that exists, as `dray tag NAME COMMIT` does. */
export function namer(clock: Clock, name: string, commit: CommitHash): Actor {
  return async (raw) => {
    const store = retrying(raw, clock);
    const content = { commit: await readCommit(store, commit), hash: commit };
    const view = createCollectionView(store);
    const tip = await readRef(store, name);
    const prepare = async () => {
      await checkWhole(store, content, { branch: 'heads/main', view });
      return commit;
    };
    await publish({ store, name, repository: REPOSITORY, tip, view, clock, prepare });
  };
}

/** Puts a commit on the list of forgotten ones, as `dray forget` does. */
export function forgetter(clock: Clock, commit: CommitHash): Actor {
  return async (raw) => {
    const store = retrying(raw, clock);
    for (;;) {
      const counted = (await readCollectionState(store))?.state.forgotten ?? 0;
      const before = await readRetention(store);
      checkLength(store, before, counted);
      const forgotten = before?.forgotten ?? [];
      if (forgotten.includes(commit)) return;
      const after = { repository: REPOSITORY, forgotten: [...forgotten, commit] };
      if (await writeRetention(store, after, before)) return;
    }
  };
}

/** Takes the branch's commit as the base, as a pull does. */
export function puller(clock: Clock, writer: Writer, branch: string): Actor {
  return async (raw) => {
    const tip = await readRef(retrying(raw, clock), `heads/${branch}`);
    if (tip) writer.base = tip.commit;
  };
}

export function remover(clock: Clock, name: string): Actor {
  return async (raw) => {
    const store = retrying(raw, clock);
    const seen = await readRef(store, name);
    if (seen) await removeRef(store, seen);
  };
}

/** Reads all that a branch names; it may be moved on, but what the branch has now must be there. */
export function cloner(clock: Clock, branch: string): Actor {
  return async (raw) => {
    const store = retrying(raw, clock);
    for (let tries = 0; ; tries += 1) {
      const tip = await readRef(store, `heads/${branch}`);
      if (!tip) return;
      const missing = await firstMissing(store, tip.commit).catch((error: unknown) => {
        if (error instanceof DrayError && ['damaged', 'notFound'].includes(error.code)) return error.message;
        throw error;
      });
      if (missing === undefined) return;
      const now = await readRef(store, `heads/${branch}`);
      if (now?.commit === tip.commit) throw new Error(`The branch names ${missing}, which is missing.`);
      if (tries > 10) throw new Error('The branch moves on for ever.');
    }
  };
}

/** Of all that a commit needs. A pack that a collection wrote anew need not be there. */
export async function firstMissing(store: ObjectStore, hash: CommitHash): Promise<RemoteKey | undefined> {
  for (const entry of await entriesOf(store, hash))
    for (const key of keysOfEntry(entry))
      if (!(await store.head(key)) && !(await hasMoved(store, entry))) return key;
  return undefined;
}

async function hasMoved(store: ObjectStore, entry: Entry): Promise<boolean> {
  if (entry.kind !== 'file' || entry.location.in !== 'pack') return false;
  const { offset: start, pack } = entry.location;
  const range = { start, end: start + entry.sizeBytes };
  const read = await withRelocations(store).read(packKey(pack), { range, maxBytes: entry.sizeBytes });
  return read !== undefined && hashOf('sha256', read.bytes) === entry.blob;
}

export async function keysOf(store: ObjectStore, hash: CommitHash): Promise<ReadonlySet<RemoteKey>> {
  return new Set((await entriesOf(store, hash)).flatMap((entry) => [...keysOfEntry(entry)]));
}

function retrying(store: ObjectStore, clock: Clock): ObjectStore {
  return withRetry(store, { clock, budget: createRetryBudget() });
}
