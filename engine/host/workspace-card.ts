/** A workspace for the home screen, from files in `.dray/`: no scan, no request. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { DrayError, toErrorRecord } from '../api/error.ts';
import type { WorkspaceCard } from '../api/host/home.ts';
import type { JobContext } from '../api/jobs/jobs.ts';
import { openIndex } from '../index/open-index.ts';
import { pendingField } from '../jobs/merge/pending-merge.ts';
import { findCachedCommit } from '../jobs/session/base/cached-commit.ts';
import { detachedField } from '../jobs/session/branch/detached.ts';
import { allowedBy } from '../jobs/session/user-remotes.ts';
import type { CommitHash } from '../model/entry.ts';
import {
  findWorkspace,
  readConfig,
  readState,
  requireWorkspace,
  type WorkspaceFolder,
} from '../workspace/workspace-folder.ts';

export function readWorkspaceCard(root: string, context: Pick<JobContext, 'environment'>): WorkspaceCard {
  const name = basename(root) || root;
  try {
    const workspace = findWorkspace(root, allowedBy(context));
    if (workspace?.root !== root) return { root, name, state: 'missing', remotes: [] };
    const config = readConfig(workspace);
    const state = readState(workspace);
    const { bases, branch, cloning, scope } = state;
    const midway = { remoteName: config.defaultRemote, state };
    const part = scope ? { only: scope.only } : {};
    const remotes = Object.entries(config.remotes).map(([remote, { url }]) => ({
      name: remote,
      url,
      isDefault: remote === config.defaultRemote,
    }));
    const { sealed, url } = config.remotes[config.defaultRemote] ?? {};
    if (cloning && url !== undefined) {
      const clone = { kind: 'clone' as const, url, root, ...ownRef(cloning), ...part };
      return { root, name, state: 'unfinished', branch, remotes, clone };
    }
    const commit = bases[config.defaultRemote] as CommitHash | undefined;
    return {
      root,
      name,
      state: 'ready',
      branch,
      remotes,
      ...part,
      ...detachedField(midway),
      ...pendingField(midway),
      ...(sealed === undefined ? {} : { isEncrypted: true }),
      ...(commit === undefined ? {} : { commit, ...readBase(workspace, commit) }),
    };
  } catch (error) {
    if (isRefusal(error, root))
      return { root, name, state: 'foreign', remotes: [], refusal: toErrorRecord(error) };
    // Unreadable settings mean that it is not a workspace; opening it reports the error.
    return { root, name, state: 'missing', remotes: [] };
  }
}

/** Why the workspace at this root would be refused to a user who trusts nobody. Undefined if it would not. */
export function workspaceRefusal(root: string): DrayError | undefined {
  try {
    const workspace = requireWorkspace(root, () => false);
    readConfig(workspace);
    readState(workspace);
    return undefined;
  } catch (error) {
    if (isRefusal(error, root)) return error;
    throw error;
  }
}

/** False for the refusal of a workspace around this root: that one is another's, and this one is gone. */
function isRefusal(error: unknown, root: string): error is DrayError {
  return error instanceof DrayError && error.data.reason === 'foreignFolder' && error.data.root === root;
}

function ownRef({ ref }: { readonly ref?: string | undefined }): { readonly ref?: string } {
  return ref === undefined ? {} : { ref };
}

/** The base commit from the index. Empty if it is missing; the next job restores it. */
function readBase(
  { indexPath }: WorkspaceFolder,
  hash: CommitHash,
): Pick<WorkspaceCard, 'bytes' | 'files' | 'lastPush'> {
  if (!existsSync(indexPath)) return {};
  const { index } = openIndex(indexPath);
  try {
    const cached = findCachedCommit(index, hash);
    if (!cached) return {};
    const { time, totals } = cached.commit;
    return { files: totals.files, bytes: totals.bytes, lastPush: time };
  } finally {
    index.close();
  }
}
