/** Credentials: names, never values. Keys are added with their remotes, tokens with their machines. */
import './credentials-setting.css';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { LeavingButton } from '../../design/controls/leaving-button.tsx';
import { ConfirmDialog } from '../../design/overlays/dialog.tsx';
import { Loading, Notice } from '../../design/states.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { hostOf, isEncrypted } from '../../failures/peer-need.ts';
import { useKeyKeeper } from '../../host/key-keeper.ts';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { showFailure } from '../../shell/toasts/toasts.tsx';

interface Kept {
  readonly id: string;
  readonly words: string;
  readonly remove: () => Promise<unknown>;
}

export function CredentialsSetting() {
  const { keep, keptBy, state: kept } = useKeyKeeper();
  const peers = useAsk('peers.list', {}, { onReturn: true });
  const logout = useDo('peers.logout', { refreshes: ['peers.list'] });
  const opened = useAsk('passwords.list', {}, { onReturn: true }).data?.repositories ?? [];
  const client = useQueryClient();
  // What was read of the repository leaves the page too.
  const lock = useDo('passwords.lock', { onSuccess: () => void client.resetQueries() });
  const [removing, setRemoving] = useState<Kept>();
  if (peers.isPending || !kept) return <Loading label="Loading saved credentials" />;
  const ofKeys = (kept?.profiles ?? []).map((profile) => ({
    id: `keys ${profile}`,
    words: `Keys of ${profile}${keptBy === 'engine' ? ", until Dray's engine ends" : ''}`,
    remove: () => keep(profile),
  }));
  const tokens = (peers.data?.peers ?? []).filter(({ token }) => token === 'kept');
  const ofPeers = tokens.map(({ address: peer }) => ({
    id: peer,
    words: `Token of ${hostOf(peer)}${isEncrypted(peer) ? '' : ', sent unencrypted'}`,
    remove: () => logout.mutateAsync({ peer }),
  }));
  const ofRepositories = opened.map(({ address, check, id }) => ({
    id: check,
    words: `Key of ${address}, until Dray's engine ends`,
    remove: () => lock.mutateAsync({ id, check }),
  }));
  const all: readonly Kept[] = [...ofKeys, ...ofPeers, ...ofRepositories];
  return (
    <div className="stack">
      {kept?.warning !== undefined && <Notice tone="warning">{kept.warning}</Notice>}
      {peers.error && <ErrorNotice error={peers.error} />}
      {all.length === 0 && !peers.error && <p className="soft">This computer has none.</p>}
      {all.length > 0 && (
        <ul className="credentials">
          {all.map((one) => (
            <li key={one.id} className="credential">
              <span className="grow cut">{one.words}</span>
              <LeavingButton
                size="small"
                leadsTo=".credential button"
                aria-label={`Remove: ${one.words}`}
                onPress={() => setRemoving(one)}
              >
                Remove
              </LeavingButton>
            </li>
          ))}
        </ul>
      )}
      <ConfirmDialog
        title={`Remove: ${removing?.words ?? ''}?`}
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        action="Remove"
        isDanger
        onConfirm={() =>
          removing?.remove().catch((error: unknown) => showFailure('Nothing was removed', error))
        }
      >
        Remotes that need it cannot be reached from here until you enter it again.
      </ConfirmDialog>
    </div>
  );
}
