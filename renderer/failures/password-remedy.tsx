/**
 * The button beside an error about the password of an encrypted repository. What is typed stays in the form:
 * it goes to the engine as one message, and no cache of requests has it.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { LockedRepository } from '../../engine/api/jobs/repositories.ts';
import { missingPasswordOf } from '../../engine/api/text/missing-keys.ts';
import { Field } from '../design/controls/field.tsx';
import { FormDialog } from '../design/overlays/dialog.tsx';
import { Notice } from '../design/states.tsx';
import { useHost } from '../host/use-host.tsx';
import { useIsHere } from '../host/use-is-here.ts';
import { type Failed, toFailed } from './failed.ts';
import { failureWords } from './failure-words.ts';
import { RemedyButton, type RemedyDialogProps, type RemedyProps } from './remedy-button.tsx';

export function PasswordButton({ locked, ...rest }: RemedyProps & { readonly locked: LockedRepository }) {
  return (
    <RemedyButton
      label="Enter the password"
      dialog={(props) => <PasswordDialog locked={locked} {...props} />}
      {...rest}
    />
  );
}

export const WRONG_PASSWORD = 'This password opens no key of the repository.';

function PasswordDialog({
  locked: { address, check, id },
  onClose,
  onMended,
}: RemedyDialogProps & { readonly locked: LockedRepository }) {
  const [password, setPassword] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Failed>();
  const host = useHost();
  const isHere = useIsHere();
  const retry = useRetryOfLocked();
  const submit = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await host.ask('passwords.unlock', { id, check, password });
      retry();
      if (isHere()) onMended();
    } catch (error) {
      setProblem(toFailed(error));
      setBusy(false);
    }
  };
  const isWrong = problem?.code === 'wrongPassword';
  return (
    <FormDialog
      title="Password of the repository"
      onClose={onClose}
      action="Unlock"
      isDisabled={password === ''}
      isPending={isBusy}
      onSubmit={() => void submit()}
    >
      <p>
        The repository at <span className="code">{address}</span> is encrypted.
      </p>
      <Field
        label="Password or recovery key"
        type="password"
        value={password}
        onChange={(text) => {
          setPassword(text);
          setProblem(undefined);
        }}
        autoComplete="off"
        autoFocus
        error={isWrong ? WRONG_PASSWORD : undefined}
        help="Dray tries it on this computer and sends it nowhere. Until Dray’s engine ends, its memory holds the key that the password opens. No file has either."
      />
      {problem && !isWrong && <Notice tone="danger">{failureWords(problem)}</Notice>}
    </FormDialog>
  );
}

/** Asks again for all that a missing password may have kept away. */
function useRetryOfLocked(): () => void {
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({
      predicate: ({ queryKey: [name], state: { error } }) =>
        name === 'home.look' ||
        name === 'passwords.list' ||
        (error !== null && missingPasswordOf(error as Failed) !== undefined),
    });
  };
}
