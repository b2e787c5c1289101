/**
 * Finds a remote by name, for places and tests of remotes: the user's own first, then the workspace's. So
 * settings that came with a folder never replace one of the user's remotes.
 */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { parseRemoteUrl, type RemoteUrl } from '../../remotes/remote-url.ts';
import {
  findWorkspace,
  readConfig,
  requireWorkspace,
  type WorkspaceFolder,
  workspaceConfigPath,
} from '../../workspace/workspace-folder.ts';
import { reportRemote } from './opened-remote.ts';
import { allowedBy, readUserRemotes, userConfigPath } from './user-remotes.ts';

export interface NamedRemote {
  /** The URL as the settings store it. */
  readonly text: string;
  readonly url: RemoteUrl;
}

/**
 * Undefined when there is none.
 * @throws `usage` when it would have to be read from another user's workspace
 */
export function findNamedRemote(context: JobContext, name: string): NamedRemote | undefined {
  const own = readUserRemotes(context)[name];
  if (own) {
    reportRemote(context, { name, url: own.url, keptIn: userConfigPath(context) });
    return { text: own.url, url: parseRemoteUrl(own.url, context.directory, { from: 'user' }) };
  }
  const workspace = findWorkspace(context.directory, allowedBy(context));
  return workspace && workspaceRemote(context, workspace, name);
}

/** A remote of this workspace. */
export function workspaceRemote(
  context: JobContext,
  workspace: WorkspaceFolder,
  name: string,
): NamedRemote | undefined {
  const { remotes } = readConfig(workspace);
  if (!Object.hasOwn(remotes, name)) return undefined;
  const text = remotes[name]!.url;
  reportRemote(context, { name, url: text, keptIn: workspaceConfigPath(workspace) });
  return { text, url: parseRemoteUrl(text, workspace.root) };
}

/** The remote of the workspace that a command without a place means. @throws `usage` */
export function defaultRemote(context: JobContext): NamedRemote {
  const workspace = requireWorkspace(context.directory, allowedBy(context));
  const name = context.remoteName ?? readConfig(workspace).defaultRemote;
  const remote = workspaceRemote(context, workspace, name);
  if (remote) return remote;
  throw new DrayError('usage', `This workspace has no remote "${name}".`, {
    data: { name, reason: 'noRemote' },
  });
}

/** For messages, sorted. */
export function knownRemoteNames(context: JobContext): readonly string[] {
  const workspace = findWorkspace(context.directory, allowedBy(context));
  const ofWorkspace = workspace ? Object.keys(readConfig(workspace).remotes) : [];
  return [...new Set([...ofWorkspace, ...Object.keys(readUserRemotes(context))])].sort();
}
