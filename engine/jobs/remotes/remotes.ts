/** `dray remote add|list|remove|test`. */
import { DrayError } from '../../api/error.ts';
import type {
  JobContext,
  RemoteAddRequest,
  RemoteTestRequest,
  RemoteTestSummary,
} from '../../api/jobs/jobs.ts';
import { canNamePlace } from '../../api/text/version-place.ts';
import { parseRemoteUrl } from '../../remotes/remote-url.ts';
import { findWorkspace, readConfig } from '../../workspace/workspace-folder.ts';
import { withPending } from '../merge/pending-merge.ts';
import { withoutArrivals } from '../session/base/arrivals.ts';
import { withDetached } from '../session/base/detached-state.ts';
import { findNamedRemote, type NamedRemote, workspaceRemote } from '../session/named-remote.ts';
import { openSession } from '../session/open-workspace.ts';
import { parseGivenUrl, urlToKeep } from '../session/opened-remote.ts';
import { allowedBy, changingSettings, readUserRemotes, writeUserRemotes } from '../session/user-remotes.ts';
import { refuseStoreInside } from './store-inside.ts';
import { tryRemote } from './try-remote.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export async function remoteAdd(
  context: JobContext,
  request: RemoteAddRequest,
): Promise<{ readonly remotes: number }> {
  checkName(request.name);
  if (request.user) return changingSettings(context, () => addUserRemote(context, request));
  using session = await openSession(context, 'remote add');
  const { remotes } = session.config;
  if (Object.hasOwn(remotes, request.name)) {
    throw new DrayError(
      'usage',
      `A remote "${request.name}" already exists (${remotes[request.name]!.url}). Remove it first, or choose another name.`,
    );
  }
  const url = urlToKeep(context, { url: request.url, baseFolder: context.directory, of: 'workspace' });
  refuseStoreInside(session.workspace.root, parseRemoteUrl(url, context.directory));
  session.saveConfig({ ...session.config, remotes: { ...remotes, [request.name]: { url } } });
  context.emit({ type: 'remote', name: request.name, url, isDefault: false });
  return { remotes: Object.keys(remotes).length + 1 };
}

function addUserRemote(context: JobContext, { name, url }: RemoteAddRequest): { readonly remotes: number } {
  checkPlaceName(name);
  const remotes = readUserRemotes(context);
  if (Object.hasOwn(remotes, name)) throw nameTaken(name, remotes[name]!.url);
  const kept = urlToKeep(context, { url, baseFolder: context.directory, of: 'user' });
  writeUserRemotes(context, { ...remotes, [name]: { url: kept } });
  context.emit({ type: 'remote', name, url: kept, isDefault: false });
  return { remotes: Object.keys(remotes).length + 1 };
}

function checkName(name: string): void {
  // Settings with the name of a built-in property, such as `constructor`, would be ignored.
  if (NAME.test(name) && !(name in {})) return;
  throw new DrayError(
    'usage',
    `"${name}" is not a valid name for a remote. Use up to 64 letters, digits, dots, dashes and underscores.`,
  );
}

function checkPlaceName(name: string): void {
  if (canNamePlace(name)) return;
  throw new DrayError(
    'usage',
    `"${name}:" would be read as a drive or a URL. Choose a name of two letters or more, other than s3, file and dray.`,
  );
}

function nameTaken(name: string, url: string): DrayError {
  return new DrayError(
    'usage',
    `You already have a remote "${name}" (${url}). Remove it first, or choose another name.`,
  );
}

/**
 * Changes the name or the URL of one of the user's own remotes, and keeps its position.
 * @throws `usage` if it does not exist, or the new name is taken or not allowed.
 */
export function remoteChange(
  context: JobContext,
  { name, to }: { readonly name: string; readonly to: { readonly name: string; readonly url: string } },
): Promise<{ readonly remotes: number }> {
  checkName(to.name);
  checkPlaceName(to.name);
  return changingSettings(context, () => {
    const remotes = readUserRemotes(context);
    if (!Object.hasOwn(remotes, name)) throw new DrayError('usage', `You have no remote "${name}".`);
    if (to.name !== name && Object.hasOwn(remotes, to.name)) throw nameTaken(to.name, remotes[to.name]!.url);
    const url = urlToKeep(context, { url: to.url, baseFolder: context.directory, of: 'user' });
    const changed = Object.entries(remotes).map(([each, remote]) =>
      each === name ? ([to.name, { ...remote, url }] as const) : ([each, remote] as const),
    );
    writeUserRemotes(context, Object.fromEntries(changed));
    return { remotes: changed.length };
  });
}

function removeUserRemote(context: JobContext, name: string): { readonly remotes: number } {
  const { [name]: removed, ...remotes } = readUserRemotes(context);
  if (!removed) throw new DrayError('usage', `You have no remote "${name}".`);
  writeUserRemotes(context, remotes);
  return { remotes: Object.keys(remotes).length };
}

export interface RemoteScope {
  /** Use the user's own remotes instead of the workspace's. */
  readonly user?: boolean;
}

export async function remoteList(
  context: JobContext,
  { user = false }: RemoteScope = {},
): Promise<{ readonly remotes: number }> {
  if (user) {
    const entries = Object.entries(readUserRemotes(context));
    for (const [name, { url }] of entries) context.emit({ type: 'remote', name, url, isDefault: false });
    return { remotes: entries.length };
  }
  using session = await openSession(context, 'remote list', 'shared');
  const entries = Object.entries(session.config.remotes);
  for (const [name, { url }] of entries) {
    context.emit({ type: 'remote', name, url, isDefault: name === session.config.defaultRemote });
  }
  return { remotes: entries.length };
}

export async function remoteRemove(
  context: JobContext,
  request: { readonly name: string } & RemoteScope,
): Promise<{ readonly remotes: number }> {
  if (request.user) return changingSettings(context, () => removeUserRemote(context, request.name));
  using session = await openSession(context, 'remote remove');
  const { [request.name]: removed, ...remotes } = session.config.remotes;
  if (!removed) throw new DrayError('usage', `There is no remote "${request.name}".`);
  if (request.name === session.config.defaultRemote) {
    throw new DrayError('usage', `"${request.name}" is the default remote. Choose another one first.`, {
      advice: 'Choose it with "dray config remote.default NAME".',
    });
  }
  const { [request.name]: _base, ...bases } = session.state.bases;
  const rest = withPending(withDetached(session.state, request.name, undefined), request.name, undefined);
  session.saveState({ ...withoutArrivals(rest, request.name), bases });
  session.saveConfig({ ...session.config, remotes });
  return { remotes: Object.keys(remotes).length };
}

/**
 * The target is the name of one of the workspace's remotes or of the user's own, or any URL, inside a
 * workspace or not. Default: the remote of `dray push`.
 */
export async function remoteTestTarget(
  context: JobContext,
  request: RemoteTestRequest,
): Promise<RemoteTestSummary> {
  const target = request.target ?? context.remoteName;
  const found = target === undefined ? defaultRemote(context) : findNamedRemote(context, target);
  if (found) return tryRemote(context, { target: found.text, url: found.url });
  if (target === undefined)
    throw new DrayError('usage', 'Which remote? Outside a workspace, give its URL or its name.');
  return tryRemote(context, { target, url: parseGivenUrl(context, target, context.directory) });
}

/** The workspace's own remote, even if the user has one of the same name. */
function defaultRemote(context: JobContext): NamedRemote | undefined {
  const workspace = findWorkspace(context.directory, allowedBy(context));
  if (!workspace) return undefined;
  const config = readConfig(workspace);
  return workspaceRemote(context, workspace, config.defaultRemote);
}
