/** Remotes by name: the user's own, those of known workspaces, and those from other programs' settings. */
import { homedir } from 'node:os';
import { DrayError } from '../api/error.ts';
import type { RemoteCard } from '../api/host/remotes.ts';
import { withTypedToken } from '../jobs/remotes/login.ts';
import { remoteAdd, remoteChange, remoteRemove, remoteTestTarget } from '../jobs/remotes/remotes.ts';
import { readUserRemotes } from '../jobs/session/user-remotes.ts';
import { parseRemoteUrl } from '../remotes/remote-url.ts';
import { withKeptKeys } from '../remotes/s3/keys/kept-keys.ts';
import { type HandlersOf, jobContextOf } from './port/host-call.ts';
import { findImportable, findKeySources } from './user-files/importable-remotes.ts';
import { readWorkspaceCard } from './workspace-card.ts';

export const REMOTES: HandlersOf<'remotes'> = {
  'remotes.list': async (_input, { host }) => {
    const remotes: RemoteCard[] = Object.entries(readUserRemotes(host)).map(([name, { url }]) => ({
      name,
      url,
      of: 'user',
    }));
    for (const root of host.windowFile.read().workspaces)
      for (const { name, url } of readWorkspaceCard(root, host).remotes)
        remotes.push({ name, url, of: root });
    return { remotes };
  },
  'remotes.add': async ({ name, url }, call) => {
    await remoteAdd(jobContextOf(call, homedir()), { user: true, name, url });
    return {};
  },
  'remotes.change': async (change, call) => {
    await remoteChange(jobContextOf(call, homedir()), change);
    return {};
  },
  'remotes.remove': async ({ name }, call) => {
    await remoteRemove(jobContextOf(call, homedir()), { user: true, name });
    return {};
  },
  'remotes.test': async ({ keys, target, token }, call) => {
    const known = readUserRemotes(call.host);
    const name = target.replace(/:$/, '');
    const isKnown = Object.hasOwn(known, name);
    const url = isKnown ? known[name]!.url : target;
    let { environment } = call.host;
    if (keys) environment = withKeptKeys(environment, { [profileOf(url)]: keys });
    if (token !== undefined) environment = withTypedToken(environment, { peer: url, token });
    const { failed, ok } = await remoteTestTarget(
      jobContextOf(call, homedir(), { environment }),
      // A known remote is passed by name: its URL may have parameters that the URL of a page must not use.
      { target: isKnown ? name : target },
    );
    return { passed: ok, failed };
  },
  'remotes.usage': async (_input, { host }) => ({ months: host.usageFile.read() }),
  'remotes.keySources': (_input, { host }) => findKeySources(host.environment),
  'remotes.importable': async (_input, { host }) => ({ candidates: await findImportable(host.environment) }),
};

/** @throws `usage` if keys come with a place whose URL names no profile for them. */
function profileOf(url: string): string {
  const parsed = parseRemoteUrl(url, homedir());
  if (parsed.kind === 's3' && parsed.profile) return parsed.profile;
  throw new DrayError('usage', 'Keys can be tested only for a bucket whose URL names a profile.');
}
