/** What a copy or a sync asks before it changes what a repository may store. */
import type { RepositoryPermission, SyncRequest } from '../../api/jobs/trees.ts';
import type { FoundRepositories } from '../places/repository-guard.ts';

export interface TreeGuard extends FoundRepositories {
  /** Whether the source is the same repository at the same place: a sync keeps a mirror of it. */
  isMirror(folder: string): Promise<boolean>;
  /**
   * Call before the item is written, changed or removed. Undefined: nothing has to be asked. Fails with
   * `conflict`, which ends the run; a dry run gets one warning.
   */
  before(path: string): Promise<void> | undefined;
}

/** The bound of a sync's deletions also allows what they are for. */
export function deletionPermission({
  allowRepositories,
  deletableRepositories,
  maxDelete,
}: SyncRequest): RepositoryPermission | undefined {
  if (allowRepositories === true || (maxDelete && !deletableRepositories)) return true;
  return [...(allowRepositories || []), ...((maxDelete && deletableRepositories) || [])];
}
