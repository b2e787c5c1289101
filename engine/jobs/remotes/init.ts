/**
 * `dray init`: links a folder to a repository, and makes the repository if needed. Reads and sends no file of
 * the folder.
 */
import type { InitRequest, InitSummary, JobContext } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import { DEFAULT_LAYOUT, ENCRYPTED_LAYOUT, type Layout, OBJECTS_LAYOUT } from '../../model/layout.ts';
import { createDescriptor } from '../../repository/descriptor.ts';
import { checkRefName } from '../../repository/ref-name.ts';
import {
  createWorkspace,
  makeFolder,
  refuseNesting,
  removeWorkspace,
} from '../../workspace/workspace-folder.ts';
import { baseMark } from '../session/base/base-commit.ts';
import { testConditionalWrites, warnOfUnsafePushes } from '../session/conditional-writes.ts';
import { createMasterKeys } from '../session/master-keys.ts';
import { openWorkspaceSession } from '../session/open-workspace.ts';
import { openRemoteAt, parseGivenUrl, urlToKeep } from '../session/opened-remote.ts';
import { warnIfPlain } from '../session/password.ts';
import { keptOf, openSealed } from '../session/sealed-remote.ts';
import { createEncrypted } from './create-encrypted.ts';
import { refuseStoreInside } from './store-inside.ts';

export const DEFAULT_BRANCH = 'main';
export const DEFAULT_REMOTE = 'origin';

export async function initWorkspace(given: JobContext, request: InitRequest): Promise<InitSummary> {
  // Who has made an encrypted repository is not asked for its password again.
  const context = { ...given, masterKeys: given.masterKeys ?? createMasterKeys() };
  const root = context.directory;
  const branch = request.branch ?? DEFAULT_BRANCH;
  const remoteName = request.remoteName ?? DEFAULT_REMOTE;
  checkRefName(branch);
  refuseNesting(root);
  const baseFolder = request.relativeTo ?? root;
  const url = urlToKeep(context, { url: request.remoteUrl, baseFolder, of: 'workspace' });
  const place = parseGivenUrl(context, url, root);
  refuseStoreInside(root, place);
  await using opened = await openRemoteAt(context, place, { create: true });
  const making = { layout: layoutFrom(request), clock: systemClock, signal: context.signal };
  const { descriptor, created, recoveryKey } = request.encrypt
    ? await createEncrypted(context, opened.store, making)
    : { ...(await createDescriptor(opened.store, making)), recoveryKey: undefined };
  const { encryption } = descriptor;
  warnIfPlain(context, opened.store.address, descriptor);
  const known = encryption && { id: descriptor.id, check: encryption.check };
  const { store } = known ? await openSealed(context, opened, { known }) : opened;
  makeFolder(root);
  const workspace = createWorkspace(
    root,
    {
      format: 1,
      defaultRemote: remoteName,
      remotes: { [remoteName]: { url, ...keptOf(store, descriptor) } },
      settings: {},
    },
    { format: 1, branch, bases: {} },
  );
  try {
    using session = await openWorkspaceSession({ ...context, remoteName }, 'init', workspace);
    const { id } = session.index.repositories.bind(descriptor.id);
    if (!(await testConditionalWrites(session, opened.store, id))) warnOfUnsafePushes(session, opened.store);
    session.index.settings.base = baseMark(session, descriptor.id);
  } catch (error) {
    removeWorkspace(root);
    throw error;
  }
  return {
    workspace: root,
    remoteUrl: url,
    repositoryId: descriptor.id,
    created,
    branch,
    encrypted: encryption !== undefined,
    ...(recoveryKey === undefined ? {} : { recoveryKey }),
  };
}

function layoutFrom({ compression = 'auto', encrypt, layout: wanted }: InitRequest): Layout {
  const usual = encrypt ? ENCRYPTED_LAYOUT : DEFAULT_LAYOUT;
  const layout = wanted?.kind === 'objects' ? OBJECTS_LAYOUT : usual;
  const packBelow = wanted?.packBelow ?? layout.packBelow;
  return {
    ...layout,
    packBelow,
    packTarget: Math.max(layout.packTarget, packBelow),
    ...(wanted?.chunkAbove === undefined ? {} : { chunkAbove: wanted.chunkAbove }),
    compression: compression === 'off' ? undefined : compression,
  };
}
