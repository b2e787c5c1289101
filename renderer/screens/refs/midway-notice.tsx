/** Says that a folder shows another version than its branch, or has a merge that is not pushed yet. */
import { lazy, Suspense, useState } from 'react';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import type { PendingMerge } from '../../../engine/api/jobs/pending-merge.ts';
import { Button } from '../../design/controls/button.tsx';
import { ConfirmDialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { type RefTask, versionName } from './ref-task.ts';

const RefDialog = lazy(async () => ({ default: (await import('./ref-dialogs.tsx')).RefDialog }));

/** A word or two beside the name of the branch. Undefined if there is nothing to say. */
export function midwayWords({
  detached,
  merging,
}: Pick<WorkspaceCard, 'detached' | 'merging'>): string | undefined {
  if (detached) return `at ${versionName(detached.ref)}`;
  if (merging) return merging.kind === 'merge' ? 'merging' : 'reverting';
  return undefined;
}

export function MidwayNotice({ workspace }: { readonly workspace: WorkspaceCard }) {
  const { branch = '', detached, merging, root } = workspace;
  const [task, setTask] = useState<RefTask>();
  return (
    <>
      {detached && (
        <Notice
          actions={
            <>
              <Button size="small" onPress={() => setTask({ do: 'switch', branch })}>
                Back to {branch}
              </Button>
              <Button
                size="small"
                onPress={() => setTask({ do: 'new', kind: 'branch', commit: detached.commit })}
              >
                New branch here
              </Button>
            </>
          }
        >
          This folder shows <strong>{versionName(detached.ref)}</strong>, and not the newest version of{' '}
          {branch}. To push from here, make a branch or go back to {branch}. Your changes come along.
        </Notice>
      )}
      {merging && <MergeNotice root={root} merging={merging} />}
      {task && (
        <Suspense>
          <RefDialog root={root} task={task} onClose={() => setTask(undefined)} onNext={setTask} />
        </Suspense>
      )}
    </>
  );
}

function MergeNotice({ root, merging }: { readonly root: string; readonly merging: PendingMerge }) {
  const { commit, isUnfinished, kind, parent, ref } = merging;
  const [isAborting, setAborting] = useState(false);
  const start = useStartTransfers();
  const name = versionName(ref);
  const words = kind === 'merge' ? `merge of ${name}` : `revert of ${name}`;
  const goOn = () => {
    const order = { kind, root, ref: commit, ...(parent === undefined ? {} : { parent }) };
    void start(`The ${words} goes on`, [order]);
  };
  return (
    <Notice
      tone={isUnfinished ? 'warning' : 'info'}
      actions={
        <>
          {isUnfinished && (
            <Button size="small" onPress={goOn}>
              Go on
            </Button>
          )}
          <Button size="small" onPress={() => setAborting(true)}>
            Take it back
          </Button>
        </>
      }
    >
      {isUnfinished
        ? `The ${words} has not written all files. A push waits until it has.`
        : `Your next push records the ${words}.`}
      <ConfirmDialog
        title={`Take back the ${kind}?`}
        isOpen={isAborting}
        onClose={() => setAborting(false)}
        action="Take it back"
        onConfirm={() => void start(`Taking back the ${words}`, [{ kind: 'abortMerge', root, of: kind }])}
      >
        The files that the {kind} changed go back to what they were. Files that you changed since stay.
      </ConfirmDialog>
    </Notice>
  );
}
