/** The button beside an error about another machine. It asks whether to trust it, or for its token. */
import './failures.css';
import { useState } from 'react';
import { Field } from '../design/controls/field.tsx';
import { FormDialog } from '../design/overlays/dialog.tsx';
import { Notice } from '../design/states.tsx';
import { useDo } from '../host/use-host.tsx';
import { failureWords } from './failure-words.ts';
import { isEncrypted, type PeerNeed } from './peer-need.ts';
import { RemedyButton, type RemedyDialogProps, type RemedyProps } from './remedy-button.tsx';

export function PeerButton({ need, ...rest }: RemedyProps & { readonly need: PeerNeed }) {
  return need.needs === 'trust' ? (
    <RemedyButton
      label="Trust this machine"
      dialog={(props) => <TrustDialog {...need} {...props} />}
      {...rest}
    />
  ) : (
    <RemedyButton
      label={need.isRefused ? 'Enter another token' : 'Enter its token'}
      dialog={(props) => <TokenDialog {...need} {...props} />}
      {...rest}
    />
  );
}

type Needs<N extends PeerNeed['needs']> = Extract<PeerNeed, { readonly needs: N }>;

function TrustDialog({ host, fingerprint, onClose, onMended }: Needs<'trust'> & RemedyDialogProps) {
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

function TokenDialog({ host, peer, onClose, onMended }: Needs<'token'> & RemedyDialogProps) {
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
