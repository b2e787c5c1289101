/** Predicts the requests and bytes of a push by a dry run. */
import { skippedPaths, skippedTotals } from '../api/host/change-choices.ts';
import type { RequestTotals } from '../api/jobs.ts';
import { type HandlersOf, jobContextOf } from './port/host-call.ts';

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
    return { query, requests: forecast ?? NOTHING, changes, objects: uploadedObjects, excluded };
  },
};
