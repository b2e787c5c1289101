/** The card of a workspace whose clone is unfinished. */
import { useState } from 'react';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import { Button, LinkButton } from '../../design/controls/button.tsx';
import { LeavingButton } from '../../design/controls/leaving-button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Progress } from '../../design/progress.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useHost, useRefresh, useTransfers } from '../../host/use-host.tsx';
import { hrefOf } from '../../route.ts';
import { addressOf, kindOf } from '../remotes/remote-item.tsx';
import { StateBadge } from '../transfers/state-badge.tsx';
import { UNFINISHED_CLONE } from '../transfers/state-words.ts';
import { describeBytes, describeFiles, fractionDone, fractionUnderWay } from '../transfers/transfer-words.ts';

export interface UnfinishedCloneProps {
  readonly workspace: WorkspaceCard;
  readonly onForget: () => void;
}

export function UnfinishedClone({ workspace, onForget }: UnfinishedCloneProps) {
  const { clone, name, root } = workspace;
  const transfer = useCloneOf(root);
  const { fault, goOn, isBusy } = useGoOn(workspace, transfer);
  const isMoving = transfer?.state === 'running' || transfer?.state === 'waiting';
  return (
    <>
      {transfer && transfer.state !== 'waiting' ? (
        <div className="stack">
          <Progress
            label={`Progress of ${name}`}
            fraction={fractionDone(transfer)}
            underWay={fractionUnderWay(transfer)}
            tone={isMoving ? 'accent' : 'paused'}
          />
          <p className="soft">
            {describeBytes(transfer)}, {describeFiles(transfer)}
          </p>
        </div>
      ) : (
        <p className="soft grow">Files that have arrived stay. The clone continues with the others.</p>
      )}
      {(fault ?? transfer?.error) && <ErrorNotice error={(fault ?? transfer?.error)!} onMended={goOn} />}
      {clone && (
        <p className="workspace-remote row faint small">
          <Icon name={kindOf(clone.url).icon} />
          <span className="cut" title={clone.url}>
            {addressOf(clone.url)}
          </span>
        </p>
      )}
      <footer className="workspace-foot">
        <span className="grow">
          {transfer && (
            <LinkButton look="quiet" size="small" href={hrefOf('transfers')}>
              See Transfers
            </LinkButton>
          )}
        </span>
        {!isMoving && (
          <>
            <Button size="small" onPress={onForget}>
              Forget
            </Button>
            <LeavingButton size="small" look="primary" icon="play" isPending={isBusy} onPress={goOn}>
              Continue
            </LeavingButton>
          </>
        )}
      </footer>
    </>
  );
}

export function UnfinishedBadge({ root }: { readonly root: string }) {
  const transfer = useCloneOf(root);
  if (!transfer || transfer.state === 'cancelled')
    return <span className="faint small">{UNFINISHED_CLONE}</span>;
  return <StateBadge transfer={transfer} />;
}

/** The newest clone into this folder that has not ended well. */
function useCloneOf(root: string): Transfer | undefined {
  return useTransfers()?.findLast(
    ({ order, state }) => order.kind === 'clone' && order.root === root && state !== 'done',
  );
}

function useGoOn({ clone }: WorkspaceCard, transfer: Transfer | undefined) {
  const host = useHost();
  const refresh = useRefresh();
  const [fault, setFault] = useState<Failed>();
  const [isBusy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    setFault(undefined);
    setBusy(true);
    try {
      if (transfer)
        await host.ask('transfers.change', {
          ids: [transfer.id],
          action: transfer.state === 'paused' ? 'resume' : 'retry',
        });
      else if (clone) await host.ask('transfers.start', clone);
      await refresh('home.list');
    } catch (error) {
      setFault(toFailed(error));
    } finally {
      setBusy(false);
    }
  };
  return { fault, isBusy, goOn: () => void send() };
}
