/** What the desktop app keeps of credentials: their names, never their values. */
import { useState } from 'react';
import { IconButton } from '../../design/button.tsx';
import { Card } from '../../design/card.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { Icon } from '../../design/icon.tsx';
import { Notice } from '../../design/states.tsx';
import { showFailure } from '../../shell/toasts.tsx';
import { useCredentials } from '../place-form/use-credentials.ts';

const TOKEN = 'token';

/** Nothing until something is kept, or cannot be. */
export function KeptSecrets() {
  const { forgetKeys, kept, saveToken } = useCredentials();
  const [removing, setRemoving] = useState<{ readonly profile?: string }>();
  if (!kept || (kept.profiles.length === 0 && !kept.hasToken && !kept.warning)) return null;
  const remove = async ({ profile }: { readonly profile?: string }): Promise<void> => {
    try {
      await (profile === undefined ? saveToken('') : forgetKeys(profile));
    } catch (error) {
      showFailure('It is still kept', error);
    }
  };
  const rows = [
    ...kept.profiles.map((profile) => ({ id: `keys ${profile}`, profile, words: `Keys of ${profile}` })),
    ...(kept.hasToken ? [{ id: TOKEN, words: 'The token for other machines' }] : []),
  ];
  return (
    <Card title="Kept on this computer" className="kept">
      {kept.warning && <Notice tone="warning">{kept.warning}</Notice>}
      <ul className="kept-list">
        {rows.map(({ id, words, ...what }) => (
          <li key={id} className="row">
            <Icon name="check" />
            <span className="grow cut">{words}</span>
            <IconButton
              icon="trash"
              size="small"
              label={`Remove: ${words}`}
              onPress={() => setRemoving(what)}
            />
          </li>
        ))}
      </ul>
      <ConfirmDialog
        title="Remove it?"
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        action="Remove"
        isDanger
        onConfirm={() => removing && void remove(removing)}
      >
        Remotes that use it cannot be reached from here until it is typed again.
      </ConfirmDialog>
    </Card>
  );
}
