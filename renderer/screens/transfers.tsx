/** The queue of transfers: running, waiting in their order, and ended with their results. */
import { type Failed, toFailed } from '../failures/failed.ts';
import './transfers/transfers.css';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import { formatCount, formatPlural } from '../../engine/api/text/numbers.ts';
import { Card } from '../design/card.tsx';
import { Button, LinkButton } from '../design/controls/button.tsx';
import { ConfirmDialog } from '../design/overlays/dialog.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading } from '../design/states.tsx';
import { ErrorNotice, ErrorState } from '../failures/failure.tsx';
import { useQueueError, useTransfers } from '../host/use-host.tsx';
import { ColumnHead } from './columns/column-head.tsx';
import { type ColumnSpec, useColumns } from './columns/use-columns.ts';
import { stepsTo } from './transfers/queue-order.ts';
import { ThroughputCard } from './transfers/throughput-card.tsx';
import { TransferMenu } from './transfers/transfer-menu.tsx';
import { TransferRow } from './transfers/transfer-row.tsx';
import { isOver, type TransferAction } from './transfers/transfer-words.ts';
import { type TransferChange, useTransferChange } from './transfers/use-change.ts';
import { useRowFocus } from './transfers/use-row-focus.ts';

const WIDTHS: readonly ColumnSpec[] = [
  { id: 'size', label: 'Moved', widthPx: 152, cells: 'transfer-moved' },
  { id: 'time', label: 'Time', widthPx: 168, cells: 'transfer-time' },
];

export function TransfersScreen() {
  const transfers = useTransfers();
  const queueError = useQueueError();
  const ask = useTransferChange();
  const [fault, setFault] = useState<Failed>();
  const [isCancelling, setCancelling] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const { box, onFocus } = useRowFocus();
  const columns = useColumns('transfers', WIDTHS);

  const change = async (...changes: readonly TransferChange[]): Promise<void> => {
    try {
      setFault(undefined);
      for (const one of changes) await ask(one);
    } catch (error) {
      setFault(toFailed(error));
    }
  };

  if (queueError) {
    const { code, message } = queueError;
    return (
      <Screen title="Transfers" isFull>
        <ErrorState
          title="Cannot open the queue"
          error={{ code, message: `${message} Dray tries again every few seconds.` }}
        />
      </Screen>
    );
  }
  if (!transfers) {
    return (
      <Screen title="Transfers">
        <Loading label="Loading the queue" />
      </Screen>
    );
  }
  if (transfers.length === 0) {
    return (
      <Screen title="Transfers" isFull>
        <NothingYet />
      </Screen>
    );
  }
  const queue = transfers.filter((transfer) => !isOver(transfer));
  const ended = transfers.filter(isOver).reverse();
  const onAction = (transfer: Transfer, action: TransferAction): void =>
    void change({ ids: [transfer.id], action });
  const shared: ListProps = {
    onAction,
    change,
    head: (
      <ColumnHead columns={columns} className="transfer-head">
        <span className="grow">Transfer</span>
      </ColumnHead>
    ),
    rowOf: (transfer, isMovable) => (
      <TransferRow
        transfer={transfer}
        onAction={onAction}
        isMovable={isMovable}
        isOpen={open.has(transfer.id)}
        onOpen={(isOpen) => setOpen(withId(open, transfer.id, isOpen))}
      />
    ),
  };

  return (
    <Screen
      title="Transfers"
      note={queue.length === 0 ? '' : `${formatCount(queue.length)} in the queue`}
      actions={<QueueActions queue={queue} change={change} onCancel={() => setCancelling(true)} />}
    >
      <div className="transfers" ref={box} onFocusCapture={onFocus} {...columns.props}>
        {fault && <ErrorNotice error={fault} />}
        <ThroughputCard transfers={queue} />
        <TransferMenu transfers={transfers} onAction={onAction}>
          {queue.length > 0 && <Queue queue={queue} {...shared} />}
          {ended.length > 0 && <Ended ended={ended} {...shared} />}
        </TransferMenu>
      </div>
      <ConfirmDialog
        title="Cancel all transfers?"
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        action={`Cancel ${formatPlural(queue.length, 'transfer')}`}
        isDanger
        onConfirm={() => void change({ ids: queue.map(({ id }) => id), action: 'cancel' })}
      >
        Files that have arrived stay; partial files are removed. To continue later, pause the transfers
        instead.
      </ConfirmDialog>
    </Screen>
  );
}

function QueueActions({
  change,
  onCancel,
  queue,
}: Pick<ListProps, 'change'> & { readonly queue: readonly Transfer[]; readonly onCancel: () => void }) {
  const isRunning = queue.some(({ state }) => state === 'running' || state === 'waiting');
  return (
    <div className="row">
      <Button
        icon="pause"
        isDisabled={!isRunning}
        onPress={() => void change({ ids: 'all', action: 'pause' })}
      >
        Pause all
      </Button>
      <Button
        icon="play"
        isDisabled={!queue.some(({ state }) => state === 'paused')}
        onPress={() => void change({ ids: 'all', action: 'resume' })}
      >
        Resume all
      </Button>
      <Button icon="close" isDisabled={queue.length === 0} onPress={onCancel}>
        Cancel all
      </Button>
    </div>
  );
}

function withId(ids: ReadonlySet<string>, id: string, isIn: boolean): ReadonlySet<string> {
  const others = [...ids].filter((one) => one !== id);
  return new Set(isIn ? [...others, id] : others);
}

interface ListProps {
  /** Above both lists, with the same columns. */
  readonly head: ReactNode;
  /** In one place for both lists, so that details stay open when a transfer ends. */
  readonly rowOf: (transfer: Transfer, isMovable: boolean) => ReactNode;
  readonly onAction: (transfer: Transfer, action: TransferAction) => void;
  readonly change: (...changes: readonly TransferChange[]) => Promise<void>;
}

/** Reordered by pointer, by the grip's keys (Enter, arrows, Enter), or by Alt and an arrow. */
function Queue({ queue, change, head, rowOf }: ListProps & { readonly queue: readonly Transfer[] }) {
  const ids = queue.map(({ id }) => id);
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys, target }) => {
      const [id] = keys;
      if (id === undefined) return;
      void change(...stepsTo(ids, { id: String(id), target: String(target.key), side: target.dropPosition }));
    },
  });
  const moveByKey = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    const id = (event.target as Element).closest('[data-key]')?.getAttribute('data-key');
    if (!id) return;
    event.preventDefault();
    event.stopPropagation();
    void change({ ids: [id], action: event.key === 'ArrowUp' ? 'up' : 'down' });
  };
  return (
    <Card
      title="Queue"
      isFlush
      actions={
        queue.length > 1 && (
          <span className="small faint">Drag a row, or press Alt and an arrow, to change the order</span>
        )
      }
    >
      {head}
      <div onKeyDownCapture={moveByKey}>
        <GridList
          className="transfer-list"
          aria-label="Queue"
          items={queue}
          dependencies={[queue, rowOf]}
          dragAndDropHooks={dragAndDropHooks}
          keyboardNavigationBehavior="tab"
        >
          {(transfer) => (
            <GridListItem className="transfer-item" textValue={transfer.title}>
              {rowOf(transfer, true)}
            </GridListItem>
          )}
        </GridList>
      </div>
    </Card>
  );
}

function Ended({ ended, change, head, rowOf }: ListProps & { readonly ended: readonly Transfer[] }) {
  const failed = ended.filter(({ state }) => state === 'failed');
  return (
    <Card
      title="Ended"
      isFlush
      actions={
        <div className="row">
          {failed.length > 1 && (
            <Button
              size="small"
              icon="refresh"
              onPress={() => void change({ ids: failed.map(({ id }) => id), action: 'retry' })}
            >
              Retry all failed
            </Button>
          )}
          <Button
            size="small"
            look="quiet"
            onPress={() => void change({ ids: ended.map(({ id }) => id), action: 'remove' })}
          >
            Clear the list
          </Button>
        </div>
      }
    >
      {head}
      <ul className="transfer-list" aria-label="Ended transfers">
        {ended.map((transfer) => (
          <li key={transfer.id} className="transfer-item">
            {rowOf(transfer, false)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function NothingYet() {
  return (
    <EmptyState
      icon="transfers"
      title="Nothing moves"
      actions={
        <>
          <LinkButton href="#/changes">Open Changes</LinkButton>
          <LinkButton href="#/browse">Open Browse</LinkButton>
        </>
      }
    >
      Pushes, pulls and copies appear here while they run and afterwards. They resume when Dray restarts.
    </EmptyState>
  );
}
