/** The question before an upgrade. A dry run says what it would write. */
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { showToast } from '../../shell/toasts/toasts.tsx';

export interface UpgradeDialogProps {
  readonly name: string;
  readonly root: string;
  readonly onClose: () => void;
  readonly onUpgraded: () => void;
}

export function UpgradeDialog({ name, root, onClose, onUpgraded }: UpgradeDialogProps) {
  const plan = useAsk('repositories.planUpgrade', { root }, { heldMs: 0 });
  const upgrade = useDo('repositories.upgrade');
  const found = plan.data;
  const submit = () =>
    upgrade.mutate(
      { root },
      {
        onSuccess: () => {
          showToast({ tone: 'success', title: `Upgraded ${name}` });
          onUpgraded();
        },
      },
    );
  return (
    <Dialog
      title={`Upgrade ${name}?`}
      isOpen
      isForm
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look="primary"
            isDisabled={found?.result !== 'wouldUpgrade'}
            isPending={upgrade.isPending}
            onPress={submit}
          >
            Upgrade
          </Button>
        </>
      }
    >
      <div className="stack">
        {!found && (
          <AnswerState of={plan} label="Reading the repository" title="Cannot read the repository" />
        )}
        {found?.result === 'upToDate' && <p role="status">It is up to date.</p>}
        {found?.result === 'wouldUpgrade' && (
          <>
            <p role="status">
              This writes anew what names the repository (<span className="code">dray.json</span>) and{' '}
              {formatPlural(found.refs, 'branch or tag', 'branches and tags')}. Content and commits stay as
              they are.
            </p>
            <p>
              From then on it can forget commits and collect garbage, and older versions of Dray refuse it.
              Update Dray on every machine, and end their pushes first. There is no way back.
            </p>
          </>
        )}
        {upgrade.error && <ErrorNotice error={upgrade.error} />}
      </div>
    </Dialog>
  );
}
