/** The workspaces that this user knows, and the ways to add one. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { FolderListing, WorkspaceCard } from '../api/host/home.ts';
import type { TransferOrder } from '../api/host/transfers.ts';
import { makeFolders } from '../base/make-folders.ts';
import { allowedBy } from '../jobs/session/user-remotes.ts';
import { DRAY_FOLDER, requireWorkspace } from '../workspace/workspace-folder.ts';
import type { HostState } from './host-state.ts';
import { withTyped } from './passwords.ts';
import { type HandlersOf, jobContextOf } from './port/host-call.ts';
import { readWorkspaceCard, workspaceRefusal } from './workspace-card.ts';

const FOLDERS_MAX = 2_000;

export const HOME: HandlersOf<'home'> = {
  'home.list': async (_input, { host }) => {
    const { workspaces } = host.windowFile.read();
    const clones = await openClones(host);
    // A clone that has not written a file yet is not among the known workspaces.
    const begun = [...clones.keys()].filter((root) => !workspaces.includes(root));
    return {
      workspaces: [...begun, ...workspaces].map((root): WorkspaceCard => {
        const card = readWorkspaceCard(root, host);
        const clone = clones.get(root);
        return clone && card.state === 'missing' ? { ...card, state: 'unfinished', clone } : card;
      }),
    };
  },
  'home.look': async ({ isAsked = false, maxAgeMs }, call) => {
    const mayAsk = isAsked || call.host.windowFile.read().settings.looksForIncoming;
    const { lookForIncoming } = await import('./incoming.ts');
    return { looks: await lookForIncoming(call, mayAsk ? maxAgeMs : undefined) };
  },
  'home.addWorkspace': async ({ isForeignListed = false, root }, { host }) =>
    addWorkspace(host, requireWorkspace(root, isForeignListed ? () => true : allowedBy(host)).root),
  'home.createWorkspace': async ({ createsFolder = false, password, remoteUrl, root }, call) => {
    if (!createsFolder && !existsSync(root))
      throw new DrayError('notFound', `The folder ${root} does not exist. Create it, or choose another.`, {
        data: { path: root },
      });
    const { initWorkspace } = await import('../jobs/remotes/init.ts');
    makeFolders(root);
    const context = jobContextOf(call, resolve(root));
    const { recoveryKey, workspace } = await (password === undefined
      ? initWorkspace(context, { remoteUrl })
      : initWorkspace(withTyped(context, password), { remoteUrl, encrypt: true }));
    const card = addWorkspace(call.host, workspace);
    return { ...card, ...(recoveryKey === undefined ? {} : { recoveryKey }) };
  },
  'home.checkFolder': async ({ root, use }, call) => {
    const { checkCloneFolder } = await import('../jobs/pull/clone-folder.ts');
    if (use === 'clone') checkCloneFolder(jobContextOf(call, root), { root: resolve(root) });
    return { exists: existsSync(root) };
  },
  'home.removeWorkspace': async ({ root }, { host }) => {
    await forgetClones(host, root);
    host.windowFile.change((facts) => ({
      ...facts,
      workspaces: facts.workspaces.filter((known) => known !== root),
    }));
    return {};
  },
  'home.trustFolder': async ({ owner, root }, call) => {
    const refusal = workspaceRefusal(root);
    if (refusal && refusal.data.owner !== owner)
      throw new DrayError('conflict', `${root} now belongs to a third user. Check it again.`, {
        data: { path: root, reason: 'ownerChanged' },
      });
    const { userConfig } = await import('../jobs/remotes/config.ts');
    if (refusal) await userConfig(jobContextOf(call, root), { name: 'safe.directory', value: root });
    return {};
  },
  'home.listFolders': async ({ folder = homedir() }) => listFolders(resolve(folder)),
};

/** The unfinished clones of the queue, by folder. Empty if the queue cannot be opened. */
async function openClones(host: HostState): Promise<ReadonlyMap<string, CloneOrder>> {
  const queue = await host.transfers().catch(() => undefined);
  return new Map(
    (queue?.list() ?? []).flatMap(({ order, state }) =>
      order.kind === 'clone' && state !== 'done' && state !== 'cancelled' ? [[order.root, order]] : [],
    ),
  );
}

type CloneOrder = Extract<TransferOrder, { readonly kind: 'clone' }>;

async function forgetClones(host: HostState, root: string): Promise<void> {
  const queue = await host.transfers().catch(() => undefined);
  const ids = (queue?.list() ?? [])
    .filter(({ order }) => order.kind === 'clone' && order.root === root)
    .map(({ id }) => id);
  if (!queue || ids.length === 0) return;
  for (const action of ['cancel', 'remove'] as const) queue.change({ ids, action });
}

function addWorkspace(host: HostState, root: string): WorkspaceCard {
  host.addWorkspace(root);
  return readWorkspaceCard(root, host);
}

/** Omits hidden folders. A link to a folder counts as a folder. */
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
