/** Changes branches and tags for a window. Each change names the commit that the window showed. */
import { DrayError } from '../../api/error.ts';
import type { RefKindName, SwitchPlan } from '../../api/host/history.ts';
import type { RefRequest } from '../../api/jobs/jobs.ts';
import type { HostCall } from '../port/host-call.ts';
import { jobContextOf } from '../port/host-call.ts';

const CONFLICTS_NAMED_MAX = 20;

/** @returns The commit of the changed or removed ref. Absent if nothing changed. */
export async function changeRef(
  { kind, root, ...request }: RefRequest & { readonly kind: RefKindName; readonly root: string },
  call: HostCall,
): Promise<{ readonly commit?: string }> {
  const jobs = await import('../../jobs/history/refs.ts');
  let commit: string | undefined;
  const context = jobContextOf(call, root, {
    emit: (event) => {
      if (event.type === 'ref') commit = event.commit;
      else call.emit(event);
    },
  });
  await jobs[kind](context, request);
  return commit === undefined ? {} : { commit };
}

/** Returns conflicts instead of throwing them, because the dialog shows them before the switch. */
export async function planSwitch(
  { branch, root }: { readonly branch: string; readonly root: string },
  call: HostCall,
): Promise<SwitchPlan> {
  const { switchBranch } = await import('../../jobs/pull/switch.ts');
  const conflicts: string[] = [];
  let conflictsCount = 0;
  const context = jobContextOf(call, root, {
    emit: (event) => {
      if (event.type === 'conflict') {
        conflictsCount += 1;
        if (conflicts.length < CONFLICTS_NAMED_MAX) conflicts.push(event.path);
      } else if (event.type !== 'change') call.emit(event);
    },
  });
  try {
    const { changes } = await switchBranch(context, { name: branch, dryRun: true });
    return { changes, conflicts: 0, conflictPaths: [] };
  } catch (error) {
    if (!(error instanceof DrayError) || error.code !== 'conflict' || conflictsCount === 0) throw error;
    return { conflicts: conflictsCount, conflictPaths: conflicts };
  }
}
