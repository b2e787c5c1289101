/**
 * The commits that changed a path, newest first: those in which it differs from what each of their parents
 * has. All parents are followed, so what one side of a merge did is listed also where the other side won.
 *
 * Each commit costs one request. Its manifest is read only where the segments around the path differ by name
 * from those of its parent, because segments of the same name have the same entries. A
 * forgotten commit cannot be read: its nearest ancestors that are kept stand for it, so its changes count as
 * those of the commit after it.
 */

import { checkAborted } from '../../base/abort.ts';
import { isSameEntry, kindOfChange } from '../../model/diff.ts';
import { diffSortedBatches } from '../../model/diff-sorted.ts';
import { type CommitHash, comparePaths, type Entry } from '../../model/entry.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import type { Commit } from '../../repository/commit.ts';
import { readOrEnd } from '../../repository/history-end.ts';
import type { Manifest, SegmentRef } from '../../repository/manifest/manifest.ts';
import { readSegment } from '../../repository/manifest/stored-segment.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import type { Session } from '../session/open-workspace.ts';

export interface PathChange {
  readonly hash: CommitHash;
  readonly commit: Commit;
  /** For a folder: `modified`, unless the whole folder was added or deleted. */
  readonly change: 'added' | 'modified' | 'deleted' | 'mode';
  /** For a file: its size in this commit, or before its deletion. */
  readonly sizeBytes?: number;
}

export interface Walk {
  /** Commits read so far. */
  walked: number;
  /** The most commits to read. */
  readonly max: number;
  /** The walk ended at its bound. */
  isCut: boolean;
  /** The newest commits that are not done yet. A walk that starts with them continues this one. */
  rest: readonly CommitHash[];
  /** Called for each commit, before it is done. @param at `time`: that of the commit, RFC 3339. */
  readonly onCommit?: (at: Pick<Walk, 'walked' | 'rest'> & { readonly time: string }) => void;
}

/** The segments whose entries stay in memory: those of a commit are compared again with its parent's. */
const SEGMENTS_KEPT_MAX = 16;

interface PathWalk {
  readonly path: string;
  readonly forgotten: ReadonlySet<CommitHash>;
  /** Called for a commit that cannot be read, and at which history ends. */
  readonly onEnd?: (hash: CommitHash) => void;
}

export async function* walkPathHistory(
  session: Session,
  store: ObjectStore,
  starts: readonly CommitHash[],
  { forgotten, onEnd, path }: PathWalk,
  walk: Walk,
): AsyncGenerator<PathChange> {
  const { signal } = session.context;
  const reader = createPathReader(store, path, signal);
  const loaded = new Map<CommitHash, Promise<Commit>>();
  const load = (hash: CommitHash): Promise<Commit> => {
    const known = loaded.get(hash);
    if (known) return known;
    walk.walked += 1;
    const reading = fetchCommit(session, store, hash);
    // Awaited below. Until then, a rejection must not count as unhandled.
    reading.catch(() => {});
    loaded.set(hash, reading);
    return reading;
  };
  const readableAmong = async (hashes: readonly CommitHash[]): Promise<readonly CommitHash[]> => {
    const read = async (hash: CommitHash) => {
      const found = await readOrEnd(store, hash, () => load(hash), { signal });
      if (!found) onEnd?.(hash);
      return found ? [hash] : [];
    };
    return (await Promise.all(hashes.map(read))).flat();
  };
  const keptAmong = async (hashes: readonly CommitHash[]): Promise<readonly CommitHash[]> => {
    const all = new Set(hashes);
    for (const hash of all)
      if (forgotten.has(hash))
        for (const parent of await readableAmong((await load(hash)).parents)) all.add(parent);
    return [...all].filter((hash) => !forgotten.has(hash));
  };
  const seen = new Set(await keptAmong(starts));
  const open = await Promise.all([...seen].map(async (one) => [one, await load(one)] as const));
  // The previous walk has counted the starts, so each walk gets further than the one before.
  walk.walked = 1;
  while (open.length > 0) {
    checkAborted(signal);
    open.sort(([, left], [, right]) => (left.time < right.time ? 1 : left.time > right.time ? -1 : 0));
    walk.rest = open.map(([one]) => one);
    walk.onCommit?.({ ...walk, time: open[0]![1].time });
    if (walk.walked >= walk.max) {
      walk.isCut = true;
      return;
    }
    const [hash, commit] = open.shift()!;
    loaded.delete(hash);
    const above = await keptAmong(await readableAmong(commit.parents));
    const parents = await Promise.all(above.map(async (one) => [one, await load(one)] as const));
    let change: Omit<PathChange, 'hash' | 'commit'> | undefined;
    for (const parent of parents.length === 0 ? [undefined] : parents) {
      const found = await reader.compare(parent?.[1], commit);
      if (found === undefined) {
        change = undefined;
        break;
      }
      change ??= found;
    }
    if (change) yield { hash, commit, ...change };
    for (const parent of parents) {
      if (seen.has(parent[0])) continue;
      seen.add(parent[0]);
      open.push(parent);
    }
  }
  walk.rest = [];
}

function createPathReader(store: ObjectStore, path: string, signal: AbortSignal) {
  const kept = new Map<string, Promise<readonly Entry[]>>();
  const below = path === '' ? '' : `${path}/`;
  const isInside = (entry: Entry) => entry.path === path || entry.path.startsWith(below);
  const read = (segment: SegmentRef): Promise<readonly Entry[]> => {
    const known = kept.get(segment.hash);
    if (known) {
      kept.delete(segment.hash);
      kept.set(segment.hash, known);
      return known;
    }
    const reading = readSegment(store, segment, { signal }).then((entries) => entries.filter(isInside));
    reading.catch(() => kept.delete(segment.hash));
    kept.set(segment.hash, reading);
    if (kept.size > SEGMENTS_KEPT_MAX) kept.delete(kept.keys().next().value as string);
    return reading;
  };
  async function* entriesOf(parts: Manifest): AsyncGenerator<readonly Entry[]> {
    if (parts.kind === 'inline') yield parts.entries;
    else for (const segment of parts.segments) yield await read(segment);
  }
  const partsOf = (commit: Commit | undefined): Manifest => {
    const manifest = commit?.manifest ?? { kind: 'segments', segments: [] };
    if (manifest.kind === 'inline') return { ...manifest, entries: manifest.entries.filter(isInside) };
    return { ...manifest, segments: manifest.segments.filter((one) => mayHold(one, path, below)) };
  };
  return {
    /** Undefined if the path is the same in both commits. */
    async compare(before: Commit | undefined, after: Commit) {
      const left = partsOf(before);
      const right = partsOf(after);
      const isKept = keptSegments(left, right);
      let hasBefore = isKept;
      let hasAfter = isKept;
      let found: ReturnType<typeof kindOfChange>;
      let sizeBytes: number | undefined;
      const pairs = diffSortedBatches(
        entriesOf(without(left, right)),
        entriesOf(without(right, left)),
        () => false,
      );
      for await (const page of pairs) {
        for (const { left: old, path: at, right: now } of page) {
          hasBefore ||= old !== undefined;
          hasAfter ||= now !== undefined;
          if (old && now && isSameEntry(old, now)) continue;
          const kind = kindOfChange({ path: at, before: old, after: now });
          if (at === path) sizeBytes = sizeOf(now ?? old);
          found = found === undefined || found === kind ? kind : 'modified';
        }
      }
      if (found === undefined) return undefined;
      const isSome = hasBefore && hasAfter && (found === 'added' || found === 'deleted');
      return {
        change: isSome ? ('modified' as const) : found,
        ...(sizeBytes === undefined ? {} : { sizeBytes }),
      };
    },
  };
}

function sizeOf(entry: Entry | undefined): number | undefined {
  return entry?.kind === 'file' ? entry.sizeBytes : undefined;
}

/** True if the segment may have entries at or below the path. */
function mayHold({ first, last }: SegmentRef, path: string, below: string): boolean {
  const holdsPath = comparePaths(first, path) <= 0 && comparePaths(path, last) <= 0;
  const isAfter = comparePaths(first, below) > 0 && !first.startsWith(below);
  return holdsPath || (comparePaths(last, below) >= 0 && !isAfter);
}

/** The segments of the first manifest that the second does not name. */
function without(parts: Manifest, other: Manifest): Manifest {
  if (parts.kind === 'inline' || other.kind === 'inline') return parts;
  const shared = new Set(other.segments.map(({ hash }) => hash));
  return { ...parts, segments: parts.segments.filter(({ hash }) => !shared.has(hash)) };
}

/** True if both manifests share a segment of the path, so the path exists in both. */
function keptSegments(left: Manifest, right: Manifest): boolean {
  if (left.kind === 'inline' || right.kind === 'inline') return false;
  const names = new Set(left.segments.map(({ hash }) => hash));
  return right.segments.some(({ hash }) => names.has(hash));
}
