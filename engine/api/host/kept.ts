/** The requests for local files that a pull or a restore overwrote. */
import type { KeptFilesSummary, PutBackSummary } from '../jobs/kept-files.ts';
import type { InWorkspace } from './in-workspace.ts';

export interface KeptRequests {
  /** Newest first. */
  'kept.list': { input: InWorkspace; answer: KeptFilesSummary };
  /** Moves the files of a run back to their paths. The files that they replace are kept. */
  'kept.putBack': {
    input: InWorkspace & { readonly id: string; readonly paths?: readonly string[] };
    answer: PutBackSummary;
  };
}
