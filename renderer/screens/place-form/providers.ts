/**
 * Providers of object storage: what each asks for, the endpoint, region and path style that follow, and where
 * its console makes keys. Pure. The endpoints have the forms that the providers' own documents give:
 * developers.cloudflare.com/r2/api/tokens, backblaze.com (S3-Compatible API), docs.wasabi.com (service URLs),
 * cloud.google.com/storage/docs/interoperability.
 */
export type ProviderId = 'any' | 'aws' | 'r2' | 'minio' | 'b2' | 'wasabi' | 'google';

/** Where R2 keeps a bucket that was made for one jurisdiction. */
export type Jurisdiction = '' | 'eu' | 'fedramp';

/** The fields that a provider may ask for. */
export interface ProviderFields {
  readonly provider: ProviderId;
  readonly account: string;
  readonly jurisdiction: Jurisdiction;
  readonly endpoint: string;
  readonly region: string;
  readonly pathStyle: string;
}

type Asked = 'account' | 'endpoint' | 'region';
/** As the parameters of a URL; '' for none. */
export type Connection = Pick<ProviderFields, 'endpoint' | 'region' | 'pathStyle'>;

export interface Provider {
  readonly label: string;
  readonly asks: readonly Asked[];
  readonly connect: (fields: ProviderFields) => Connection;
  /** An example of its regions. */
  readonly region?: { readonly form: RegExp; readonly example: string; readonly help: string };
  /** The names of a key's two halves in its console. */
  readonly called?: { readonly accessKeyId?: string; readonly secretAccessKey?: string };
  /** Where its console makes keys. */
  readonly keys: string;
}

const COMMON_REGION = /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/;
const R2_HOST = /^https:\/\/([0-9a-f]{32})(?:\.(eu|fedramp))?\.r2\.cloudflarestorage\.com$/;
const B2_HOST = /^https:\/\/s3\.([a-z0-9-]+)\.backblazeb2\.com$/;
const WASABI_HOST = /^https:\/\/s3\.(?:([a-z0-9-]+)\.)?wasabisys\.com$/;
const GOOGLE_ENDPOINT = 'https://storage.googleapis.com';
/** Such as MinIO's own default, which accepts any. */
const USUAL_REGION = 'us-east-1';

export const PROVIDERS: Readonly<Record<Exclude<ProviderId, 'any'>, Provider>> = {
  aws: {
    label: 'Amazon S3',
    asks: ['region'],
    connect: ({ region }) => ({ endpoint: '', region, pathStyle: '' }),
    region: { form: COMMON_REGION, example: 'eu-central-1', help: "The list of buckets shows each one's." },
    keys: 'In the AWS console: IAM, Users, your user, Security credentials, Create access key.',
  },
  r2: {
    label: 'Cloudflare R2',
    asks: ['account'],
    connect: ({ account, jurisdiction }) => ({
      endpoint: `https://${[account.toLowerCase(), jurisdiction].filter(Boolean).join('.')}.r2.cloudflarestorage.com`,
      region: 'auto',
      pathStyle: 'true',
    }),
    called: { accessKeyId: 'Access Key ID', secretAccessKey: 'Secret Access Key' },
    keys: 'In the Cloudflare dashboard: R2, Overview, Manage API tokens, Create API token, with “Object Read & Write”.',
  },
  minio: {
    label: 'MinIO',
    asks: ['endpoint'],
    connect: ({ endpoint, region }) => ({ endpoint, region: region || USUAL_REGION, pathStyle: 'true' }),
    keys: 'In the MinIO console: Access Keys, Create access key. Where it has no such page, whoever runs the server makes them.',
  },
  b2: {
    label: 'Backblaze B2',
    asks: ['region'],
    connect: ({ region }) => ({
      endpoint: `https://s3.${region}.backblazeb2.com`,
      region,
      pathStyle: 'true',
    }),
    region: {
      form: /^[a-z]{2}(-[a-z]+)+-\d{3}$/,
      example: 'us-west-004',
      help: 'The second part of the endpoint that the page of your buckets shows.',
    },
    called: { accessKeyId: 'keyID', secretAccessKey: 'applicationKey' },
    keys: 'At Backblaze: Application Keys, Add a New Application Key. The master key does not work here.',
  },
  wasabi: {
    label: 'Wasabi',
    asks: ['region'],
    connect: ({ region }) => ({ endpoint: `https://s3.${region}.wasabisys.com`, region, pathStyle: 'true' }),
    region: { form: COMMON_REGION, example: 'eu-central-1', help: "The list of buckets shows each one's." },
    keys: 'In the Wasabi console: Access Keys, Create Access Key.',
  },
  google: {
    label: 'Google Cloud Storage',
    asks: [],
    connect: () => ({ endpoint: GOOGLE_ENDPOINT, region: 'auto', pathStyle: 'true' }),
    called: { accessKeyId: 'Access key', secretAccessKey: 'Secret' },
    keys: 'In the Google Cloud console: Cloud Storage, Settings, Interoperability, Create a key for a service account.',
  },
};

export function providerOf({ provider }: Pick<ProviderFields, 'provider'>): Provider | undefined {
  return provider === 'any' ? undefined : PROVIDERS[provider];
}

export function connectionOf(fields: ProviderFields): Connection {
  const { endpoint, pathStyle, region } = fields;
  return providerOf(fields)?.connect(fields) ?? { endpoint, pathStyle, region };
}

/** The provider and its fields that stand for a connection. `any` where none does. */
export function recognise(connection: Connection): ProviderFields {
  const fields = { ...connection, provider: 'any', account: '', jurisdiction: '' } as const;
  const [, account, jurisdiction = ''] = R2_HOST.exec(connection.endpoint) ?? [];
  const candidates: readonly ProviderFields[] = [
    { ...fields, provider: 'aws' },
    { ...fields, provider: 'r2', account: account ?? '', jurisdiction: jurisdiction as Jurisdiction },
    { ...fields, provider: 'b2', region: B2_HOST.exec(connection.endpoint)?.[1] ?? '' },
    { ...fields, provider: 'wasabi', region: WASABI_HOST.exec(connection.endpoint)?.[1] ?? USUAL_REGION },
    { ...fields, provider: 'google' },
  ];
  // A provider counts only if its fields give exactly this connection: the form must keep settings that it
  // does not show.
  return candidates.find((one) => isSame(connectionOf(one), connection) && one.region !== '') ?? fields;
}

function isSame(own: Connection, given: Connection): boolean {
  const path = given.endpoint === '' ? given.pathStyle : given.pathStyle || 'true';
  return own.endpoint === given.endpoint && own.region === given.region && own.pathStyle === path;
}

/** Names the fields that are missing or wrong. */
export function findProviderFaults(fields: ProviderFields): Partial<Record<Asked, string>> {
  const provider = providerOf(fields);
  const faults: Partial<Record<Asked, string>> = {};
  if (provider?.asks.includes('account') && !/^[0-9a-f]{32}$/i.test(fields.account))
    faults.account = '32 digits and letters from a to f, from the overview of R2.';
  if (provider?.region && !provider.region.form.test(fields.region))
    faults.region = `Such as ${provider.region.example}.`;
  if (provider?.asks.includes('endpoint') && fields.endpoint === '')
    faults.endpoint = 'The address of the server, such as https://minio.example.org:9000.';
  return faults;
}
