/** The fields of another machine that serves Dray. */
import type { KnownPeer } from '../../../engine/api/jobs/peers.ts';
import { Field } from '../../design/controls/field.tsx';
import { findFaults } from './place-fields.ts';
import { bindTo, type PlaceFormProps } from './place-form-props.ts';

export function PeerFields(props: PlaceFormProps) {
  const { credentials, fields } = props;
  const bind = bindTo(props);
  const host = findFaults(fields).host === undefined ? fields.host : undefined;
  const known = credentials.peers?.find(({ address }) => address === `dray://${host?.toLowerCase()}`)?.token;
  return (
    <>
      <div className="field-pair">
        <Field
          label="Machine"
          isCode
          help="Such as lab-2:7443. It was shown there when the machine began to serve."
          {...bind('host')}
        />
        <Field label="Folder in it (optional)" isCode {...bind('prefix')} />
      </div>
      <Field
        label={known ? 'Token (optional)' : 'Token'}
        isCode
        type="password"
        help={tokenHelp(host, known)}
        {...bind('token')}
      />
    </>
  );
}

function tokenHelp(host: string | undefined, known: KnownPeer['token']): string {
  const machine = host ?? 'this machine';
  switch (known) {
    case 'kept':
      return `This computer already has a token for ${machine}. A new one replaces it.`;
    case 'environment':
      return `Dray was started with a token for ${machine}, and sends that one.`;
    case undefined:
      return `It was shown there when the machine began to serve. Saved on this computer, and sent only to ${machine}.`;
  }
}
