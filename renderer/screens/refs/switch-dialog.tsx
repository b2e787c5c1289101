/** Asks before a switch. Shows the changes that it would make, or the conflicts that prevent it. */

import type { SwitchPlan } from '../../../engine/api/host/history.ts';
import { formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { goTo } from '../../route.ts';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import { useStartTransfers } from '../start-transfer.ts';
import { changeWords } from './change-words.ts';

const NAMED_MAX = 8;

export interface SwitchDialogProps {
  readonly root: string;
  readonly branch: string;
  readonly onClose: () => void;
}

export function SwitchDialog({ root, branch, onClose }: SwitchDialogProps) {
  const plan = useAsk('history.planSwitch', { root, branch });
  const start = useStartTransfers();
  // An earlier answer is not used, because the folder may have changed since.
  const found = plan.isFetching ? undefined : plan.data;
  const isRefused = found !== undefined && found.conflicts > 0;
  return (
    <Dialog
      title={`Switch to ${branch}`}
      isOpen
      size="small"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          {isRefused ? (
            <Button
              look="primary"
              onPress={() => {
                chooseWorkspace(root);
                onClose();
                goTo('changes', { direction: 'push' });
              }}
            >
              Open Changes
            </Button>
          ) : (
            <Button
              look="primary"
              isDisabled={!found}
              onPress={() => {
                void start(`Switching to ${branch}`, [{ kind: 'switch', root, branch }]);
                onClose();
              }}
            >
              Switch
            </Button>
          )}
        </>
      }
    >
      <AnswerState
        of={plan}
        label="Comparing the branch with your folder"
        title="Cannot compare the branch with your folder"
        isAnew
      />
      {found && <PlanWords plan={found} branch={branch} />}
    </Dialog>
  );
}

function PlanWords({ plan, branch }: { readonly plan: SwitchPlan; readonly branch: string }) {
  const { changes, conflictPaths, conflicts } = plan;
  if (!changes)
    return (
      <Notice tone="danger">
        <p>
          {formatPlural(conflicts, 'path')} changed here since the last push and{' '}
          {conflicts === 1 ? 'is' : 'are'} different on {branch}. The switch would overwrite{' '}
          {conflicts === 1 ? 'it' : 'them'}. Push {conflicts === 1 ? 'this change' : 'these changes'} first,
          or restore the last commit's version:
        </p>
        <ul>
          {conflictPaths.slice(0, NAMED_MAX).map((path) => (
            <li key={path} className="cut" title={path}>
              {path}
            </li>
          ))}
          {conflicts > NAMED_MAX && <li>and {formatCount(conflicts - NAMED_MAX)} more</li>}
        </ul>
      </Notice>
    );
  const words = changeWords(changes);
  return (
    <div className="stack">
      <p>
        {words === ''
          ? `No file of your folder changes: ${branch} has the same files.`
          : `In your folder: ${words}.`}
      </p>
      <p className="soft">Changes that you have not pushed stay in your folder.</p>
    </div>
  );
}
