/** One transfer: its title, its progress, its actions, and its details below. */
import { Button as PlainButton } from 'react-aria-components/Button';
import type { ErrorRecord } from '../../../engine/api/error.ts';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import type { MissingSecret } from '../../../engine/api/text/missing-keys.ts';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { formatMoment, formatRate, formatSeconds } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { Progress } from '../../design/progress.tsx';
import { Notice } from '../../design/states.tsx';
import { ErrorNotice, GoButton } from '../../failures/failure.tsx';
import { KeysButton } from '../../failures/keys-remedy.tsx';
import { PasswordButton } from '../../failures/password-remedy.tsx';
import { goTo } from '../../route.ts';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import { MendButton } from '../mend/mend-button.tsx';
import { StateBadge } from './state-badge.tsx';
import { TransferDetails } from './transfer-details.tsx';
import { StallNotice } from './transfer-stall.tsx';
import {
  ACTIONS,
  actionsFor,
  describeBytes,
  describeFiles,
  describeOrder,
  describeTimeLeft,
  fractionDone,
  fractionUnderWay,
  isOver,
  KIND_ICONS,
  type TransferAction,
} from './transfer-words.ts';

export interface TransferRowProps {
  readonly transfer: Transfer;
  readonly onAction: (transfer: Transfer, action: TransferAction) => void;
  /** Part of a list whose rows can be dragged. */
  readonly isMovable: boolean;
  /** Its details are shown. */
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
}

export function TransferRow({ transfer, onAction, isMovable, isOpen, onOpen }: TransferRowProps) {
  const { error, needs, notice, order, state, title } = transfer;
  return (
    <div className={`transfer is-${transfer.state}`} data-transfer={transfer.id}>
      <div className="transfer-line">
        {isMovable && (
          <PlainButton slot="drag" className="transfer-grip" aria-label={`Move ${title} in the queue`}>
            <Icon name="grip" />
          </PlainButton>
        )}
        <span className="transfer-kind">
          <Icon name={KIND_ICONS[transfer.order.kind]} />
        </span>
        <div className="transfer-main">
          <div className="row">
            <span className="transfer-title cut">{title}</span>
            <StateBadge transfer={transfer} />
          </div>
          <div className="small faint cut">{describeOrder(transfer.order)}</div>
          {transfer.waitsFor !== undefined && <div className="small soft">{transfer.waitsFor}</div>}
        </div>
        <Numbers transfer={transfer} />
        <div className="transfer-actions">
          {order.kind === 'clone' && state === 'done' && (
            <Button
              size="small"
              onPress={() => {
                chooseWorkspace(order.root);
                goTo('history');
              }}
            >
              Open
            </Button>
          )}
          {actionsFor(transfer).map((action) => {
            const { icon, label } = ACTIONS[action];
            return (
              <IconButton
                key={action}
                icon={icon}
                label={`${label}${label.includes(' ') ? ':' : ''} ${title}`}
                size="small"
                onPress={() => onAction(transfer, action)}
              />
            );
          })}
          <PlainButton
            className="button button-quiet button-icon button-small"
            aria-label={`Details of ${title}`}
            aria-expanded={isOpen}
            onPress={() => onOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} />
          </PlainButton>
        </div>
      </div>
      {!isOver(transfer) && transfer.state !== 'waiting' && (
        <Progress
          label={`Progress of ${title}`}
          fraction={fractionDone(transfer)}
          underWay={fractionUnderWay(transfer)}
          tone={transfer.state === 'paused' ? 'paused' : 'accent'}
        />
      )}
      {needs && <NeedsNotice needs={needs} />}
      {transfer.stall && <StallNotice stall={transfer.stall} onLog={() => onOpen(true)} />}
      {notice !== undefined && (
        <Notice tone={transfer.state === 'running' ? 'warning' : 'info'}>
          {notice}
          {transfer.state === 'running' && ' Files that have arrived stay.'}
        </Notice>
      )}
      {error && error.code !== 'aborted' && (
        <Failure
          error={error}
          order={order}
          onRetry={() => onAction(transfer, 'retry')}
          onPushEmptied={() => onAction(transfer, 'pushEmptied')}
        />
      )}
      {isOpen && <TransferDetails transfer={transfer} />}
    </div>
  );
}

function NeedsNotice({ needs }: { readonly needs: MissingSecret }) {
  if ('profile' in needs)
    return (
      <Notice tone="warning" actions={<KeysButton size="small" profile={needs.profile} />}>
        Needs the keys of “{needs.profile}”. It continues once they are entered.
      </Notice>
    );
  const { locked } = needs;
  return (
    <Notice tone="warning" actions={<PasswordButton size="small" locked={locked} />}>
      Needs the password of {locked.address}. It continues once it is entered.
    </Notice>
  );
}

interface FailureProps {
  readonly error: ErrorRecord;
  readonly order: Transfer['order'];
  readonly onRetry: () => void;
  readonly onPushEmptied: () => void;
}

function Failure({ error, order, onRetry, onPushEmptied }: FailureProps) {
  return (
    <ErrorNotice
      error={error}
      onMended={onRetry}
      actions={
        <div className="row">
          <GoButton size="small" error={error} />
          {'root' in order && (
            <MendButton error={error} name={nameOf(order.root)} root={order.root} onUpgraded={onRetry} />
          )}
          {error.code === 'manyEmptied' && (
            <Button size="small" onPress={onPushEmptied}>
              Push them as they are
            </Button>
          )}
          <Button size="small" icon="refresh" onPress={onRetry}>
            Retry
          </Button>
        </div>
      }
    />
  );
}

/** The folder's name, as Home has it. */
function nameOf(root: string): string {
  return root.split(/[/\\]/).at(-1) || root;
}

/** Figures are in columns, so that rows can be compared. */
function Numbers({ transfer }: { readonly transfer: Transfer }) {
  const { state } = transfer;
  const isEmpty = state === 'waiting';
  return (
    <div className="transfer-numbers">
      <div className="transfer-moved">
        <div>{isEmpty ? '' : describeBytes(transfer)}</div>
        <div className="small faint">{isEmpty ? '' : describeFiles(transfer)}</div>
      </div>
      <div className="transfer-time">
        <div>{timeOf(transfer)}</div>
        <div className="small faint">{momentOf(transfer)}</div>
      </div>
    </div>
  );
}

/** A collection moves no bytes. */
function timeOf(transfer: Transfer): string {
  if (transfer.state !== 'running') return durationOf(transfer);
  return transfer.order.kind === 'gc' ? '' : formatRate(transfer.bytesPerSecond);
}

function durationOf({ endedMs, startedMs }: Transfer): string {
  return startedMs === undefined || endedMs === undefined ? '' : formatSeconds((endedMs - startedMs) / 1000);
}

function momentOf(transfer: Transfer): string {
  if (transfer.state === 'running') return describeTimeLeft(transfer);
  if (isOver(transfer) && transfer.endedMs !== undefined) return formatMoment(transfer.endedMs);
  return '';
}
