/** Chooses where the versions of a folder are stored. */
import './place-picker.css';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { Field } from '../../design/controls/field.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { BucketFields } from '../place-form/bucket-fields.tsx';
import type { PlaceKind } from '../place-form/place-fields.ts';
import { bindTo, type PlaceFormProps } from '../place-form/place-form-props.ts';
import { FolderPicker } from './folder-picker.tsx';

const KINDS: readonly {
  readonly id: PlaceKind;
  readonly icon: IconName;
  readonly title: string;
  readonly note: string;
}[] = [
  {
    id: 'folder',
    icon: 'drive',
    title: 'A folder',
    note: 'Another disk or a network share. Needs no account.',
  },
  {
    id: 's3',
    icon: 'cloud',
    title: 'Object storage',
    note: 'An S3 bucket, or one of an S3-compatible store.',
  },
  {
    id: 'address',
    icon: 'link',
    title: 'An address',
    note: 'A URL, or another computer that serves a folder with Dray.',
  },
];

export interface PlacePickerProps extends PlaceFormProps {
  /** False: the versions already exist. */
  readonly isNew: boolean;
}

export function PlacePicker({ isNew, ...props }: PlacePickerProps) {
  const { change, fields } = props;
  return (
    <div className="stack">
      <RadioGroup
        aria-label="Kind of place"
        className="place-kinds"
        value={fields.kind}
        onChange={(kind) => change({ kind: kind as PlaceKind })}
      >
        {KINDS.map(({ id, icon, title, note }) => (
          <Radio key={id} value={id} className="place-kind">
            <Icon name={icon} size={20} />
            <span>
              <strong>{title}</strong>
              <span className="place-note">{note}</span>
            </span>
          </Radio>
        ))}
      </RadioGroup>
      {fields.kind === 'folder' && (
        <FolderPicker
          label={isNew ? 'Folder for the versions' : 'Folder with the versions'}
          help={isNew ? 'It is created if it does not exist.' : 'The folder that was pushed to.'}
          value={fields.folder}
          onChange={(folder) => change({ folder })}
          error={props.faults.folder}
        />
      )}
      {fields.kind === 's3' && <BucketFields {...props} />}
      {fields.kind === 'address' && (
        <Field
          label="URL"
          help="Such as dray://10.0.8.2:7443/data: a bucket, a folder or another computer, as Dray shows it elsewhere."
          isCode
          {...bindTo(props)('address')}
        />
      )}
    </div>
  );
}
