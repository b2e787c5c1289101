/** The fields of a bucket: where it is, and whose keys open it. */
import { Field } from '../../design/field.tsx';
import { KeyFields } from './key-fields.tsx';
import type { PlaceFaults, PlaceField, PlaceFields } from './place-fields.ts';
import type { Credentials } from './use-credentials.ts';

export interface PlaceFormProps {
  readonly fields: PlaceFields;
  readonly change: (next: Partial<PlaceFields>) => void;
  /** Those that are shown. */
  readonly faults: PlaceFaults;
  readonly credentials: Credentials;
}

export function BucketFields(props: PlaceFormProps) {
  const bind = bindTo(props);
  return (
    <>
      <div className="field-pair">
        <Field label="Bucket" isCode {...bind('bucket')} />
        <Field label="Folder in it (optional)" isCode {...bind('prefix')} />
      </div>
      <div className="field-pair">
        <Field
          label="Endpoint (optional)"
          isCode
          placeholder="https://s3.example.org"
          help="Only for stores that are not Amazon's own."
          {...bind('endpoint')}
        />
        <Field label="Region (optional)" isCode placeholder="eu-north-1" {...bind('region')} />
      </div>
      <KeyFields {...props} />
    </>
  );
}

/** What a field of the form is given, by its name. */
export function bindTo({ change, faults, fields }: Omit<PlaceFormProps, 'credentials'>) {
  return (name: PlaceField) => ({
    value: fields[name],
    onChange: (value: string) => change({ [name]: value }),
    error: faults[name],
    spellCheck: 'false' as const,
    autoComplete: 'off',
  });
}
