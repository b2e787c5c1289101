/** The fields of a bucket: who stores it, where it is, and whose keys open it. */
import { type Choice, Field, Select } from '../../design/controls/field.tsx';
import { NO_KEYS } from '../../design/controls/key-pair.tsx';
import { KeyFields } from './key-fields.tsx';
import { bindTo, type PlaceFormProps } from './place-form-props.ts';
import { type Jurisdiction, PROVIDERS, type Provider, type ProviderId, providerOf } from './providers.ts';

const CHOICES: readonly Choice<ProviderId>[] = [
  { id: 'any', label: 'Any S3 store' },
  ...Object.entries(PROVIDERS).map(([id, { label }]) => ({ id: id as ProviderId, label })),
];

const JURISDICTIONS: readonly Choice<Jurisdiction | 'none'>[] = [
  { id: 'none', label: 'None' },
  { id: 'eu', label: 'European Union' },
  { id: 'fedramp', label: 'FedRAMP' },
];

export function BucketFields(props: PlaceFormProps) {
  const { change, credentials, fields } = props;
  const bind = bindTo(props);
  const provider = providerOf(fields);
  const choose = (id: ProviderId): void => {
    const { keeper, sources } = credentials;
    // Keys of this computer are mostly Amazon's: those of another provider are typed.
    const isTyped =
      id !== 'any' && id !== 'aws' && fields.profile === '' && keeper.state?.isAvailable === true;
    change({
      provider: id,
      endpoint: '',
      region: '',
      pathStyle: '',
      ...(isTyped && !sources?.hasEnvironmentKeys ? { typedKeys: fields.typedKeys ?? NO_KEYS } : {}),
    });
  };
  return (
    <>
      <Select label="Provider" value={fields.provider} onChange={choose} choices={CHOICES} />
      <div className="field-pair">
        <Field label="Bucket" isCode {...bind('bucket')} />
        <Field label="Folder in it (optional)" isCode {...bind('prefix')} />
      </div>
      {provider ? <AskedFields provider={provider} {...props} /> : <FreeFields {...props} />}
      <KeyFields {...props} />
    </>
  );
}

function FreeFields(props: PlaceFormProps) {
  const bind = bindTo(props);
  return (
    <div className="field-pair">
      <Field
        label="Endpoint (optional)"
        isCode
        help="Such as https://s3.example.org. Only for stores that are not Amazon's own."
        {...bind('endpoint')}
      />
      <Field label="Region (optional)" isCode help="Such as eu-north-1." {...bind('region')} />
    </div>
  );
}

function AskedFields({ provider, ...props }: PlaceFormProps & { readonly provider: Provider }) {
  const bind = bindTo(props);
  const { change, fields } = props;
  return (
    <>
      {provider.asks.includes('endpoint') && (
        <Field
          label="Endpoint"
          isCode
          help="The address of the server, such as https://minio.example.org:9000."
          {...bind('endpoint')}
        />
      )}
      {provider.region && (
        <Field
          label="Region"
          isCode
          help={`Such as ${provider.region.example}. ${provider.region.help}`}
          {...bind('region')}
        />
      )}
      {provider.asks.includes('account') && (
        <div className="field-pair">
          <Field label="Account ID" isCode help="The overview of R2 shows it." {...bind('account')} />
          <Select
            label="Jurisdiction"
            value={fields.jurisdiction || 'none'}
            onChange={(id) => change({ jurisdiction: id === 'none' ? '' : id })}
            choices={JURISDICTIONS}
            help="Only if the bucket was made for one."
          />
        </div>
      )}
    </>
  );
}
