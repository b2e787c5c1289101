/** The first step of a push: checks the request, and makes the repository if there is none. */
import { DrayError } from '../../../api/error.ts';
import type { FleetRequest } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { systemClock } from '../../../base/clock.ts';
import { DEFAULT_LAYOUT } from '../../../model/layout.ts';
import { checkEntryPath } from '../../../model/safe-path.ts';
import { parseRemoteUrl } from '../../../remotes/remote-url.ts';
import { createDescriptor, readDescriptor } from '../../../repository/descriptor.ts';
import { checkRefName } from '../../../repository/ref-name.ts';
import { conditionalWritesHold } from '../../remotes/try-remote.ts';
import { warnOfUnsafePushes } from '../../session/conditional-writes.ts';
import { openRemoteAt } from '../../session/opened-remote.ts';

export async function preparePush(
  context: JobContext,
  repository: string,
  { branch, into }: FleetRequest,
): Promise<void> {
  const { signal } = context;
  if (branch !== undefined) checkRefName(branch);
  const reason = into === undefined ? undefined : checkEntryPath(into, { kind: 'file', platform: 'linux' });
  if (reason !== undefined)
    throw new DrayError('usage', `"${into}" cannot be a folder of a dataset: ${reason}.`);
  const { store } = await openRemoteAt(context, parseRemoteUrl(repository, context.directory));
  try {
    if (!(await readDescriptor(store, { signal }))) {
      const { created } = await createDescriptor(store, {
        layout: DEFAULT_LAYOUT,
        clock: systemClock,
        signal,
      });
      const message = `A new repository was made at ${store.address}.`;
      if (created) context.emit({ type: 'warning', warning: 'repositoryMade', message });
    }
    if (!(await conditionalWritesHold(store, signal))) warnOfUnsafePushes({ context }, store);
  } finally {
    await store.close();
  }
}
