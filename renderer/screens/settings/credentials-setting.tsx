/** What the desktop app keeps of credentials: names, never values. Keys come with their remotes; the token of other machines is set here too. */
import './credentials-setting.css';
import { useState } from 'react';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog, FormDialog } from '../../design/dialog.tsx';
import { Field } from '../../design/field.tsx';
import { Loading, Notice } from '../../design/states.tsx';
import { showFailure } from '../../shell/toasts.tsx';
import { useCredentials } from '../place-form/use-credentials.ts';

export function CredentialsSetting() {
  const { forgetKeys, kept, saveToken } = useCredentials();
  const [removing, setRemoving] = useState<{
    readonly words: string;
    readonly remove: () => Promise<void>;
  }>();
  const [isTyping, setTyping] = useState(false);
  if (!kept) return <Loading label="Asking for what is kept" />;
  const attempt = (work: Promise<void>): void => {
    work.catch((error: unknown) => showFailure('Nothing was changed', error));
  };
  return (
    <div className="stack">
      {kept.warning !== undefined && <Notice tone="warning">{kept.warning}</Notice>}
      <ul className="credentials">
        {kept.profiles.map((profile) => (
          <Credential
            key={profile}
            words={`Keys of ${profile}`}
            onRemove={() =>
              setRemoving({ words: `the keys of ${profile}`, remove: () => forgetKeys(profile) })
            }
          />
        ))}
        <Credential
          words="Token of other machines"
          isAbsent={!kept.hasToken}
          {...(kept.isAvailable ? { onSet: () => setTyping(true) } : {})}
          onRemove={() => setRemoving({ words: 'the token', remove: () => saveToken('') })}
        />
      </ul>
      {isTyping && (
        <TokenDialog onClose={() => setTyping(false)} onSave={(token) => attempt(saveToken(token))} />
      )}
      <ConfirmDialog
        title={`Remove ${removing?.words ?? ''}?`}
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        action="Remove"
        isDanger
        onConfirm={() => removing && attempt(removing.remove())}
      >
        Remotes that need it cannot be reached from here until it is typed again.
      </ConfirmDialog>
    </div>
  );
}

interface CredentialProps {
  readonly words: string;
  readonly isAbsent?: boolean;
  readonly onSet?: () => void;
  readonly onRemove: () => void;
}

function Credential({ words, isAbsent = false, onSet, onRemove }: CredentialProps) {
  return (
    <li className="credential">
      <span className="grow cut">
        {words}
        {isAbsent && <span className="faint">, not set</span>}
      </span>
      {!isAbsent && (
        <Button size="small" aria-label={`Remove: ${words}`} onPress={onRemove}>
          Remove
        </Button>
      )}
      {onSet && (
        <Button size="small" aria-label={`${isAbsent ? 'Set' : 'Change'}: ${words}`} onPress={onSet}>
          {isAbsent ? 'Set' : 'Change'}
        </Button>
      )}
    </li>
  );
}

interface TokenDialogProps {
  readonly onClose: () => void;
  readonly onSave: (token: string) => void;
}

function TokenDialog({ onClose, onSave }: TokenDialogProps) {
  const [text, setText] = useState('');
  const token = text.trim();
  const save = (): void => {
    onSave(token);
    onClose();
  };
  return (
    <FormDialog
      title="Token of other machines"
      onClose={onClose}
      size="small"
      action="Save"
      onSubmit={save}
      isDisabled={token === ''}
    >
      <Field
        label="Token"
        type="password"
        value={text}
        onChange={setText}
        autoComplete="off"
        autoFocus
        isCode
        help='As "dray serve" printed it. It never comes back into this window.'
      />
    </FormDialog>
  );
}
