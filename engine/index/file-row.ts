/** The rows of `CHANGE_COLUMNS` in file-sql.ts, as changes and entries. */
import type { BlobHash, BlobLocation, Entry } from '../model/entry.ts';
import { toLocation } from './blob-table.ts';

/**
 * One side of a change, as far as the index knows it. `hash` is a file's blob or a link's target; undefined:
 * unread.
 */
export interface IndexedSide {
  readonly kind: Entry['kind'];
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly executable: boolean;
  readonly hash: string | undefined;
}

export interface IndexedChange {
  readonly path: string;
  /** The base commit's side. */
  readonly before: IndexedSide | undefined;
  /** The working copy's side. */
  readonly after: IndexedSide | undefined;
  /** The working content's location on the requested repository, when it is known to be there. */
  readonly location: BlobLocation | undefined;
}

/** A row of `CHANGE_COLUMNS` in file-sql.ts. */
export interface FileRow {
  readonly path: string;
  readonly kind: bigint;
  readonly size: bigint;
  readonly mtime_ns: bigint | null;
  readonly executable: bigint;
  readonly hash: string | null;
  readonly base_kind: bigint | null;
  readonly base_size: bigint | null;
  readonly base_mtime_ns: bigint | null;
  readonly base_executable: bigint | null;
  readonly base_hash: string | null;
  readonly place: bigint | null;
  readonly pack: string | null;
  readonly offset: bigint | null;
  readonly chunks: string | null;
  readonly stored: bigint | null;
  readonly generation: bigint | null;
}

const KINDS = ['absent', 'file', 'link', 'folder'] as const;

/**
 * A full entry from a side and its location; undefined when the content is unread or its location unknown.
 */
export function toEntry(
  path: string,
  side: IndexedSide,
  location: BlobLocation | undefined,
): Entry | undefined {
  switch (side.kind) {
    case 'folder':
      return { kind: 'folder', path };
    case 'link':
      return side.hash === undefined ? undefined : { kind: 'link', path, target: side.hash };
    case 'file': {
      const place: BlobLocation | undefined = side.sizeBytes === 0 ? { in: 'nowhere' } : location;
      if (side.hash === undefined || !place) return undefined;
      const { sizeBytes, mtimeNs, executable } = side;
      return {
        kind: 'file',
        path,
        sizeBytes,
        mtimeNs,
        executable,
        blob: side.hash as BlobHash,
        location: place,
      };
    }
  }
}

export function toUnplaced(row: FileRow): Entry {
  return toEntry(row.path, baseSide(row)!, { in: 'nowhere' })!;
}

export function locationOf({ chunks, generation, offset, pack, place, stored }: FileRow) {
  if (place === null) return undefined;
  return toLocation({
    place: Number(place),
    pack,
    offset: Number(offset ?? 0n),
    chunks,
    stored: stored === null ? null : Number(stored),
    generation: generation === null ? null : Number(generation),
  });
}

export function toIndexedChange(row: FileRow): IndexedChange {
  const { executable, hash, kind, mtime_ns, path, size } = row;
  return {
    path,
    before: baseSide(row),
    after: sideOf({ kind, size, mtime_ns, executable, hash }),
    location: locationOf(row),
  };
}

export function baseSide(row: FileRow): IndexedSide | undefined {
  return sideOf({
    kind: row.base_kind,
    size: row.base_size,
    mtime_ns: row.base_mtime_ns,
    executable: row.base_executable,
    hash: row.base_hash,
  });
}

interface SideColumns {
  readonly kind: bigint | null;
  readonly size: bigint | null;
  readonly mtime_ns: bigint | null;
  readonly executable: bigint | null;
  readonly hash: string | null;
}

function sideOf(side: SideColumns): IndexedSide | undefined {
  const kind = KINDS[Number(side.kind ?? 0n)]!;
  if (kind === 'absent') return undefined;
  return {
    kind,
    sizeBytes: Number(side.size ?? 0n),
    mtimeNs: side.mtime_ns ?? 0n,
    executable: side.executable === 1n,
    hash: side.hash ?? undefined,
  };
}
