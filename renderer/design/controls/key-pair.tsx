/** The fields of a store's access key. */
import { Field } from './field.tsx';

export interface TypedKeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export const NO_KEYS: TypedKeyPair = { accessKeyId: '', secretAccessKey: '' };

export interface KeyPairProps {
  readonly keys: TypedKeyPair;
  readonly onChange: (keys: TypedKeyPair) => void;
  readonly faults?: { readonly [N in keyof TypedKeyPair]?: string | undefined };
  /** The provider's own names of the fields. */
  readonly called?: { readonly accessKeyId?: string; readonly secretAccessKey?: string } | undefined;
  readonly autoFocus?: boolean;
}

export function KeyPair({ keys, onChange, faults = {}, called = {}, autoFocus = false }: KeyPairProps) {
  const bind = (name: keyof TypedKeyPair) => ({
    value: keys[name] ?? '',
    onChange: (text: string) => onChange({ ...keys, [name]: text.trim() }),
    error: faults[name],
    isCode: true,
    autoComplete: 'off',
  });
  return (
    <>
      <div className="field-pair">
        <Field
          label="Access key"
          spellCheck="false"
          autoFocus={autoFocus}
          help={called.accessKeyId && `Called “${called.accessKeyId}” there.`}
          {...bind('accessKeyId')}
        />
        <Field
          label="Secret key"
          type="password"
          help={called.secretAccessKey && `Called “${called.secretAccessKey}” there.`}
          {...bind('secretAccessKey')}
        />
      </div>
      {isTemporary(keys) && (
        <Field
          label="Session token"
          type="password"
          help="Keys that begin with ASIA are temporary, and need it."
          {...bind('sessionToken')}
        />
      )}
    </>
  );
}

/** Amazon's prefix of keys that come with a session token. */
function isTemporary({ accessKeyId }: TypedKeyPair): boolean {
  return accessKeyId.startsWith('ASIA');
}

/** Drops a session token that does not belong to the new key. */
export function keysOf({ sessionToken = '', ...keys }: TypedKeyPair): TypedKeyPair {
  return isTemporary(keys) && sessionToken !== '' ? { ...keys, sessionToken } : keys;
}

export function isWhole({ accessKeyId, secretAccessKey }: TypedKeyPair): boolean {
  return accessKeyId !== '' && secretAccessKey !== '';
}
