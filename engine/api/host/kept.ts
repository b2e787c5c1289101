/** The requests for local files that a pull or a restore overwrote. */
import type { KeptFilesSummary, PutBackSummary } from '../jobs.ts';
import type { InWorkspace } from './in-workspace.ts';

export interface KeptRequests {
  /** The newest first. */
  'kept.list': { input: InWorkspace; answer: KeptFilesSummary };
  /** Puts the files of a run back to their paths. What lies there now is kept in turn. */
  'kept.putBack': {
    input: InWorkspace & { readonly id: string; readonly paths?: readonly string[] };
    answer: PutBackSummary;
  };
}
