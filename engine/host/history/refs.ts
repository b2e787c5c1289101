/** Changes branches and tags for a window. Each change names the commit that the window showed. */
import { DrayError } from '../../api/error.ts';
import type { MergePlanned, RefKindName, SwitchPlan } from '../../api/host/history.ts';
import type { InputOf } from '../../api/host.ts';
import type { JobContext, RefRequest } from '../../api/jobs/jobs.ts';
import type { HostCall } from '../port/host-call.ts';
import { jobContextOf } from '../port/host-call.ts';

/** Each of them can be decided by itself. */
const CONFLICTS_NAMED_MAX = 200;

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
  return planned(root, call, async (context) => {
    const { changes } = await switchBranch(context, { name: branch, dryRun: true });
    return { changes };
  });
}

/** The same of a merge or a revert, which can decide them. */
export async function planVersionMerge(
  { kind, root, ...request }: InputOf<'history.planMerge'>,
  call: HostCall,
): Promise<MergePlanned> {
  return planned(root, call, async (context) => {
    const { changes, result } =
      kind === 'merge'
        ? await (await import('../../jobs/merge/merge.ts')).merge(context, { ...request, dryRun: true })
        : await (await import('../../jobs/merge/revert.ts')).revert(context, { ...request, dryRun: true });
    return { changes, ...(result === 'upToDate' ? { isMerged: true } : {}) };
  });
}

async function planned(
  root: string,
  call: HostCall,
  run: (context: JobContext) => Promise<Pick<MergePlanned, 'changes' | 'isMerged'>>,
): Promise<MergePlanned> {
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
    return { ...(await run(context)), conflicts: 0, conflictPaths: [] };
  } catch (error) {
    if (!(error instanceof DrayError) || error.code !== 'conflict' || conflictsCount === 0) throw error;
    return { conflicts: conflictsCount, conflictPaths: conflicts };
  }
}
