/** The requests of the screen Browse: any local folder or remote. */
import type { EntryEvent } from '../events.ts';
import type { TransferSummary } from '../trees.ts';
import type { ChangeRow } from './changes.ts';
import type { FilePreview } from './file-preview.ts';
import type { Nothing } from './in-workspace.ts';
import type { TransferFailure } from './transfers.ts';

export interface BrowseRequests {
  /** One level of a local folder or of any remote; at most 1,000 entries, then `next`. */
  'browse.list': {
    input: { readonly place: string; readonly after?: string };
    answer: { readonly entries: readonly EntryRow[]; readonly next?: string };
  };
  /** Which of at most 500 names exist in the folder, as a file or a folder. */
  'browse.taken': {
    input: { readonly place: string; readonly names: readonly string[] };
    answer: { readonly names: readonly string[] };
  };
  'browse.preview': { input: { readonly place: string }; answer: FilePreview };
  'browse.size': {
    input: { readonly place: string };
    answer: { readonly files: number; readonly bytes: number };
  };
  /**
   * On a store without folders, creates an empty object `NAME/`. Fails with `conflict` when the name exists.
   */
  'browse.makeFolder': { input: { readonly place: string }; answer: Nothing };
  /**
   * The dry run of a copy or sync, with the first of its changes (`limit` is at most 500). Unreadable items
   * (`failures`) and excluded links and special files (`skipped`) list only the first few; the summary counts
   * all.
   */
  'browse.plan': {
    input: {
      readonly kind: 'copy' | 'sync';
      readonly source: string;
      readonly destination: string;
      readonly limit: number;
    };
    answer: {
      readonly summary: TransferSummary;
      readonly rows: readonly ChangeRow[];
      readonly isCut: boolean;
      readonly failures: readonly TransferFailure[];
      /** Paths. */
      readonly skipped: readonly string[];
      /**
       * A Dray repository in the destination that the sync would delete, as a folder with a slash at its end,
       * or '' for the destination itself.
       */
      readonly deletesRepository?: string;
    };
  };
  /** A name that ends in a slash removes the folder and everything in it. */
  'browse.remove': { input: { readonly places: readonly string[] }; answer: { readonly removed: number } };
}

/**
 * `path` is relative to the listed folder; a folder's ends in a slash. `mtime` is RFC 3339 for every kind of
 * place.
 */
export type EntryRow = Omit<EntryEvent, 'type'>;
