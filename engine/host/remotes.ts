/** Remotes by name: the user's own and those of known workspaces, and what other programs' settings offer. */
import { homedir } from 'node:os';
import type { RemoteCard } from '../api/host.ts';
import { remoteAdd, remoteRemove, remoteTestTarget } from '../jobs/remotes.ts';
import { readUserRemotes } from '../jobs/user-remotes.ts';
import { type HandlersOf, jobContextOf } from './host-call.ts';
import { findImportable } from './importable-remotes.ts';
import { readWorkspaceCard } from './workspace-card.ts';

export const REMOTES: HandlersOf<'remotes'> = {
  'remotes.list': async (_input, { host }) => {
    const remotes: RemoteCard[] = Object.entries(readUserRemotes(host)).map(([name, { url }]) => ({
      name,
      url,
      of: 'user',
    }));
    for (const root of host.windowFile.read().workspaces)
      for (const { name, url } of readWorkspaceCard(root).remotes) remotes.push({ name, url, of: root });
    return { remotes };
  },
  'remotes.add': async ({ name, url }, call) => {
    await remoteAdd(jobContextOf(call, homedir()), { user: true, name, url });
    return {};
  },
  'remotes.remove': async ({ name }, call) => {
    await remoteRemove(jobContextOf(call, homedir()), { user: true, name });
    return {};
  },
  'remotes.test': async ({ target }, call) => {
    const known = readUserRemotes(call.host);
    const name = target.replace(/:$/, '');
    const url = Object.hasOwn(known, name) ? known[name]!.url : target;
    const { failed, ok } = await remoteTestTarget(jobContextOf(call, homedir()), { target: url });
    return { passed: ok, failed };
  },
  'remotes.usage': async (_input, { host }) => ({ months: host.usageFile.read() }),
  'remotes.importable': async (_input, { host }) => ({ candidates: findImportable(host.environment) }),
};
