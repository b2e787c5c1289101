/**
 * A place as form fields, and its URL. The engine validates the URL; this checks what a form can know. Pure.
 */
import type { AccessKeys } from '../../../engine/api/host/remotes.ts';
import { trimEnd } from '../../../engine/api/text/trim-ends.ts';
import type { TypedKeyPair } from '../../design/controls/key-pair.tsx';
import { connectionOf, findProviderFaults, type ProviderFields, recognise } from './providers.ts';

/** `address`: a URL, unchanged. */
export type PlaceKind = 's3' | 'folder' | 'peer' | 'address';

export interface PlaceFields extends ProviderFields {
  readonly kind: PlaceKind;
  /** The name of a remote; '' if the place has none. */
  readonly name: string;
  readonly bucket: string;
  readonly prefix: string;
  /** '' if the keys are found automatically. */
  readonly profile: string;
  /** Instead of a profile. */
  readonly typedKeys?: TypedKeyPair | undefined;
  readonly folder: string;
  /** `HOST:PORT` of `dray serve`. */
  readonly host: string;
  /** For the machine of `host` only; '' keeps the saved one. */
  readonly token: string;
  readonly address: string;
}

export const EMPTY_PLACE: PlaceFields = {
  kind: 's3',
  name: '',
  bucket: '',
  prefix: '',
  provider: 'any',
  account: '',
  jurisdiction: '',
  endpoint: '',
  region: '',
  profile: '',
  pathStyle: '',
  folder: '',
  host: '',
  token: '',
  address: '',
};

export type PlaceField = Exclude<
  keyof PlaceFields,
  'kind' | 'typedKeys' | 'pathStyle' | 'provider' | 'jurisdiction'
>;
export type PlaceFaults = Partial<Record<PlaceField | keyof AccessKeys, string>>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/;
const SCHEME = /^(s3|file|dray):\/\//i;

export const WHOLE_PATH = 'The whole path, from the root.';

/** Empty if the fields make a URL. */
export function findFaults(fields: PlaceFields): PlaceFaults {
  const faults: PlaceFaults = {};
  switch (fields.kind) {
    case 's3':
      if (!BUCKET.test(fields.bucket))
        faults.bucket = 'The name of a bucket: 3 or more characters, no slashes.';
      if (fields.endpoint !== '' && !/^https?:\/\/[^/]+/.test(fields.endpoint))
        faults.endpoint = 'Begins with https:// or http://, such as https://s3.example.org.';
      Object.assign(faults, findProviderFaults(fields));
      if (fields.typedKeys?.accessKeyId === '') faults.accessKeyId = 'The first half of the key.';
      if (fields.typedKeys?.secretAccessKey === '') faults.secretAccessKey = 'The second half of the key.';
      break;
    case 'folder':
      if (!isAbsolute(fields.folder)) faults.folder = WHOLE_PATH;
      break;
    case 'peer':
      if (!/^[^/\s]+:\d{1,5}$/.test(fields.host)) faults.host = 'A host and its port, such as lab-2:7443.';
      break;
    case 'address':
      if (!SCHEME.test(fields.address) && !isAbsolute(fields.address))
        faults.address = 'Begins with s3://, dray:// or file://.';
  }
  return faults;
}

/** A remote's name; a place without one has none. */
export function findNameFault(name: string, taken: ReadonlySet<string>): string | undefined {
  if (!NAME.test(name)) return 'Letters, digits, dots and dashes, such as "lab" or "backup-2".';
  return taken.has(name) ? `You already have a remote called "${name}".` : undefined;
}

/** Without invalid parts. Typed keys use the name in `profile`, which the caller has chosen for them. */
export function urlOf(fields: PlaceFields): string {
  const prefix = fields.prefix.split('/').filter(Boolean).map(encodeURIComponent).join('/');
  const path = prefix === '' ? '' : `/${prefix}`;
  if (fields.kind === 'folder') return fields.folder;
  if (fields.kind === 'address') return fields.address;
  if (fields.kind === 'peer') return `dray://${fields.host}${path}`;
  const { endpoint, pathStyle, region } = connectionOf(fields);
  const { profile } = fields;
  const parameters = Object.entries({ endpoint: trimEnd(endpoint, '/'), region, profile, pathStyle })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeReadably(value)}`);
  return `s3://${fields.bucket}${path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
}

/**
 * Fields from another program's settings, to be completed. A URL without a bucket leaves the bucket empty.
 */
export function fieldsOf(name: string, url: string): PlaceFields {
  const fields = { ...EMPTY_PLACE, name };
  const s3 = /^s3:\/\/([^/?]*)\/?([^?]*)(?:\?(.*))?$/.exec(url);
  if (!s3) return { ...fields, ...otherFieldsOf(url) };
  const parameters = new URLSearchParams(s3[3] ?? '');
  return {
    ...fields,
    bucket: s3[1] ?? '',
    prefix: decodeOrKeep(s3[2] ?? ''),
    profile: parameters.get('profile') ?? '',
    ...recognise({
      endpoint: parameters.get('endpoint') ?? '',
      region: parameters.get('region') ?? '',
      pathStyle: parameters.get('pathStyle') ?? '',
    }),
  };
}

/** Only where the form makes the same URL again; anything else stays an address. */
function otherFieldsOf(url: string): Partial<PlaceFields> {
  const peer = /^dray:\/\/([^/?\s]+:\d{1,5})(?:\/([^?]*))?$/.exec(url);
  if (peer) return { kind: 'peer', host: peer[1] ?? '', prefix: decodeOrKeep(peer[2] ?? '') };
  const folder = decodeOrKeep(url.replace(/^file:\/\/(?=\/)/, ''));
  return isAbsolute(folder) ? { kind: 'folder', folder } : { kind: 'address', address: url };
}

/** A profile's name for typed keys: the remote's or the bucket's name, with a number if that is taken. */
export function profileFor({ bucket, name }: PlaceFields, known: ReadonlySet<string>): string {
  const wanted = name === '' ? bucket : name;
  for (let count = 1; ; count += 1) {
    const profile = count === 1 ? wanted : `${wanted}-${count}`;
    if (!known.has(profile)) return profile;
  }
}

/** As the engine writes it: a URL within a URL stays readable. */
function encodeReadably(value: string): string {
  return encodeURIComponent(value).replace(/%(3A|2F)/g, decodeURIComponent);
}

/** For any system that the engine may run on. */
export function isAbsolute(path: string): boolean {
  return /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path);
}

/** Text that was never encoded stays as it is. */
export function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
