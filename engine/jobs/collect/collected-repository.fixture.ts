/** A repository in memory that collects garbage: pushes, collections, and what is needed and what is not. */
import { hash as hashOf } from 'node:crypto';
import { expect } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { type StepSweep, sweepSteps } from '../../base/sweep-steps.fixture.ts';
import {
  type BlobHash,
  type BlobLocation,
  type CommitHash,
  comparePaths,
  type Entry,
  type FileEntry,
} from '../../model/entry.ts';
import { DEFAULT_LAYOUT } from '../../model/layout.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import {
  type CollectionView,
  createCollectionView,
  newObject,
} from '../../repository/collection/collection-view.ts';
import { publish } from '../../repository/collection/publish.ts';
import { type Commit, encodeCommit, readCommit, storeCommit } from '../../repository/commit.ts';
import { createDescriptor } from '../../repository/descriptor.ts';
import { hashOfText } from '../../repository/entries.fixture.ts';
import {
  commitKey,
  isContentKey,
  objectKey,
  packKey,
  relocationKey,
  segmentKey,
} from '../../repository/keys.ts';
import { keysOfEntry } from '../../repository/manifest/entry-keys.ts';
import { type Manifest, totalsOfManifest } from '../../repository/manifest/manifest.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { encodeSegment } from '../../repository/manifest/segment.ts';
import { writeSegment } from '../../repository/manifest/stored-segment.ts';
import { PackBuilder } from '../../repository/packs/pack.ts';
import { withRelocations } from '../../repository/packs/relocated-reads.ts';
import { findMove, HOPS_MAX, readRelocation } from '../../repository/packs/relocation.ts';
import { listRefs, readRef } from '../../repository/refs.ts';
import { readRetention, writeRetention } from '../../repository/retention.ts';
import { createAdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { readForgotten } from '../retention/forgotten.ts';
import { readEntryStart } from '../versions/read-entry.ts';
import { type RoundOptions, type RoundsOutcome, runRounds } from './rounds.ts';

/** Content by path. What is below `packed/` lies in one pack. */
export type Files = Readonly<Record<string, string>>;

/** Files of 9,600 bytes that lie in one pack. */
export function packedFiles(names: readonly string[]): Files {
  return Object.fromEntries(names.map((name) => [`packed/${name}`, hashOfText(name).repeat(150)]));
}

export interface TestRepository {
  readonly id: string;
  readonly store: ObjectStore;
  /**
   * A push whose content replaces all of the branch's. Unchanged files keep their places.
   * @param via The store that it uses.
   */
  push(branch: string, files: Files, via?: ObjectStore, options?: PushOptions): Promise<CommitHash>;
  /** The paths of live refs whose content cannot be read. */
  unreadable(): Promise<readonly string[]>;
  forget(...commits: readonly CommitHash[]): Promise<void>;
  /** Everything that live refs need, whether it is there or not. */
  needed(): Promise<ReadonlySet<RemoteKey>>;
  keys(prefix?: string): Promise<readonly RemoteKey[]>;
  /** Content that is needed and not there. */
  missing(): Promise<readonly RemoteKey[]>;
  /** Content that is there and that nothing needs. */
  garbage(): Promise<readonly RemoteKey[]>;
  collect(options?: Partial<RoundOptions>, via?: ObjectStore): Promise<RoundsOutcome>;
}

export interface PushOptions {
  /** Entries of an earlier commit: the writer knows where their content lies, and uses it again. */
  readonly known?: readonly FileEntry[];
}

/** Entries of a segment: the cuts of a test need not be those of a writer. */
const SEGMENT_ENTRIES = 2;

export async function createTestRepository(store = createMemoryStore()): Promise<TestRepository> {
  const { descriptor } = await createDescriptor(store, { layout: DEFAULT_LAYOUT, clock: systemClock });
  const { id } = descriptor;
  const repository: TestRepository = {
    id,
    store,
    push: (branch, files, via = store, options = {}) => pushFiles(via, { branch, files, id, ...options }),
    async unreadable() {
      const refs = await Promise.all([listRefs(store, 'heads'), listRefs(store, 'tags')]);
      const paths = await Promise.all(
        refs.flat().map(({ commit, name }) => unreadableOf(store, name, commit)),
      );
      return paths.flat();
    },
    async forget(...commits) {
      const stored = await readRetention(store);
      const forgotten = [...(stored?.forgotten ?? []), ...commits];
      await writeRetention(store, { repository: id, forgotten }, stored);
    },
    async needed() {
      const needed = new Set<RemoteKey>();
      const refs = await Promise.all([listRefs(store, 'heads'), listRefs(store, 'tags')]);
      const forgotten = await readForgotten(store, refs.flat());
      for (const { commit } of refs.flat()) await addNeeded(store, commit, { forgotten, needed });
      return needed;
    },
    keys: (prefix = '') => listKeys(store, prefix),
    async missing() {
      const there = new Set(await listKeys(store, ''));
      return [...(await repository.needed())].filter((key) => !there.has(key));
    },
    async garbage() {
      const needed = await repository.needed();
      return (await listKeys(store, '')).filter((key) => isContentKey(key) && !needed.has(key));
    },
    collect: (options, via = store) =>
      runRounds(
        {
          context: { signal: new AbortController().signal },
          clock: systemClock,
          limit: createAdaptiveLimit({ clock: systemClock, fixed: 4 }),
          store: via,
          progress: { phase: () => {}, add: () => {} },
        },
        { repository: id, graceSeconds: 0, packTarget: 1_000, dryRun: false, ...options },
      ),
  };
  return repository;
}

interface Push extends PushOptions {
  readonly branch: string;
  readonly files: Files;
  readonly id: string;
}

async function pushFiles(store: ObjectStore, { branch, files, id, known = [] }: Push): Promise<CommitHash> {
  const name = `heads/${branch}`;
  const view = createCollectionView(store);
  await view.refresh();
  const { commit } = await publish({
    store,
    name,
    repository: id,
    tip: await readRef(store, name),
    view,
    clock: { ...systemClock, sleep: async () => {} },
    prepare: async (tip) => {
      const places = new Map<string, FileEntry>();
      const note = (entry: FileEntry) => places.set(`${entry.path} ${entry.blob}`, entry);
      for (const entry of known) if (![...keysOfEntry(entry)].some((key) => view.avoids(key))) note(entry);
      for (const entry of tip ? await entriesOf(store, tip.commit) : []) note(entry);
      const manifest = await storeContent(store, files, { places, view });
      const commit: Commit = {
        repository: id,
        parents: tip ? [tip.commit] : [],
        author: 'ada',
        message: branch,
        time: '2026-01-31T12:00:00.000Z',
        totals: totalsOfManifest(manifest),
        manifest,
      };
      const encoded = encodeCommit(commit, view.round);
      await storeCommit(store, encoded);
      return encoded.hash;
    },
  });
  return commit;
}

export async function entriesOf(store: ObjectStore, commit: CommitHash): Promise<readonly FileEntry[]> {
  const found: FileEntry[] = [];
  for await (const entries of readEntries(store, await readCommit(store, commit)))
    for (const entry of entries) if (entry.kind === 'file') found.push(entry);
  return found;
}

async function unreadableOf(store: ObjectStore, ref: string, commit: CommitHash): Promise<string[]> {
  const paths: string[] = [];
  for (const entry of await entriesOf(store, commit)) {
    const options = { maxBytes: entry.sizeBytes, signal: new AbortController().signal };
    // It checks the content against its hash.
    const read = readEntryStart(withRelocations(store), entry, options);
    await read.catch(() => paths.push(`${ref} ${entry.path}`));
  }
  return paths;
}

interface Places {
  /** By path and blob. */
  readonly places: ReadonlyMap<string, FileEntry>;
  readonly view: CollectionView;
}

async function storeContent(store: ObjectStore, files: Files, { places, view }: Places): Promise<Manifest> {
  const pack = new PackBuilder();
  const entries: FileEntry[] = [];
  const found = Object.entries(files).flatMap(([path, text]) => {
    const bytes = Buffer.from(text);
    const blob = hashOf('sha256', bytes) as BlobHash;
    const known = places.get(`${path} ${blob}`);
    if (known) entries.push(known);
    return known
      ? []
      : { path, bytes, blob, offset: path.startsWith('packed/') ? pack.add(blob, bytes) : undefined };
  });
  const built = pack.count > 0 ? pack.finish((hash) => view.avoids(packKey(hash))) : undefined;
  if (built) await store.put(packKey(built.hash), built.bytes, { condition: { absent: true } });
  for (const { blob, bytes, offset, path } of found) {
    const location: BlobLocation =
      offset === undefined
        ? { in: 'object', ...newObject(view, blob) }
        : { in: 'pack', pack: built!.hash, offset };
    if (location.in === 'object')
      await store.put(objectKey(blob, location.generation), bytes, { condition: { absent: true } });
    const sizeBytes = bytes.length;
    entries.push({ kind: 'file', path, sizeBytes, mtimeNs: 0n, executable: false, blob, location });
  }
  entries.sort((left, right) => comparePaths(left.path, right.path));
  if (entries.length <= SEGMENT_ENTRIES) return { kind: 'inline', entries };
  const segments = [];
  for (let at = 0; at < entries.length; at += SEGMENT_ENTRIES) {
    const segment = encodeSegment(entries.slice(at, at + SEGMENT_ENTRIES), view);
    await writeSegment(store, segment);
    segments.push(segment.ref);
  }
  return { kind: 'segments', segments };
}

interface Needed {
  readonly forgotten: ReadonlySet<CommitHash>;
  readonly needed: Set<RemoteKey>;
}

async function addNeeded(store: ObjectStore, hash: CommitHash, found: Needed): Promise<void> {
  const { forgotten, needed } = found;
  if (needed.has(commitKey(hash))) return;
  needed.add(commitKey(hash));
  const commit = await readCommit(store, hash);
  for (const parent of commit.parents) await addNeeded(store, parent, found);
  if (forgotten.has(hash)) return;
  if (commit.manifest.kind === 'segments')
    for (const segment of commit.manifest.segments) needed.add(segmentKey(segment.hash));
  for await (const entries of readEntries(store, commit))
    for (const entry of entries) await addContent(store, entry, needed);
}

/** A pack that was written anew is needed only by blobs that its relocation does not have. */
export async function addContent(store: ObjectStore, entry: Entry, needed: Set<RemoteKey>): Promise<void> {
  if (entry.kind !== 'file' || entry.location.in !== 'pack') {
    for (const key of keysOfEntry(entry)) needed.add(key);
    return;
  }
  let { offset, pack } = entry.location;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    const relocation = await readRelocation(store, pack);
    const move = relocation && findMove(relocation, offset);
    if (!move) break;
    needed.add(relocationKey(pack));
    ({ pack, to: offset } = move);
  }
  needed.add(packKey(pack));
}

async function listKeys(store: ObjectStore, prefix: string): Promise<readonly RemoteKey[]> {
  const keys: RemoteKey[] = [];
  for (let continuation: string | undefined; ; ) {
    const page = await store.list({ prefix, ...(continuation === undefined ? {} : { continuation }) });
    keys.push(...page.objects.map(({ key }) => key));
    continuation = page.continuation;
    if (continuation === undefined) return keys;
  }
}

const REQUESTS = new Set(['head', 'get', 'read', 'put', 'list', 'delete']);

export interface CountedRequests {
  readonly store: ObjectStore;
  count(): number;
}

/**
 * @param before Called before each request, with its number from 1, and the method and key. It may make the
 * request itself.
 */
export function onEachRequest(
  store: ObjectStore,
  before: (number: number, request: () => Promise<unknown>, call: string) => Promise<void> | void,
): CountedRequests {
  let count = 0;
  const counted = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || !REQUESTS.has(String(name))) return value;
      return async (...args: unknown[]) => {
        count += 1;
        // Nobody can stop a request that has left.
        const request = async () => (await value.apply(target, args.map(withoutSignal))) as unknown;
        await before(count, request, `${String(name)} ${String(args[0])}`);
        return (await value.apply(target, args)) as unknown;
      };
    },
  });
  return { store: counted, count: () => count };
}

function withoutSignal(argument: unknown): unknown {
  const isOptions = typeof argument === 'object' && argument !== null && 'signal' in argument;
  return isOptions ? { ...argument, signal: undefined } : argument;
}

/** What a killed process sees of its last request and of all later ones. */
export const KILLED = new DrayError('unreachable', 'The process was killed.');

/** Ends well, or because its store was killed before it ended. */
export async function expectKilled(
  run: Promise<unknown>,
  { isKilled }: { isKilled(): boolean },
): Promise<void> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBe(isKilled() ? KILLED : undefined);
}

/**
 * Runs something again and again, with something else at a later request each time.
 *
 * @param run One run with something at this request, counted from 1. Returns its counted requests.
 */
export function sweepRequests(
  sweep: StepSweep,
  run: (request: number) => Promise<CountedRequests>,
): Promise<void> {
  return sweepSteps(async (step) => (await run(step)).count() >= step, sweep);
}
