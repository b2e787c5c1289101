import './place-picker.css';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { Field } from '../../design/field.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { FolderPicker } from './folder-picker.tsx';
import type { PlaceForm, PlaceKind } from './place.ts';

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
    note: 'Another disk or a network share. Needs nothing else.',
  },
  {
    id: 's3',
    icon: 'cloud',
    title: 'Object storage',
    note: 'A bucket of S3, or of anything that speaks it.',
  },
  { id: 'other', icon: 'link', title: 'An address', note: 'A URL, or another computer that serves Dray.' },
];

/** Where the versions are kept. */
export function PlacePicker({
  place,
  onChange,
}: {
  readonly place: PlaceForm;
  readonly onChange: (place: PlaceForm) => void;
}) {
  const set = (change: Partial<PlaceForm>) => onChange({ ...place, ...change });
  return (
    <div className="stack">
      <RadioGroup
        aria-label="Kind of place"
        className="place-kinds"
        value={place.kind}
        onChange={(kind) => set({ kind: kind as PlaceKind })}
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
      {place.kind === 'folder' && (
        <FolderPicker
          label="Folder for the versions"
          help="It may be new: it is made when it is not there."
          value={place.folder}
          onChange={(folder) => set({ folder })}
        />
      )}
      {place.kind === 's3' && (
        <>
          <div className="place-fields">
            <Field
              label="Bucket"
              value={place.bucket}
              onChange={(bucket) => set({ bucket })}
              isCode
              isRequired
            />
            <Field
              label="Folder in the bucket"
              value={place.prefix}
              onChange={(prefix) => set({ prefix })}
              placeholder="None"
              isCode
            />
          </div>
          <Field
            label="Endpoint"
            value={place.endpoint}
            onChange={(endpoint) => set({ endpoint })}
            placeholder="https://s3.example.org"
            help="Only for storage other than Amazon's. Credentials come from the environment or the AWS profile."
            isCode
          />
        </>
      )}
      {place.kind === 'other' && (
        <Field
          label="URL"
          value={place.url}
          onChange={(url) => set({ url })}
          placeholder="dray://10.0.8.2:7443/data"
          isCode
          isRequired
        />
      )}
    </div>
  );
}
