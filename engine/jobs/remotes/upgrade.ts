/**
 * `dray upgrade`: lets an older repository collect garbage. First the descriptor says so, then every ref,
 * each by compare-and-swap. So an older Dray that is pushing meets a ref that it must not read, and stops. A
 * command that is killed goes on when it runs again.
 */
import type { JobContext } from '../../api/jobs.ts';
import type { UpgradeSummary } from '../../api/repositories.ts';
import { addFeatures, readDescriptor } from '../../repository/descriptor.ts';
import { FEATURE_COLLECTION } from '../../repository/document.ts';
import { listAnyRefs, type RefKind, writeAnyRef } from '../../repository/refs.ts';
import { notARepository } from '../session/link-repository.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';

const KINDS: readonly RefKind[] = ['heads', 'tags'];

export async function upgrade(context: JobContext): Promise<UpgradeSummary> {
  using session = await openSession(context, 'upgrade', 'shared');
  await using remote = await openSessionRemote(session);
  const { store } = remote;
  const call = { signal: context.signal };
  if (!(await readDescriptor(store, call))) throw notARepository(store, { isUnmet: false });
  const isNew = await addFeatures(store, [FEATURE_COLLECTION], call);
  let refs = 0;
  // Another machine may make or move a ref during a pass: passes go on until one finds nothing to change.
  for (let changed = -1; changed !== 0; ) {
    changed = 0;
    for (const kind of KINDS) {
      for (const { etag, name, ...ref } of await listAnyRefs(store, kind, call)) {
        if (ref.collects) continue;
        changed += 1;
        const { written } = await writeAnyRef(store, name, { ...ref, collects: true }, { etag }, call);
        if (written) refs += 1;
      }
    }
  }
  return { result: isNew || refs > 0 ? 'upgraded' : 'upToDate', refs, features: [FEATURE_COLLECTION] };
}
