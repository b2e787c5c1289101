/**
 * The button beside an error that the user can mend here: trust a machine or a folder, enter a machine's
 * token, or enter the keys of a store. Afterwards it retries what failed.
 */
import './failures.css';
import { useRef, useState } from 'react';
import { neededKeys } from '../../engine/api/needed-keys.ts';
import { Button, type ButtonProps } from '../design/controls/button.tsx';
import { Field } from '../design/controls/field.tsx';
import { FormDialog } from '../design/overlays/dialog.tsx';
import { Notice } from '../design/states.tsx';
import { useDo } from '../host/use-host.tsx';
import { failureWords } from './failure-words.ts';
import { TrustFolderButton } from './folder-remedy.tsx';
import { foreignFolderOf } from './foreign-folder.ts';
import { KeysButton } from './keys-remedy.tsx';
import { type Failed, isEncrypted, type PeerNeed, peerNeedOf } from './peer-need.ts';
import { useFocusHome } from './use-focus-home.ts';

export interface PeerRemedyProps {
  readonly error: Failed;
  /** Retries what failed. */
  readonly onMended?: (() => void) | undefined;
  readonly size?: NonNullable<ButtonProps['size']>;
}

/** Renders nothing if the window can do nothing. */
export function PeerRemedy({ error, ...rest }: PeerRemedyProps) {
  const profile = neededKeys(error);
  const look = (rest.size ?? 'normal') === 'normal' ? 'primary' : 'plain';
  if (profile !== undefined) return <KeysButton profile={profile} look={look} {...rest} />;
  const folder = foreignFolderOf(error);
  if (folder) return <TrustFolderButton key={folder.path} folder={folder} look={look} {...rest} />;
  const need = peerNeedOf(error);
  return need && <Remedy key={JSON.stringify(need)} need={need} {...rest} />;
}

type Needs<N extends PeerNeed['needs']> = Extract<PeerNeed, { readonly needs: N }>;

function Remedy({
  need,
  onMended,
  size = 'normal',
}: Omit<PeerRemedyProps, 'error'> & { readonly need: PeerNeed }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const isUsed = useFocusHome(box);
  const dialog = {
    onClose: () => setOpen(false),
    onMended: () => {
      setOpen(false);
      onMended?.();
    },
  };
  return (
    <span ref={box}>
      <Button
        size={size}
        look={size === 'normal' ? 'primary' : 'plain'}
        onPress={() => {
          isUsed.current = true;
          setOpen(true);
        }}
      >
        {need.needs === 'trust'
          ? 'Trust this machine'
          : need.isRefused
            ? 'Enter another token'
            : 'Enter its token'}
      </Button>
      {isOpen && need.needs === 'trust' && <TrustDialog {...need} {...dialog} />}
      {isOpen && need.needs === 'token' && <TokenDialog {...need} {...dialog} />}
    </span>
  );
}

interface DialogProps {
  readonly onClose: () => void;
  readonly onMended: () => void;
}

function TrustDialog({ host, fingerprint, onClose, onMended }: Needs<'trust'> & DialogProps) {
  const trust = useDo('peers.trust', { refreshes: ['peers.list'] });
  return (
    <FormDialog
      title={`Trust ${host}?`}
      onClose={onClose}
      action="Trust this machine"
      isPending={trust.isPending}
      onSubmit={() => trust.mutate({ address: host, fingerprint }, { onSuccess: onMended })}
    >
      <p>Compare this fingerprint with the one that was shown on that machine when it began to serve:</p>
      <Fingerprint text={fingerprint} />
      <p className="soft">
        If they are the same, this computer connects to it from now on, and refuses anybody else who answers
        at <span className="code">{host}</span>. If they differ, do not trust it.
      </p>
      {trust.error && <Notice tone="danger">{failureWords(trust.error)}</Notice>}
    </FormDialog>
  );
}

function TokenDialog({ host, peer, onClose, onMended }: Needs<'token'> & DialogProps) {
  const [text, setText] = useState('');
  const token = text.trim();
  const login = useDo('peers.login', { refreshes: ['peers.list'] });
  return (
    <FormDialog
      title={`Token of ${host}`}
      size="small"
      onClose={onClose}
      action="Save"
      isDisabled={token === ''}
      isPending={login.isPending}
      onSubmit={() => login.mutate({ peer, token }, { onSuccess: onMended })}
    >
      <Field
        label="Token"
        type="password"
        value={text}
        onChange={setText}
        autoComplete="off"
        autoFocus
        isCode
        help={`It was shown there when the machine began to serve. Saved on this computer, and sent only to ${host}.`}
      />
      {!isEncrypted(peer) && (
        <Notice tone="warning">
          The connection to this machine is not encrypted: others on the network can read the token.
        </Notice>
      )}
      {login.error && <Notice tone="danger">{failureWords(login.error)}</Notice>}
    </FormDialog>
  );
}

/** Breaks after each eighth pair at most. Copying gives it without breaks. */
export function Fingerprint({ text }: { readonly text: string }) {
  return (
    <span className="code fingerprint">
      {[...text.matchAll(/.{1,24}/g)].map(({ 0: pairs, index }) => (
        <span key={index}>{pairs}</span>
      ))}
    </span>
  );
}
