/** Resolves the options of an S3 remote, the environment and the profile to a place. */
import { createHash } from 'node:crypto';
import type { StorePlace } from '../object-store.ts';
import type { AwsProfile } from './keys/aws-profile.ts';
import { checkBucket, checkRegion, parseEndpoint } from './s3-grammar.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface S3Options {
  readonly bucket: string;
  /** Prepended to every key. Empty, or without a slash at its end. */
  readonly prefix: string;
  /**
   * Absent: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, the profile's `endpoint_url`, or else Amazon itself.
   */
  readonly endpoint?: string;
  /** Absent: `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's, or what the store answers. */
  readonly region?: string;
  /** A profile given here wins over keys in the environment. */
  readonly profile?: string;
  /**
   * Puts the bucket into the path instead of the host name. Default: true for a custom endpoint, and for a
   * bucket whose name cannot be a host's.
   */
  readonly pathStyle?: boolean;
  /** Signs no request and looks for no keys. */
  readonly anonymous?: boolean;
  readonly environment: Environment;
  readonly maxConnections?: number;
  /** Added to this machine's clock when requests are signed. For tests of a wrong clock. */
  readonly clockOffsetMs?: number;
  /** Called with the bytes of each read and write of a connection. */
  readonly onWire?: (bytes: number) => void;
}

/** The target of the requests. `region` changes at most once, when the store names another. */
export interface S3Place {
  readonly bucket: string;
  /** Prepended to a key as it is: empty, or with a slash at its end. */
  readonly keyPrefix: string;
  readonly address: string;
  readonly provider: string;
  readonly pathStyle: boolean;
  /** The endpoint given; undefined for Amazon, whose host depends on the region. */
  readonly endpoint: URL | undefined;
  readonly region: string;
  readonly isAnonymous: boolean;
}

const DEFAULT_REGION = 'us-east-1';
/** Rows of the price table by the end of the host name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'amazonaws.com': 'aws',
  'amazonaws.com.cn': 'aws',
  'backblazeb2.com': 'b2',
  'r2.cloudflarestorage.com': 'r2',
  'wasabisys.com': 'wasabi',
};

export function resolvePlace(options: S3Options, profile: AwsProfile): S3Place {
  const bucket = checkBucket(options.bucket);
  const setting = endpointSetting(options, profile);
  const endpoint = setting && new URL(parseEndpoint(setting.text, setting.from));
  const region = regionSetting(options, profile);
  return {
    bucket,
    keyPrefix: options.prefix === '' ? '' : `${options.prefix}/`,
    address: options.prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${options.prefix}`,
    provider: endpoint ? providerOf(endpoint.hostname) : 'aws',
    pathStyle: options.pathStyle ?? (endpoint !== undefined || !isHostLabel(bucket)),
    endpoint,
    region,
    isAnonymous: options.anonymous === true,
  };
}

/** Scheme and host of the requests to a place, without the bucket's own part of the host. */
export function endpointOf(place: S3Place): URL {
  if (place.endpoint) return place.endpoint;
  const domain = place.region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(`https://s3.${place.region}.${domain}`);
}

/**
 * Two stores of one service can copy between each other. All regions of an Amazon partition are one service
 * for every signer: a bucket's name is unique there, and a forbidden copy fails when it is tried. Elsewhere
 * (with Ceph's tenants, for example) one name may be another bucket for another signer.
 * @param identity Who signs.
 */
export function storePlaceOf({ bucket, keyPrefix, endpoint, region }: S3Place, identity: string): StorePlace {
  const partition = /^(cn|us-gov)-/.exec(region)?.[1] ?? 'aws';
  const parts = endpoint ? [endpoint.href, identity] : [partition];
  const service = createHash('sha256').update(JSON.stringify(parts));
  return { service: service.digest('hex'), bucket, keyPrefix };
}

/** Where a request for this bucket connects to, and the path before the encoded key. */
export function requestBaseOf(place: S3Place): { readonly origin: URL; readonly path: string } {
  const endpoint = endpointOf(place);
  const path = endpoint.pathname === '/' ? '' : endpoint.pathname;
  if (place.pathStyle) return { origin: new URL(endpoint.origin), path: `${path}/${place.bucket}` };
  const port = endpoint.port === '' ? '' : `:${endpoint.port}`;
  return { origin: new URL(`${endpoint.protocol}//${place.bucket}.${endpoint.hostname}${port}`), path };
}

/**
 * Whether the name fits one label of a host name. Older buckets may have upper case, underscores, and more
 * than 63 characters.
 */
function isHostLabel(bucket: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(bucket);
}

/** Checks all that are set, as the SDK's chain of credentials reads them in its own order. */
function regionSetting({ environment, region }: S3Options, { name, settings }: AwsProfile): string {
  const given = [
    ['The region of the remote', region],
    ['AWS_REGION', environment.AWS_REGION],
    ['AWS_DEFAULT_REGION', environment.AWS_DEFAULT_REGION],
    [`The region of the profile ${JSON.stringify(name)}`, settings.region],
  ] as const;
  const checked = given.flatMap(([from, text]) => (text ? [checkRegion(text, from)] : []));
  return checked[0] ?? DEFAULT_REGION;
}

function endpointSetting(
  { endpoint, environment }: S3Options,
  { name, s3EndpointUrl, settings }: AwsProfile,
): { readonly from: string; readonly text: string } | undefined {
  const isIgnored = environment.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true';
  const ofProfile = `The endpoint of the profile ${JSON.stringify(name)}`;
  const configured = [
    ['AWS_ENDPOINT_URL_S3', environment.AWS_ENDPOINT_URL_S3],
    ['AWS_ENDPOINT_URL', environment.AWS_ENDPOINT_URL],
    [ofProfile, s3EndpointUrl],
    [ofProfile, settings.endpoint_url],
  ] as const;
  const given = [['The endpoint', endpoint] as const, ...(isIgnored ? [] : configured)];
  for (const [from, text] of given) {
    // Without a scheme it means https, as the AWS CLI has it.
    if (text) return { from, text: text.includes('://') ? text : `https://${text}` };
  }
  return undefined;
}

function providerOf(hostname: string): string {
  const row = Object.entries(PROVIDERS).find(
    ([domain]) => hostname === domain || hostname.endsWith(`.${domain}`),
  );
  return row?.[1] ?? 'local';
}
