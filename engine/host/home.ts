/** The workspaces that this user knows, and the ways to add one. */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { FolderListing } from '../api/host/home.ts';
import { allowedBy } from '../jobs/session/user-remotes.ts';
import { DRAY_FOLDER, requireWorkspace } from '../workspace/workspace-folder.ts';
import type { HostState } from './host-state.ts';
import { type HandlersOf, jobContextOf } from './port/host-call.ts';
import { readWorkspaceCard } from './workspace-card.ts';

const WORKSPACES_MAX = 500;
const FOLDERS_MAX = 2_000;

export const HOME: HandlersOf<'home'> = {
  'home.list': async (_input, { host }) => ({
    workspaces: host.windowFile.read().workspaces.map((root) => readWorkspaceCard(root, host)),
  }),
  'home.addWorkspace': async ({ root }, { host }) =>
    addWorkspace(host, requireWorkspace(root, allowedBy(host)).root),
  'home.createWorkspace': async ({ remoteUrl, root }, call) => {
    const { initWorkspace } = await import('../jobs/remotes/init.ts');
    mkdirSync(root, { recursive: true });
    const { workspace } = await initWorkspace(jobContextOf(call, resolve(root)), { remoteUrl });
    return addWorkspace(call.host, workspace);
  },
  'home.cloneWorkspace': async ({ root, url }, call) => {
    const { cloneWorkspace } = await import('../jobs/pull/clone.ts');
    const context = jobContextOf(call, dirname(resolve(root)));
    const { failed, workspace } = await cloneWorkspace(context, { url, directory: resolve(root) });
    return { ...addWorkspace(call.host, workspace), failed };
  },
  'home.removeWorkspace': async ({ root }, { host }) => {
    host.windowFile.change((facts) => ({
      ...facts,
      workspaces: facts.workspaces.filter((known) => known !== root),
    }));
    return {};
  },
  'home.listFolders': async ({ folder = homedir() }) => listFolders(resolve(folder)),
};

function addWorkspace(host: HostState, root: string) {
  host.windowFile.change((facts) => ({
    ...facts,
    workspaces: [root, ...facts.workspaces.filter((known) => known !== root)].slice(0, WORKSPACES_MAX),
  }));
  return readWorkspaceCard(root, host);
}

/** Without hidden ones. A link to a folder counts as a folder. */
function listFolders(folder: string): FolderListing {
  let folders: string[];
  try {
    folders = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.'))
      .filter(
        (entry) => entry.isDirectory() || (entry.isSymbolicLink() && isFolder(join(folder, entry.name))),
      )
      .map(({ name }) => name)
      .sort((a, b) => a.localeCompare(b))
      .slice(0, FOLDERS_MAX);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    const message = isGone ? `There is no folder ${folder}.` : `${folder} cannot be read (${code}).`;
    throw new DrayError(isGone ? 'notFound' : 'io', message, { data: { path: folder }, cause });
  }
  const parent = dirname(folder);
  return {
    folder,
    ...(parent === folder ? {} : { parent }),
    folders,
    isWorkspace: existsSync(join(folder, DRAY_FOLDER, 'config.json')),
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
