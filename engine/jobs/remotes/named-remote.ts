/**
 * A remote by its name, for places and tests of remotes: the user's own first, then the workspace's. So settings that came with a folder
 * never take a name of the user's away.
 */
import type { JobContext } from '../../api/jobs.ts';
import { parseRemoteUrl, type RemoteUrl } from '../../remotes/remote-url.ts';
import {
  findWorkspace,
  readConfig,
  type WorkspaceFolder,
  workspaceConfigPath,
} from '../../workspace/workspace-folder.ts';
import { tellRemote } from '../session/connection.ts';
import { allowedBy, readUserRemotes, userConfigPath } from './user-remotes.ts';

export interface NamedRemote {
  /** As it is kept. */
  readonly text: string;
  readonly url: RemoteUrl;
}

/** Undefined: there is none. @throws `usage` when the workspace that would have to be asked is another user's. */
export function findNamedRemote(context: JobContext, name: string): NamedRemote | undefined {
  const own = readUserRemotes(context)[name];
  if (own) {
    tellRemote(context, { name, url: own.url, keptIn: userConfigPath(context) });
    return { text: own.url, url: parseRemoteUrl(own.url, context.directory, { from: 'user' }) };
  }
  const workspace = findWorkspace(context.directory, allowedBy(context));
  return workspace && workspaceRemote(context, workspace, name);
}

/** One of this workspace's. */
export function workspaceRemote(
  context: JobContext,
  workspace: WorkspaceFolder,
  name: string,
): NamedRemote | undefined {
  const { remotes } = readConfig(workspace);
  if (!Object.hasOwn(remotes, name)) return undefined;
  const text = remotes[name]!.url;
  tellRemote(context, { name, url: text, keptIn: workspaceConfigPath(workspace) });
  return { text, url: parseRemoteUrl(text, workspace.root) };
}

/** For people, sorted. */
export function knownRemoteNames(context: JobContext): readonly string[] {
  const workspace = findWorkspace(context.directory, allowedBy(context));
  const ofWorkspace = workspace ? Object.keys(readConfig(workspace).remotes) : [];
  return [...new Set([...ofWorkspace, ...Object.keys(readUserRemotes(context))])].sort();
}
