/** The retention policy of a repository for a window: read, tried without changing anything, and applied. */
import type { RetentionEvent } from '../../api/events.ts';
import { given } from '../../api/given.ts';
import type { AnswerOf } from '../../api/host.ts';
import type { ForgetRequest } from '../../api/jobs/jobs.ts';
import { forget } from '../../jobs/retention/forget.ts';
import { readRetention } from '../../repository/retention.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { withCommits } from '../repository-read.ts';
import { findKnownPlaces } from './known-places.ts';
import { openRepositoryFile } from './repository-file.ts';

type Retention = Pick<
  HandlersOf<'repositories'>,
  'repositories.policy' | 'repositories.planForget' | 'repositories.forget'
>;

export const RETENTION: Retention = {
  'repositories.policy': async ({ root }, call) =>
    withCommits(jobContextOf(call, root), async ({ store }) => {
      const policy = (await readRetention(store, { signal: call.signal }))?.policy;
      return policy ? { policy } : {};
    }),

  'repositories.planForget': async ({ limit, policy, root, tags }, call) => {
    const commits: AnswerOf<'repositories.planForget'>['commits'][number][] = [];
    const request = { policy, ...given({ tags }), dryRun: true };
    const { forgotten, removedTags, stay } = await run(call, root, request, ({ type: _, ...commit }) => {
      if (commits.length < limit) commits.push(commit);
    });
    return { commits, forgotten, removedTags, stay };
  },

  'repositories.forget': async ({ root, ...request }, call) => {
    const { forgotten, removedTags, stay } = await run(call, root, request, () => {});
    // What a collection would free is another amount now.
    if (forgotten > 0)
      for (const { id, knownAs } of findKnownPlaces(call.host).values())
        if (knownAs.some(({ of }) => of === root))
          await openRepositoryFile(call.host).change(id, (known) => {
            const { garbage: _, ...rest } = known ?? {};
            return known && (rest as typeof known);
          });
    return { forgotten, removedTags, stay };
  },
};

function run(
  call: HostCall,
  root: string,
  request: ForgetRequest,
  onCommit: (event: RetentionEvent) => void,
): ReturnType<typeof forget> {
  const emit: HostCall['emit'] = (event) => {
    if (event.type === 'retention') onCommit(event);
    else call.emit(event);
  };
  return forget({ ...jobContextOf(call, root), emit }, request);
}
