/**
 * Checks the names of an S3 store: bucket, region, endpoint and profile. Each becomes a part of a host name,
 * a URL or a signature, so an invalid text is refused before any of these is built. Errors have the code
 * `usage`.
 */
import { DrayError } from '../../api/error.ts';

/**
 * Amazon's regions, and the names that other stores use: `auto`, `us-west-004`, `RegionOne`, `my_region`.
 * Never a dot, slash, colon or `#`.
 */
const REGION = /^[A-Za-z0-9_-]{1,64}$/;
/** S3's rules for bucket names, and the looser ones that older buckets and other servers keep. */
const BUCKET = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253}[A-Za-z0-9])?$/;
const BUCKET_CHARS_MIN = 3;
const PROFILE_CHARS_MAX = 256;
const ENDPOINT_CHARS_MAX = 2048;
const SHOWN_CHARS_MAX = 80;

export function isRegion(text: string): boolean {
  return REGION.test(text);
}

/** @param from Where the text was found, such as `AWS_REGION`; for the message. */
export function checkRegion(region: string, from: string): string {
  if (isRegion(region)) return region;
  throw refuse(
    `${from} is ${shown(region)}, which is not a region: use 1 to 64 letters, digits, hyphens and underscores. ` +
      'To reach another host, set the endpoint.',
  );
}

export function checkBucket(bucket: string): string {
  if (bucket === '') throw refuse('The URL names no bucket. It has the form s3://BUCKET/PREFIX.');
  if (BUCKET.test(bucket)) return bucket;
  throw noBucket(bucket);
}

/** As `checkBucket`, but also refuses names shorter than S3 allows. */
export function checkBucketOfUrl(bucket: string): string {
  if (checkBucket(bucket).length >= BUCKET_CHARS_MIN) return bucket;
  throw noBucket(bucket);
}

export function checkProfile(profile: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  if (profile.length <= PROFILE_CHARS_MAX && !/[\u0000-\u001f\u007f]/.test(profile)) return profile;
  throw refuse(
    `${shown(profile)} is not the name of a profile: use at most ${PROFILE_CHARS_MAX} characters, none of them a control character.`,
  );
}

/**
 * An endpoint as it is used and stored: scheme, host and port, and a path without a slash at its end.
 * @param from Where the text was found, such as `AWS_ENDPOINT_URL`; for the message.
 */
export function parseEndpoint(text: string, from = 'The endpoint'): string {
  const url = text.length > ENDPOINT_CHARS_MAX ? null : URL.parse(text);
  // The text may hold a password, so errors do not repeat it until that is checked.
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw refuse(`${from} must be a URL such as https://storage.example.com.`);
  if (url.username !== '' || url.password !== '')
    throw refuse(`${from} must not contain credentials.`, 'Use AWS_* variables or a profile.');
  // An empty query or fragment leaves no trace in the parsed URL.
  if (text.includes('?') || text.includes('#'))
    throw refuse(`${from} ${shown(text)} must not have parameters.`);
  let end = url.href.length;
  while (url.href[end - 1] === '/') end -= 1;
  return url.href.slice(0, end);
}

function noBucket(bucket: string): DrayError {
  return refuse(
    `${shown(bucket)} is not a bucket name: use 3 to 255 letters, digits, dots and hyphens. A host belongs in ?endpoint=.`,
  );
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}...` : text);
}

function refuse(message: string, advice = ''): DrayError {
  return new DrayError('usage', message, { advice });
}
