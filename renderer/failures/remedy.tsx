/**
 * The button beside an error that the user can mend here: trust a machine or a folder, enter a machine's
 * token, the keys of a store, or a password. Renders nothing if the window can do nothing.
 */
import { missingKeysOf, missingPasswordOf } from '../../engine/api/text/missing-keys.ts';
import type { Failed } from './failed.ts';
import { TrustFolderButton } from './folder-remedy.tsx';
import { foreignFolderOf } from './foreign-folder.ts';
import { KeysButton } from './keys-remedy.tsx';
import { PasswordButton } from './password-remedy.tsx';
import { peerNeedOf } from './peer-need.ts';
import { PeerButton } from './peer-remedy.tsx';
import type { RemedyProps } from './remedy-button.tsx';

export function Remedy({ error, ...rest }: Omit<RemedyProps, 'look'> & { readonly error: Failed }) {
  const props = { look: rest.size === 'small' ? 'plain' : 'primary', ...rest } as const;
  const profile = missingKeysOf(error);
  if (profile !== undefined) return <KeysButton profile={profile} {...props} />;
  const locked = missingPasswordOf(error);
  if (locked) return <PasswordButton key={locked.check} locked={locked} {...props} />;
  const folder = foreignFolderOf(error);
  if (folder) return <TrustFolderButton key={folder.path} folder={folder} {...props} />;
  const need = peerNeedOf(error);
  return need && <PeerButton key={JSON.stringify(need)} need={need} {...props} />;
}
