/** The fields of a bucket: where it is, and whose keys open it. */
import { Field } from '../../design/field.tsx';
import { KeyFields } from './key-fields.tsx';
import { bindTo, type PlaceFormProps } from './place-form-props.ts';

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
