/** The requests of the screen History: commits, refs, and what a commit holds. */
import type { CommitEvent } from '../events.ts';
import type { ChangeTotals, RestorePlan } from '../jobs.ts';
import type { EntryRow } from './browse.ts';
import type { ChangeRow } from './changes.ts';
import type { FilePreview } from './file-preview.ts';
import type { InWorkspace } from './in-workspace.ts';

export interface HistoryRequests {
  'history.list': {
    input: InWorkspace & { readonly branch?: string; readonly limit: number };
    answer: { readonly commits: readonly CommitEvent[]; readonly refs: readonly RefRow[] };
  };
  /** One level of a commit's tree. */
  'history.entries': {
    input: InWorkspace & { readonly commit: string; readonly folder: string };
    /** `isCut`: the folder holds more entries. */
    answer: { readonly entries: readonly EntryRow[]; readonly isCut: boolean };
  };
  'history.compare': {
    input: InWorkspace & { readonly from: string; readonly to: string; readonly limit: number };
    answer: { readonly changes: ChangeTotals; readonly rows: readonly ChangeRow[]; readonly isCut: boolean };
  };
  /** What a restore of these paths would write, and which local changes it would lose. */
  'history.planRestore': {
    input: InWorkspace & { readonly commit: string; readonly paths: readonly string[] };
    answer: RestorePlan;
  };
  'history.preview': {
    input: InWorkspace & { readonly commit: string; readonly path: string };
    answer: FilePreview;
  };
}

export interface RefRow {
  readonly name: string;
  readonly kind: 'branch' | 'tag';
  readonly commit: string;
  readonly isCurrent: boolean;
}
