/** The manifest of a commit: its entries in byte order of their paths, whole or as a list of segments. */
import type { Entry, SegmentHash } from '../../model/entry.ts';

/** Totals of a set of entries. */
export interface Totals {
  readonly files: number;
  readonly links: number;
  /** Empty folders. */
  readonly folders: number;
  /** The sum of all file sizes, duplicates included. */
  readonly bytes: number;
}

/** A segment as its commit lists it: with its totals, so that an unchanged one need not be read. */
export interface SegmentRef extends Totals {
  readonly hash: SegmentHash;
  /** The paths of its first and last entry. */
  readonly first: string;
  readonly last: string;
}

export type Manifest =
  /** At most one segment: the entries are inside the commit. */
  | { readonly kind: 'inline'; readonly entries: readonly Entry[] }
  /** In order, none empty, no overlap. One alone is written if it is too large to lie inside. */
  | { readonly kind: 'segments'; readonly segments: readonly SegmentRef[] };

/** One change from a commit to the next. Without `entry`: the path is removed. */
export interface EntryChange {
  readonly path: string;
  readonly entry?: Entry;
}

export const EMPTY_MANIFEST: Manifest = { kind: 'inline', entries: [] };

export function entryCount(totals: Totals): number {
  return totals.files + totals.links + totals.folders;
}

export function totalsOfEntries(entries: Iterable<Entry>): Totals {
  let files = 0;
  let links = 0;
  let folders = 0;
  let bytes = 0;
  for (const entry of entries) {
    if (entry.kind === 'link') links += 1;
    else if (entry.kind === 'folder') folders += 1;
    else {
      files += 1;
      bytes += entry.sizeBytes;
    }
  }
  return { files, links, folders, bytes };
}

export function totalsOfManifest(manifest: Manifest): Totals {
  if (manifest.kind === 'inline') return totalsOfEntries(manifest.entries);
  let files = 0;
  let links = 0;
  let folders = 0;
  let bytes = 0;
  for (const segment of manifest.segments) {
    files += segment.files;
    links += segment.links;
    folders += segment.folders;
    bytes += segment.bytes;
  }
  return { files, links, folders, bytes };
}

export function sameTotals(left: Totals, right: Totals): boolean {
  return (
    left.files === right.files &&
    left.links === right.links &&
    left.folders === right.folders &&
    left.bytes === right.bytes
  );
}
