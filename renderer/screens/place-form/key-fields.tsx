/** The choice of the keys that open a bucket: found automatically, from a profile, or typed. */

import type { KeySources } from '../../../engine/api/host/remotes.ts';
import { type Choice, Select } from '../../design/controls/field.tsx';
import { KeyPair, NO_KEYS } from '../../design/controls/key-pair.tsx';
import { Notice } from '../../design/states.tsx';
import { keeperWords } from '../../failures/keys-remedy.tsx';
import type { KeyKeeper } from '../../host/key-keeper.ts';
import type { PlaceFormProps } from './place-form-props.ts';
import { providerOf } from './providers.ts';

const FOUND = 'found';
const TYPED = 'typed';
const PROFILE = 'profile ';

export function KeyFields({ change, credentials: { keeper, sources }, faults, fields }: PlaceFormProps) {
  const { profile, typedKeys } = fields;
  const provider = providerOf(fields);
  const choose = (id: string): void => {
    if (id === TYPED) change({ profile: '', typedKeys: NO_KEYS });
    else change({ profile: id === FOUND ? '' : id.slice(PROFILE.length), typedKeys: undefined });
  };
  return (
    <>
      <Select
        label="Keys"
        value={typedKeys ? TYPED : profile === '' ? FOUND : `${PROFILE}${profile}`}
        onChange={choose}
        choices={choicesOf(sources, profile, keeper)}
      />
      {typedKeys && (
        <>
          <KeyPair
            keys={typedKeys}
            onChange={(next) => change({ typedKeys: next })}
            faults={faults}
            called={provider?.called}
          />
          {provider && (
            <p className="small soft">
              <strong>Where to make a key.</strong> {provider.keys}
            </p>
          )}
          {keeper.state?.warning ? (
            <Notice tone="warning">{keeper.state.warning}</Notice>
          ) : (
            <p className="small faint">{keeperWords(keeper.keptBy)}</p>
          )}
        </>
      )}
    </>
  );
}

function choicesOf(
  sources: KeySources | undefined,
  profile: string,
  { keptBy, state }: KeyKeeper,
): readonly Choice<string>[] {
  const notes: Readonly<Record<KeySources['profiles'][number]['from'], string>> = {
    aws: 'Profile of ~/.aws',
    rclone: 'In rclone.conf',
    kept: keptBy === 'engine' ? 'Typed here, until the engine ends' : 'Saved by this app',
  };
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
      note: notes[from],
    })),
    ...(isKnown ? [] : [{ id: `${PROFILE}${profile}`, label: profile, note: 'Not found on this computer' }]),
    ...(state?.isAvailable
      ? [
          {
            id: TYPED,
            label: 'An access key',
            note:
              keptBy === 'engine'
                ? 'Typed here, held until the engine ends'
                : 'Typed here, saved by this app',
          },
        ]
      : []),
  ];
}
