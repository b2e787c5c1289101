import { type HandlersOf, jobContextOf } from './host-call.ts';

export const PLAN: HandlersOf<'plan'> = {
  'plan.push': async ({ root }, call) => {
    const { push } = await import('../jobs/push.ts');
    const { changes, query, requests } = await push(jobContextOf(call, root), { dryRun: true });
    return { query, requests, changes };
  },
};
