/** The fields of another machine that serves Dray. */
import { Field } from '../../design/field.tsx';
import { bindTo, type PlaceFormProps } from './place-form-props.ts';

export function PeerFields(props: PlaceFormProps) {
  const { kept, sources } = props.credentials;
  const bind = bindTo(props);
  const hasToken = kept?.hasToken || sources?.hasToken;
  return (
    <>
      <div className="field-pair">
        <Field
          label="Machine"
          isCode
          placeholder="lab-2:7443"
          help='As "dray serve" prints it there.'
          {...bind('host')}
        />
        <Field label="Folder in it (optional)" isCode {...bind('prefix')} />
      </div>
      {kept?.isAvailable ? (
        <Field
          label={hasToken ? 'Token (optional)' : 'Token'}
          isCode
          type="password"
          help={
            hasToken
              ? 'One is known already. A new one takes its place, for every machine.'
              : '"dray serve" prints it. Kept on this computer, encrypted by your system.'
          }
          {...bind('token')}
        />
      ) : (
        <p className="small faint">
          {hasToken
            ? 'The token is the one that Dray was started with.'
            : 'The other machine asks for its token: start Dray with DRAY_TOKEN_FILE or DRAY_TOKEN set to it.'}
        </p>
      )}
    </>
  );
}
