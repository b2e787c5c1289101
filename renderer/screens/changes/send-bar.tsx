/** The bar that starts the transfer: the totals, what the user must see before, and the button. */
import './send-bar.css';
import { type ReactNode, useState } from 'react';
import { type Choices, skippedTotals } from '../../../engine/api/host/change-choices.ts';
import type { ChangeList, Winner } from '../../../engine/api/host/changes.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button, LinkButton } from '../../design/controls/button.tsx';
import { Checkbox, Field, Select } from '../../design/controls/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { useTransfers } from '../../host/use-host.tsx';
import { hrefOf } from '../../route.ts';
import { SIDE_WORDS } from './side-words.ts';
import { useNewestTransfer } from './transfer-notice.tsx';

export interface SendBarProps {
  readonly root: string;
  readonly list: ChangeList;
  readonly choices: Choices;
  readonly message: string;
  readonly onMessage: (message: string) => void;
  /** Deletions: whether they were shown, and whether the user confirmed that. */
  readonly hasSeenDeleted: boolean;
  readonly isAcknowledged: boolean;
  readonly onShowDeleted: () => void;
  readonly onAcknowledge: (isAcknowledged: boolean) => void;
  readonly onDecideAll: (winner: Winner) => void;
  readonly onShowConflicts: () => void;
  readonly isSending: boolean;
  /** The transfer that was started last. */
  readonly sent: string | undefined;
  readonly onSend: () => void;
}

export function SendBar(props: SendBarProps) {
  const { root, list, choices, message, onMessage, onSend } = props;
  const newest = useNewestTransfer(root);
  const isQueued = useIsQueued(props.sent);
  const isSending =
    props.isSending || !isQueued || newest?.state === 'running' || newest?.state === 'waiting';
  const isPush = list.direction === 'push';
  const left = skippedTotals(choices);
  const rows = rowsOf(list) - left.rows;
  const deleted = Math.max(0, list.totals.deleted - left.deleted);
  const undecided =
    list.conflicts > 0 && choices.forAll === undefined ? list.conflicts - choices.decided.size : 0;
  const isBlocked = rows <= 0 || undecided > 0 || (deleted > 0 && !props.isAcknowledged);
  return (
    <section className="send-bar" aria-label={isPush ? 'Push' : 'Pull'}>
      {list.failed > 0 && <Unread {...props} />}
      {list.conflicts > 0 && <Conflicts {...props} undecided={undecided} />}
      {deleted > 0 && <Deletions {...props} deleted={deleted} />}
      <div className="send-line">
        <p className="send-totals">
          <strong>{formatPlural(Math.max(0, rows), 'change')}</strong>
          <span className="soft">
            {isPush ? ' to push' : ' to pull'}, {formatBytes(Math.max(0, list.totals.bytes - left.bytes))}
            {left.rows > 0 && `; ${formatCount(left.rows)} excluded`}
          </span>
        </p>
        {isPush && (
          <div className="grow">
            <Field
              label="Message"
              isLabelUnseen
              placeholder="Commit message"
              value={message}
              onChange={onMessage}
              maxLength={4_096}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && !isBlocked && !isSending) onSend();
              }}
            />
          </div>
        )}
        {isPush ? (
          <LinkButton href={hrefOf('plan')} icon="plan">
            Plan
          </LinkButton>
        ) : (
          <span className="grow" />
        )}
        <Button
          look="primary"
          icon={isPush ? 'upload' : 'download'}
          isDisabled={isBlocked}
          isPending={isSending}
          onPress={onSend}
        >
          {isPush ? 'Push' : 'Pull'} {formatPlural(Math.max(0, rows), 'change')}
        </Button>
      </div>
    </section>
  );
}

/** False from the answer to the start until the queue shows the transfer: Enter must not start another. */
function useIsQueued(id: string | undefined): boolean {
  const transfers = useTransfers();
  const [seen, setSeen] = useState<string>();
  if (id !== seen && transfers?.some((transfer) => transfer.id === id)) setSeen(id);
  return id === seen;
}

export function rowsOf({ totals, conflicts }: ChangeList): number {
  return totals.added + totals.modified + totals.deleted + totals.renamed + totals.mode + conflicts;
}

function Deletions({
  list,
  deleted,
  hasSeenDeleted,
  isAcknowledged,
  onShowDeleted,
  onAcknowledge,
}: SendBarProps & { readonly deleted: number }) {
  const where =
    list.direction === 'push' ? 'will be removed from the branch' : 'will be removed from this folder';
  return (
    <Attention tone="deleted">
      <span className="grow">
        <strong>{formatPlural(deleted, 'file')}</strong> {where}.
        {list.direction === 'push' ? ` Earlier commits keep ${deleted === 1 ? 'it' : 'them'}.` : ''}
      </span>
      <Button size="small" onPress={onShowDeleted}>
        Show {deleted === 1 ? 'it' : 'them'}
      </Button>
      <Checkbox isSelected={isAcknowledged} isDisabled={!hasSeenDeleted} onChange={onAcknowledge}>
        I have seen the deletions
      </Checkbox>
    </Attention>
  );
}

function Unread({ list: { failed } }: SendBarProps) {
  return (
    <Attention tone="unread">
      <span>
        <strong>{formatPlural(failed, 'file')}</strong> cannot be read and {failed === 1 ? 'stays' : 'stay'}{' '}
        out of this. Mend {failed === 1 ? 'its' : 'their'} permissions, then refresh.
      </span>
    </Attention>
  );
}

function Conflicts({
  list,
  choices,
  undecided,
  onDecideAll,
  onShowConflicts,
}: SendBarProps & { readonly undecided: number }) {
  return (
    <Attention tone="conflict">
      <span className="grow">
        <strong>{formatPlural(list.conflicts, 'path')}</strong> changed here and on the remote.{' '}
        {undecided > 0 ? `${formatCount(undecided)} still to decide.` : 'All are decided.'}
      </span>
      <Button size="small" onPress={onShowConflicts}>
        Show them
      </Button>
      <Select
        label="For all conflicts"
        isLabelUnseen
        value={choices.forAll ?? 'none'}
        onChange={(winner) => {
          if (winner !== 'none') onDecideAll(winner);
        }}
        choices={[
          { id: 'none', label: 'Decide one by one' },
          ...SIDE_WORDS.map(({ id, label, note }) => ({ id, label, note })),
        ]}
      />
    </Attention>
  );
}

function Attention({
  tone,
  children,
}: {
  readonly tone: 'deleted' | 'conflict' | 'unread';
  readonly children: ReactNode;
}) {
  return (
    <div className={`attention attention-${tone}`}>
      <Icon name="warning" />
      {children}
    </div>
  );
}
