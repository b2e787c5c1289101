/** One change of a repository's keys. Every change asks for a password, also while the repository is open. */
import { type ReactNode, useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { PasswordChange } from '../../../engine/api/host/passwords.ts';
import {
  type KeyChangeSummary,
  type KeySlotRecord,
  LABEL_CHARS_MAX,
} from '../../../engine/api/jobs/repositories.ts';
import { Field } from '../../design/controls/field.tsx';
import { FormDialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { WRONG_PASSWORD } from '../../failures/password-remedy.tsx';
import { useHost } from '../../host/use-host.tsx';
import { useIsHere } from '../../host/use-is-here.ts';
import { showToast } from '../../shell/toasts/toasts.tsx';
import { NewPassword, NO_PASSWORD, passwordOf, type TypedPassword } from './new-password.tsx';

export type ChangeTask =
  | { readonly kind: 'add' | 'addRecovery' | 'replace' }
  | { readonly kind: 'remove'; readonly key: KeySlotRecord };

export interface ChangeDialogProps {
  readonly name: string;
  readonly root: string;
  readonly task: ChangeTask;
  readonly onClose: () => void;
  readonly onDone: (summary: KeyChangeSummary) => void;
}

interface Typed {
  readonly password: string;
  readonly next: TypedPassword;
  readonly label: string;
}

export function ChangeDialog({ name, root, task, onClose, onDone }: ChangeDialogProps) {
  const [typed, setTyped] = useState<Typed>({ password: '', next: NO_PASSWORD, label: '' });
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Failed>();
  const host = useHost();
  const isHere = useIsHere();
  const set = (change: Partial<Typed>) => setTyped((before) => ({ ...before, ...change }));
  const change = changeOf(task, typed);
  const submit = async (): Promise<void> => {
    if (!change) return;
    setBusy(true);
    setProblem(undefined);
    try {
      // Sent directly, because the query client would keep the passwords in memory for minutes.
      const summary = await host.ask('passwords.change', { root, password: typed.password, change });
      showToast({ tone: 'success', title: doneWords(task, name) });
      if (isHere()) onDone(summary);
    } catch (error) {
      setProblem(toFailed(error));
      setBusy(false);
    }
  };
  const isWrong = problem instanceof DrayError && problem.code === 'wrongPassword';
  return (
    <FormDialog
      title={TITLES[task.kind]}
      onClose={onClose}
      action={ACTIONS[task.kind]}
      isDisabled={typed.password === '' || !change}
      isPending={isBusy}
      onSubmit={() => void submit()}
    >
      <Explanation task={task} />
      <Field
        label={task.kind === 'replace' ? 'Present password' : 'Your password or recovery key'}
        type="password"
        value={typed.password}
        onChange={(password) => {
          set({ password });
          setProblem(undefined);
        }}
        autoComplete="off"
        autoFocus
        error={isWrong ? WRONG_PASSWORD : undefined}
      />
      {(task.kind === 'add' || task.kind === 'replace') && (
        <NewPassword typed={typed.next} onChange={(next) => set({ next })} />
      )}
      {(task.kind === 'add' || task.kind === 'addRecovery') && (
        <Field
          label="Label (optional)"
          help="Whose key it is. Everybody who can read the store sees it."
          value={typed.label}
          onChange={(label) => set({ label })}
          maxLength={LABEL_CHARS_MAX}
        />
      )}
      {problem && !isWrong && <ErrorNotice error={problem} />}
    </FormDialog>
  );
}

/** Undefined while something is missing. */
function changeOf(task: ChangeTask, { label, next }: Typed): PasswordChange | undefined {
  const newPassword = passwordOf(next);
  switch (task.kind) {
    case 'addRecovery':
      return { kind: 'addRecovery', label: label.trim() };
    case 'remove':
      return { kind: 'remove', id: task.key.id };
    case 'add':
      return newPassword === undefined ? undefined : { kind: 'add', label: label.trim(), newPassword };
    case 'replace':
      return newPassword === undefined ? undefined : { kind: 'replace', newPassword };
  }
}

const TITLES: Readonly<Record<ChangeTask['kind'], string>> = {
  add: 'Add a password',
  addRecovery: 'New recovery key',
  replace: 'Change a password',
  remove: 'Remove a key?',
};

const ACTIONS: Readonly<Record<ChangeTask['kind'], string>> = {
  add: 'Add',
  addRecovery: 'Make it',
  replace: 'Change',
  remove: 'Remove',
};

function doneWords({ kind }: ChangeTask, name: string): string {
  const done = { add: 'Added a password of', addRecovery: 'Made a recovery key of' };
  const changed = { replace: 'Changed a password of', remove: 'Removed a key of' };
  return `${{ ...done, ...changed }[kind]} ${name}`;
}

function Explanation({ task }: { readonly task: ChangeTask }): ReactNode {
  switch (task.kind) {
    case 'add':
      return <p>The new password opens all that yours opens, and can change the keys too.</p>;
    case 'addRecovery':
      return <p>The recovery keys that are there stay. The new one is shown once.</p>;
    case 'replace':
      return (
        <p>
          The password that you give stops working. Give a recovery key instead if you have lost it: then a
          new password is added.
        </p>
      );
    case 'remove':
      return <Removal slot={task.key} />;
  }
}

function Removal({ slot: { id, kind, label } }: { readonly slot: KeySlotRecord }) {
  return (
    <>
      <p>
        The {kind === 'password' ? 'password' : 'recovery key'} <strong>{label}</strong>{' '}
        <span className="code">{id}</span> stops working. There is no undo. Confirm it with another password
        or recovery key.
      </p>
      <Notice tone="warning">
        Nothing is encrypted anew. Somebody who had it may have kept the key behind it. If that matters, make
        a new repository and push to it.
      </Notice>
    </>
  );
}
