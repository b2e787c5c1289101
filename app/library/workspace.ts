/** A workspace as the library shows it. */
import type {
  PullRequest,
  PullSummary,
  PushRequest,
  PushSummary,
  StatusRequest,
  StatusSummary,
} from '../../engine/api/jobs/jobs.ts';
import { allowedBy } from '../../engine/jobs/session/user-remotes.ts';
import { requireWorkspace } from '../../engine/workspace/workspace-folder.ts';
import { contextOf, type DrayOptions } from './library-context.ts';

/** A workspace: a folder and what it knows of its repository. Each call holds its lock while it runs. */
export interface Workspace {
  /** The folder that `.dray` lies in. */
  readonly root: string;
  /** What changed here since the last push or pull. Each change is an event. */
  status(request?: StatusRequest): Promise<StatusSummary>;
  /**
   * Makes a commit of what changed here and publishes it. With nothing changed it makes none.
   * @throws DrayError `conflict` if the branch changed the same files otherwise
   */
  push(request?: PushRequest): Promise<PushSummary>;
  /** Brings what others pushed. @throws DrayError `conflict`, before anything is written */
  pull(request?: PullRequest): Promise<PullSummary>;
}

/**
 * The workspace of a folder, or of the nearest one above it. Nothing stays open between calls.
 *
 * @throws DrayError `notFound` if there is none
 */
export function openWorkspace(folder: string, options: DrayOptions = {}): Workspace {
  const context = { ...contextOf({ ...options, directory: folder }) };
  const { root } = requireWorkspace(folder, allowedBy(context));
  return {
    root,
    // Loaded when they are used: an index needs SQLite's native module, a repository by URL does not.
    status: async (request = {}) =>
      (await import('../../engine/jobs/working-copy/status.ts')).status(context, request),
    push: async (request = {}) => (await import('../../engine/jobs/push/push.ts')).push(context, request),
    pull: async (request = {}) => (await import('../../engine/jobs/pull/pull.ts')).pull(context, request),
  };
}
