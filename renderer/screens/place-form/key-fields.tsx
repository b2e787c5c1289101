/** Whose keys open a bucket: found automatically, from a profile, or typed if the app can store them. */

import type { KeySources } from '../../../engine/api/host/remotes.ts';
import { type Choice, Field, Select } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import type { PlaceFields } from './place-fields.ts';
import type { PlaceFormProps } from './place-form-props.ts';

const FOUND = 'found';
const TYPED = 'typed';
const PROFILE = 'profile ';

const NOTES: Readonly<Record<KeySources['profiles'][number]['from'], string>> = {
  aws: 'Profile of ~/.aws',
  rclone: 'In rclone.conf',
  kept: 'Saved by this app',
};

export function KeyFields({ change, credentials: { kept, sources }, faults, fields }: PlaceFormProps) {
  const { profile, typedKeys } = fields;
  const choose = (id: string): void => {
    if (id === TYPED) change({ profile: '', typedKeys: { accessKeyId: '', secretAccessKey: '' } });
    else change({ profile: id === FOUND ? '' : id.slice(PROFILE.length), typedKeys: undefined });
  };
  const typed = (next: Partial<NonNullable<PlaceFields['typedKeys']>>): void => {
    if (typedKeys) change({ typedKeys: { ...typedKeys, ...next } });
  };
  return (
    <>
      <Select
        label="Keys"
        value={typedKeys ? TYPED : profile === '' ? FOUND : `${PROFILE}${profile}`}
        onChange={choose}
        choices={choicesOf(sources, profile, kept?.isAvailable ?? false)}
        help={
          kept ? undefined : (
            <>
              A browser cannot store keys. To use others, put them into{' '}
              <span className="code">~/.aws/credentials</span> on the computer where Dray runs. They appear
              here at once.
            </>
          )
        }
      />
      {typedKeys && (
        <>
          <div className="field-pair">
            <Field
              label="Access key"
              isCode
              autoComplete="off"
              spellCheck="false"
              value={typedKeys.accessKeyId}
              onChange={(accessKeyId) => typed({ accessKeyId: accessKeyId.trim() })}
              error={faults.accessKeyId}
            />
            <Field
              label="Secret key"
              isCode
              type="password"
              autoComplete="off"
              value={typedKeys.secretAccessKey}
              onChange={(secretAccessKey) => typed({ secretAccessKey: secretAccessKey.trim() })}
              error={faults.secretAccessKey}
            />
          </div>
          {kept?.warning ? (
            <Notice tone="warning">{kept.warning}</Notice>
          ) : (
            <p className="small faint">
              Saved on this computer, encrypted by your system. No file of Dray shows them in plain text.
            </p>
          )}
        </>
      )}
    </>
  );
}

function choicesOf(
  sources: KeySources | undefined,
  profile: string,
  canBeTyped: boolean,
): readonly Choice<string>[] {
  const profiles = sources?.profiles ?? [];
  const isKnown = profile === '' || profiles.some(({ name }) => name === profile);
  return [
    {
      id: FOUND,
      label: 'Found automatically',
      note: sources?.hasEnvironmentKeys
        ? 'AWS_ACCESS_KEY_ID of the environment that Dray was started in'
        : 'The default profile of ~/.aws, single sign-on, or the role of this machine',
    },
    ...profiles.map(({ from, name }) => ({
      id: `${PROFILE}${name}`,
      label: name.replace(/^rclone:/, ''),
      note: NOTES[from],
    })),
    ...(isKnown ? [] : [{ id: `${PROFILE}${profile}`, label: profile, note: 'Not found on this computer' }]),
    ...(canBeTyped ? [{ id: TYPED, label: 'An access key', note: 'Typed here, saved by this app' }] : []),
  ];
}
