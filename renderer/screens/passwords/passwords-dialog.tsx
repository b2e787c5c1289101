/** The passwords and recovery keys of an encrypted repository, as `dray key` lists and changes them. */
import './passwords.css';
import { useState } from 'react';
import type { KeySlotRecord } from '../../../engine/api/jobs/repositories.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/controls/button.tsx';
import { formatMoment } from '../../design/format.ts';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { ChangeDialog, type ChangeTask } from './change-dialog.tsx';
import { RecoveryKeyDialog } from './recovery-key-dialog.tsx';

const DAMAGED_SHOWN_MAX = 5;

export interface PasswordsDialogProps {
  readonly name: string;
  readonly root: string;
  readonly onClose: () => void;
}

export function PasswordsDialog({ name, root, onClose }: PasswordsDialogProps) {
  // Asked anew at each opening: another machine may have changed them.
  const keys = useAsk('passwords.keys', { root }, { heldMs: 0 });
  const [task, setTask] = useState<ChangeTask>();
  const [recoveryKey, setRecoveryKey] = useState<string>();
  if (recoveryKey !== undefined)
    return (
      <RecoveryKeyDialog name={name} recoveryKey={recoveryKey} onClose={() => setRecoveryKey(undefined)} />
    );
  if (task)
    return (
      <ChangeDialog
        name={name}
        root={root}
        task={task}
        onClose={() => setTask(undefined)}
        onDone={(made) => {
          setTask(undefined);
          setRecoveryKey(made.recoveryKey);
          void keys.refetch();
        }}
      />
    );
  const found = keys.data;
  return (
    <Dialog
      title={`Passwords of ${name}`}
      isOpen
      size="large"
      onClose={onClose}
      actions={<Button onPress={onClose}>Close</Button>}
    >
      <div className="stack">
        <p className="soft">
          Each of these opens the same content. Everybody who can read the store sees their labels. A stranger
          who can write to it can add a line here, but not one that opens anything.
        </p>
        {found && <Damaged messages={found.damaged} />}
        {found ? (
          <KeyList keys={found.keys} onRemove={(key) => setTask({ kind: 'remove', key })} />
        ) : (
          <AnswerState of={keys} label="Reading the keys" title="Cannot read the keys" />
        )}
        <div className="row password-actions">
          <Button onPress={() => setTask({ kind: 'replace' })}>Change a password...</Button>
          <Button onPress={() => setTask({ kind: 'add' })}>Add a password...</Button>
          <Button onPress={() => setTask({ kind: 'addRecovery' })}>New recovery key...</Button>
        </div>
        <p className="small faint">{JOBS_AND_PASSWORDS}</p>
      </div>
    </Dialog>
  );
}

/** Saved jobs run in processes of their own. */
export const JOBS_AND_PASSWORDS =
  'Jobs run without a person, and what is typed here does not reach them. They take the password from DRAY_PASSWORD_FILE or DRAY_PASSWORD_COMMAND of the environment that Dray was started in, and otherwise stop and say so.';

/** Anybody who can write to the store can add hundreds of them. */
function Damaged({ messages }: { readonly messages: readonly string[] }) {
  const more = messages.length - DAMAGED_SHOWN_MAX;
  return (
    <>
      {messages.slice(0, DAMAGED_SHOWN_MAX).map((message) => (
        <Notice key={message} tone="warning">
          {message}
        </Notice>
      ))}
      {more > 0 && <Notice tone="warning">{formatPlural(more, 'more key')} cannot be used.</Notice>}
    </>
  );
}

interface KeyListProps {
  readonly keys: readonly KeySlotRecord[];
  readonly onRemove: (key: KeySlotRecord) => void;
}

function KeyList({ keys, onRemove }: KeyListProps) {
  return (
    <ul className="password-keys" aria-label="Keys">
      {keys.map((key) => (
        <li key={key.id}>
          <Badge tone={key.kind === 'password' ? 'accent' : 'neutral'}>
            {key.kind === 'password' ? 'Password' : 'Recovery key'}
          </Badge>
          <span className="grow cut" title={key.label}>
            {key.label}
          </span>
          <time className="small faint" dateTime={key.created}>
            {formatMoment(key.created)}
          </time>
          <span className="code small faint">{key.id}</span>
          <Button
            size="small"
            isDisabled={keys.length === 1}
            aria-label={`Remove ${keyWords(key)}`}
            onPress={() => onRemove(key)}
          >
            Remove...
          </Button>
        </li>
      ))}
    </ul>
  );
}

function keyWords({ id, kind, label }: KeySlotRecord): string {
  return `the ${kind === 'password' ? 'password' : 'recovery key'} ${label === '' ? id : `${label} (${id})`}`;
}
