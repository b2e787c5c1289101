/** Predicts what a push or a change of scope would do. */
import { skippedPaths, skippedTotals } from '../api/host/change-choices.ts';
import type { RequestTotals } from '../api/jobs/jobs.ts';
import { openRemoteAt, parseGivenUrl } from '../jobs/session/opened-remote.ts';
import { allowedBy } from '../jobs/session/user-remotes.ts';
import { hasKnownPrices } from '../model/prices.ts';
import { readConfig, requireWorkspace } from '../workspace/workspace-folder.ts';
import { type HandlersOf, type HostCall, jobContextOf } from './port/host-call.ts';

const NOTHING: RequestTotals = {
  reads: 0,
  writes: 0,
  lists: 0,
  deletes: 0,
  total: 0,
  sentBytes: 0,
  receivedBytes: 0,
  dollars: 0,
};

export const PLAN: HandlersOf<'plan'> = {
  'plan.push': async ({ root }, call) => {
    const { push } = await import('../jobs/push/push.ts');
    const choices = call.host.keptChoices.skipped(root);
    const { changes, forecast, query, uploadedObjects } = await push(jobContextOf(call, root), {
      dryRun: true,
      skip: skippedPaths(choices),
    });
    const excluded = skippedTotals(choices).rows;
    const isPriced = await hasPrices(root, call);
    return { query, requests: forecast ?? NOTHING, isPriced, changes, objects: uploadedObjects, excluded };
  },
  'plan.scope': async ({ only, root }, call) => {
    const { planScope } = await import('../jobs/scope/plan-scope.ts');
    return planScope(jobContextOf(call, root), { only });
  },
};

/** No request: an S3 endpoint alone says whose it is. */
async function hasPrices(root: string, call: HostCall): Promise<boolean> {
  const { defaultRemote, remotes } = readConfig(requireWorkspace(root, allowedBy(call.host)));
  const context = jobContextOf(call, root);
  const url = parseGivenUrl(context, remotes[defaultRemote]!.url, root);
  if (url.kind !== 's3') return true;
  await using remote = await openRemoteAt(context, url);
  return hasKnownPrices(url.kind, remote.store.provider);
}
