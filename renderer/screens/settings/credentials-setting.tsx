/** Credentials that the system keeps for the engine: a program that was started from a dock has not those of a shell. Desktop alone. */
import './credentials-setting.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { DesktopBridge, SecretName, SecretsState } from '../../../engine/api/desktop-bridge.ts';
import { SECRET_NAMES } from '../../../engine/api/desktop-bridge.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Field } from '../../design/field.tsx';
import { ErrorState, Loading, Notice } from '../../design/states.tsx';
import { showFailure, showToast } from '../../shell/toasts.tsx';

const KEY = ['desktop.secrets'];

const WORDS: Readonly<Record<SecretName, string>> = {
  AWS_ACCESS_KEY_ID: 'Access key of S3',
  AWS_SECRET_ACCESS_KEY: 'Secret key of S3',
  AWS_SESSION_TOKEN: 'Session token of S3',
  DRAY_TOKEN: 'Token of other machines',
};

export function CredentialsSetting({ secrets }: Pick<DesktopBridge, 'secrets'>) {
  const client = useQueryClient();
  const state = useQuery<SecretsState, Error>({ queryKey: KEY, queryFn: () => secrets.list(), retry: false });
  const [editing, setEditing] = useState<SecretName>();
  const save = async (name: SecretName, value: string): Promise<void> => {
    setEditing(undefined);
    try {
      client.setQueryData(KEY, await secrets.save(name, value));
      showToast({ tone: 'success', title: `${WORDS[name]}: ${value === '' ? 'removed' : 'saved'}` });
    } catch (error) {
      showFailure(`${WORDS[name]}: nothing was changed`, error);
    }
  };
  if (state.isPending) return <Loading label="Asking for what is saved" />;
  if (state.error)
    return (
      <ErrorState
        title="What is saved is not known"
        error={state.error}
        onRetry={() => void state.refetch()}
      />
    );
  const { isAvailable, saved, warning } = state.data;
  return (
    <div className="stack">
      {warning !== undefined && <Notice tone="warning">{warning}</Notice>}
      <ul className="credentials">
        {SECRET_NAMES.map((name) => (
          <li key={name} className="credential">
            <span className="grow">
              <span className="credential-name">{WORDS[name]}</span>
              <code className="faint">{name}</code>
            </span>
            {saved.includes(name) && <Badge tone="added">Saved</Badge>}
            {saved.includes(name) && (
              <Button size="small" aria-label={`Remove ${WORDS[name]}`} onPress={() => void save(name, '')}>
                Remove
              </Button>
            )}
            <Button
              size="small"
              aria-label={`${saved.includes(name) ? 'Change' : 'Set'} ${WORDS[name]}`}
              isDisabled={!isAvailable}
              onPress={() => setEditing(name)}
            >
              {saved.includes(name) ? 'Change' : 'Set'}
            </Button>
          </li>
        ))}
      </ul>
      {editing !== undefined && (
        <SecretDialog
          name={editing}
          onClose={() => setEditing(undefined)}
          onSave={(value) => void save(editing, value)}
        />
      )}
    </div>
  );
}

interface SecretDialogProps {
  readonly name: SecretName;
  readonly onClose: () => void;
  readonly onSave: (value: string) => void;
}

function SecretDialog({ name, onClose, onSave }: SecretDialogProps) {
  const [value, setValue] = useState('');
  const given = value.trim();
  return (
    <Dialog
      title={WORDS[name]}
      isOpen
      onClose={onClose}
      size="small"
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" isDisabled={given === ''} onPress={() => onSave(given)}>
            Save
          </Button>
        </>
      }
    >
      <Field
        label={name}
        type="password"
        value={value}
        onChange={setValue}
        onKeyDown={(event) => event.key === 'Enter' && given !== '' && onSave(given)}
        autoComplete="off"
        autoFocus
        isCode
        help="It never comes back into this window. The engine takes it at once; transfers under way go on."
      />
    </Dialog>
  );
}
