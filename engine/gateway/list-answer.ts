/** ListObjects, of both versions: the request's parameters, and the document that answers them. */
import * as v from 'valibot';
import { EMPTY_BLOB } from '../model/entry.ts';
import { encodeKey } from '../remotes/s3/signature.ts';
import type { Bucket, BucketKey, KeyListing, KeyPage } from './bucket.ts';
import { S3Error } from './s3-error.ts';
import { escapeXml } from './s3-xml.ts';

const KEYS_MAX = 1_000;
/** The last time of the year 9999, which HTTP and S3 can still write. */
const LATEST_MS = Date.UTC(10_000, 0) - 1;

type Parameters = ReadonlyMap<string, string>;

/** @throws S3Error, and the errors of the engine */
export async function answerList(bucket: Bucket, parameters: Parameters): Promise<string> {
  const isV2 = parameters.has('list-type');
  if (isV2 && parameters.get('list-type') !== '2') throw invalid('list-type', 'must be 2');
  const asked = parseListing(parameters, isV2);
  const page = asked.limit === 0 ? { keys: [] } : await bucket.list(asked);
  return documentOf(bucket.name, parameters, { asked, page, isV2 });
}

function parseListing(parameters: Parameters, isV2: boolean): KeyListing {
  const text = (name: string) => parameters.get(name) ?? '';
  const delimiter = text('delimiter');
  if (delimiter !== '' && delimiter !== '/')
    throw new S3Error('NotImplemented', 'The only delimiter of this gateway is "/".');
  const encoding = parameters.get('encoding-type');
  if (encoding !== undefined && encoding !== '' && encoding !== 'url')
    throw invalid('encoding-type', 'must be url');
  const common = { prefix: text('prefix'), isFolded: delimiter === '/', limit: limitOf(text('max-keys')) };
  if (!isV2) {
    const marker = text('marker');
    // The marker of a page that ended with a folder is that folder.
    const isFolder = common.isFolded && marker.endsWith('/');
    return { ...common, ...(isFolder ? { continuesAfter: marker } : { startAfter: marker }) };
  }
  const token = parameters.get('continuation-token');
  if (token === undefined) return { ...common, startAfter: text('start-after') };
  return { ...common, ...parseToken(token) };
}

function limitOf(text: string): number {
  if (text === '') return KEYS_MAX;
  if (!/^\d{1,10}$/.test(text)) throw invalid('max-keys', 'must be a number');
  return Math.min(KEYS_MAX, Number(text));
}

function invalid(name: string, what: string): S3Error {
  return new S3Error('InvalidArgument', `The parameter ${name} ${what}.`);
}

/** Holds no state of the gateway, so another one can answer the next page, also after a restart. */
function formatToken({ next = '', pinned }: KeyPage): string {
  const parts = pinned ? [next, pinned.ref, pinned.commit] : [next];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

const tokenSchema = v.union([
  v.strictTuple([v.string()]),
  v.strictTuple([v.string(), v.string(), v.string()]),
]);

function parseToken(token: string): Pick<KeyListing, 'continuesAfter' | 'pinned'> {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const [continuesAfter, ref, commit] = v.parse(tokenSchema, parts);
    return { continuesAfter, ...(ref !== undefined && commit !== undefined && { pinned: { ref, commit } }) };
  } catch {
    throw invalid('continuation-token', 'is not one of this gateway');
  }
}

interface Listed {
  readonly asked: KeyListing;
  readonly page: KeyPage;
  readonly isV2: boolean;
}

function documentOf(name: string, parameters: Parameters, { asked, isV2, page }: Listed): string {
  const isEncoded = parameters.get('encoding-type') === 'url';
  const keyText = (key: string) => escapeXml(isEncoded ? encodeKey(key) : key);
  const element = (tag: string, text: string | undefined) =>
    text === undefined ? '' : `<${tag}>${text}</${tag}>`;
  const given = (tag: string, parameter: string) => {
    const value = parameters.get(parameter);
    return element(tag, value === undefined ? undefined : keyText(value));
  };
  const token = page.next === undefined ? undefined : formatToken(page);
  const continuation = isV2
    ? [
        element('KeyCount', String(page.keys.length)),
        given('StartAfter', 'start-after'),
        element('ContinuationToken', escaped(parameters.get('continuation-token'))),
        element('NextContinuationToken', token),
      ]
    : [
        element('Marker', keyText(parameters.get('marker') ?? '')),
        element('NextMarker', page.next === undefined ? undefined : keyText(page.next)),
      ];
  const files = page.keys.map((found) => (found.entry ? contentsOf(found, found.entry, keyText) : ''));
  const folders = page.keys.map(({ entry, key }) =>
    entry ? '' : element('CommonPrefixes', element('Prefix', keyText(key))),
  );
  const inner = [
    element('Name', escapeXml(name)),
    element('Prefix', keyText(asked.prefix)),
    ...continuation,
    element('MaxKeys', String(asked.limit)),
    asked.isFolded ? element('Delimiter', '/') : '',
    isEncoded ? element('EncodingType', 'url') : '',
    element('IsTruncated', String(page.next !== undefined)),
    ...files,
    ...folders,
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner.join('')}</ListBucketResult>`;
}

function escaped(text: string | undefined): string | undefined {
  return text === undefined ? undefined : escapeXml(text);
}

function contentsOf(
  { key }: BucketKey,
  entry: NonNullable<BucketKey['entry']>,
  keyText: (key: string) => string,
): string {
  const { etag, modified, sizeBytes } = describeEntry(entry);
  return `<Contents><Key>${keyText(key)}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${sizeBytes}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
}

/** An empty folder is an empty object, as web consoles make them. */
export function describeEntry(entry: NonNullable<BucketKey['entry']>) {
  if (entry.kind === 'folder') return { etag: EMPTY_BLOB, modified: new Date(0), sizeBytes: 0 };
  const ms = Math.min(Math.max(0, Number(entry.mtimeNs / 1_000_000n)), LATEST_MS);
  return { etag: entry.blob, modified: new Date(ms), sizeBytes: entry.sizeBytes };
}
