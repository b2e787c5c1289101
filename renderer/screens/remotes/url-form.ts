/** The fields of the form for a new remote, and the URL that they make. The engine judges the URL; here is said what a form can know. */

export type RemoteKind = 's3' | 'folder' | 'peer';

export interface RemoteFields {
  readonly kind: RemoteKind;
  readonly name: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string;
  readonly region: string;
  readonly profile: string;
  readonly pathStyle: boolean;
  readonly folder: string;
  /** `HOST:PORT` of `dray serve`. */
  readonly host: string;
}

export const EMPTY_FIELDS: RemoteFields = {
  kind: 's3',
  name: '',
  bucket: '',
  prefix: '',
  endpoint: '',
  region: '',
  profile: '',
  pathStyle: false,
  folder: '',
  host: '',
};

export type FieldFaults = Partial<Record<keyof RemoteFields, string>>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/;

/** Empty when the fields make a URL. */
export function findFaults(fields: RemoteFields, taken: ReadonlySet<string>): FieldFaults {
  const faults: FieldFaults = {};
  if (!NAME.test(fields.name)) faults.name = 'Letters, digits, dots and dashes, such as "lab" or "backup-2".';
  else if (taken.has(fields.name)) faults.name = `You have a remote called "${fields.name}" already.`;
  if (fields.kind === 's3') {
    if (!BUCKET.test(fields.bucket)) faults.bucket = 'The name of a bucket: 3 letters or more, no slashes.';
    if (fields.endpoint !== '' && !/^https?:\/\/[^/]+/.test(fields.endpoint))
      faults.endpoint = 'Begins with https:// or http://, such as https://s3.example.org.';
  }
  if (fields.kind === 'folder' && !/^(\/|[A-Za-z]:[\\/])/.test(fields.folder))
    faults.folder = 'The whole path, from the root on.';
  if (fields.kind === 'peer' && !/^[^/\s]+:\d{1,5}$/.test(fields.host))
    faults.host = 'As "dray serve" prints it: HOST:PORT.';
  return faults;
}

export function urlOf(fields: RemoteFields): string {
  const prefix = fields.prefix.split('/').filter(Boolean).map(encodeURIComponent).join('/');
  const path = prefix === '' ? '' : `/${prefix}`;
  if (fields.kind === 'folder') return fields.folder;
  if (fields.kind === 'peer') return `dray://${fields.host}${path}`;
  const parameters = new URLSearchParams();
  if (fields.endpoint !== '') parameters.set('endpoint', fields.endpoint.replace(/\/+$/, ''));
  if (fields.region !== '') parameters.set('region', fields.region);
  if (fields.profile !== '') parameters.set('profile', fields.profile);
  if (fields.pathStyle) parameters.set('pathStyle', 'true');
  const query = parameters.toString();
  return `s3://${fields.bucket}${path}${query === '' ? '' : `?${query}`}`;
}

/** What another program's settings name, as fields to fill up; a URL without a bucket leaves the bucket empty. */
export function fieldsOf(name: string, url: string): RemoteFields {
  const fields = { ...EMPTY_FIELDS, name };
  const s3 = /^s3:\/\/([^/?]*)\/?([^?]*)(?:\?(.*))?$/.exec(url);
  if (!s3) return { ...fields, kind: 'folder', folder: url.replace(/^file:\/\//, '') };
  const parameters = new URLSearchParams(s3[3] ?? '');
  return {
    ...fields,
    bucket: s3[1] ?? '',
    prefix: decodeOrKeep(s3[2] ?? ''),
    endpoint: parameters.get('endpoint') ?? '',
    region: parameters.get('region') ?? '',
    profile: parameters.get('profile') ?? '',
    pathStyle: parameters.get('pathStyle') === 'true',
  };
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
