/** Lists and puts back the files that pulls and restores overwrote. */
import { type HandlersOf, jobContextOf } from '../port/host-call.ts';

export const KEPT: HandlersOf<'kept'> = {
  'kept.list': async ({ root }, call) => {
    const { listKept } = await import('../../jobs/kept/kept-files.ts');
    return listKept(jobContextOf(call, root));
  },
  'kept.putBack': async ({ root, ...request }, call) => {
    const { putBackKept } = await import('../../jobs/kept/kept-files.ts');
    return putBackKept(jobContextOf(call, root), request);
  },
};
