/** A workspace as the library shows it. */
import { resolve } from 'node:path';
import type {
  JobContext,
  PullRequest,
  PullSummary,
  PushRequest,
  PushSummary,
  StatusRequest,
  StatusSummary,
} from '../../engine/api/jobs/jobs.ts';
import type { MergeRequest, MergeSummary, RevertRequest } from '../../engine/api/jobs/merge.ts';
import { allowedBy } from '../../engine/jobs/session/user-remotes.ts';
import { requireWorkspace } from '../../engine/workspace/workspace-folder.ts';
import { checkText, contextOf, type DrayOptions, type StopOptions } from './library-context.ts';

/**
 * A workspace: a folder and what it knows of its repository. Each call holds its lock while it runs. Besides
 * what is named, calls fail with `locked`, `aborted`, `io`, and the codes of stores. A file that cannot be
 * read or written is counted in `failed`, and an event names it.
 */
export interface Workspace {
  /** The folder that `.dray` lies in. */
  readonly root: string;
  /** What changed here since the last push or pull. Each change is an event. */
  status(request?: StatusRequest & StopOptions): Promise<StatusSummary>;
  /**
   * Makes a commit of what changed here and publishes it. With nothing changed it makes none.
   * @throws DrayError `conflict` if the branch changed the same files otherwise
   */
  push(request?: PushRequest & StopOptions): Promise<PushSummary>;
  /** Brings what others pushed. @throws DrayError `conflict`, before anything is written */
  pull(request?: PullRequest & StopOptions): Promise<PullSummary>;
  /**
   * Brings what a branch, a tag or a commit changed into the folder; the next push records the merge.
   * @throws DrayError `conflict`, before anything is written
   */
  merge(request: MergeRequest & StopOptions): Promise<MergeSummary>;
  /** Takes back what one commit changed, as changes in the folder. @throws DrayError as `merge` */
  revert(request: RevertRequest & StopOptions): Promise<MergeSummary>;
}

/**
 * The workspace of a folder, or of the nearest one above it. Nothing stays open between calls.
 *
 * @throws DrayError `notAWorkspace` if there is none
 */
export function openWorkspace(folder: string, options: DrayOptions = {}): Workspace {
  checkText(folder, 'A folder');
  const given = contextOf(options);
  const context = { ...given, directory: resolve(given.directory, folder) };
  const { root } = requireWorkspace(context.directory, allowedBy(context));
  return {
    root,
    // Loaded when they are used: an index needs SQLite's native module, a repository by URL does not.
    async status({ signal, ...request } = {}) {
      const job = await import('../../engine/jobs/working-copy/status.ts');
      return job.status(stoppedBy(context, signal), request);
    },
    async push({ signal, ...request } = {}) {
      const job = await import('../../engine/jobs/push/push.ts');
      return job.push(stoppedBy(context, signal), request);
    },
    async pull({ signal, ...request } = {}) {
      const job = await import('../../engine/jobs/pull/pull.ts');
      return job.pull(stoppedBy(context, signal), request);
    },
    async merge({ signal, ...request }) {
      const job = await import('../../engine/jobs/merge/merge.ts');
      return job.merge(stoppedBy(context, signal), request);
    },
    async revert({ signal, ...request }) {
      const job = await import('../../engine/jobs/merge/revert.ts');
      return job.revert(stoppedBy(context, signal), request);
    },
  };
}

function stoppedBy(context: JobContext, signal: AbortSignal | undefined): JobContext {
  return signal ? { ...context, signal: AbortSignal.any([context.signal, signal]) } : context;
}
