/** GetObject and HeadObject: conditions, ranges and headers as S3 has them. */
import type { IncomingHttpHeaders } from 'node:http';
import { contentTypeOf } from '../jobs/trees/move/object-content-type.ts';
import { formatObjectTime, MTIME_METADATA } from '../model/object-time.ts';
import type { BucketKey } from './bucket.ts';
import { describeEntry } from './list-answer.ts';
import { S3Error } from './s3-error.ts';

type Answered = NonNullable<BucketKey['entry']>;

export interface ReadAnswer {
  readonly status: 200 | 206 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** Half open, of the file. Absent: no body. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** What a presigned URL may set of its answer. */
const OVERRIDES = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

/** @throws S3Error `PreconditionFailed`, `InvalidRange`, `InvalidPartNumber`, `InvalidArgument` */
export function answerObject(
  path: string,
  entry: Answered,
  headers: IncomingHttpHeaders,
  parameters: ReadonlyMap<string, string>,
): ReadAnswer {
  const { etag, modified, sizeBytes } = describeEntry(entry);
  const described: Record<string, string> = {
    etag: `"${etag}"`,
    'last-modified': modified.toUTCString(),
    'accept-ranges': 'bytes',
  };
  if (isUnchanged(headers, etag, modified)) return { status: 304, headers: described };
  described['content-type'] = contentTypeOf(path);
  if (entry.kind === 'file') described[`x-amz-meta-${MTIME_METADATA}`] = formatObjectTime(entry.mtimeNs);
  for (const name of OVERRIDES) {
    const value = parameters.get(`response-${name}`);
    if (value !== undefined) described[name] = headerValue(name, value);
  }
  const range = rangeOf(headers, parameters, sizeBytes);
  if (!range) {
    const isWhole = entry.kind === 'file' && entry.location.in !== 'chunks';
    if (isWhole && headers['x-amz-checksum-mode'] === 'ENABLED') {
      described['x-amz-checksum-sha256'] = Buffer.from(etag, 'hex').toString('base64');
      described['x-amz-checksum-type'] = 'FULL_OBJECT';
    }
    described['content-length'] = String(sizeBytes);
    return { status: 200, headers: described, range: { start: 0, end: sizeBytes } };
  }
  described['content-length'] = String(range.end - range.start);
  described['content-range'] = `bytes ${range.start}-${range.end - 1}/${sizeBytes}`;
  return { status: 206, headers: described, range };
}

/** RFC 9110, section 13.2.2, with S3's errors. */
function isUnchanged(headers: IncomingHttpHeaders, etag: string, modified: Date): boolean {
  const seconds = Math.floor(modified.getTime() / 1_000);
  const ifMatch = headers['if-match'];
  const unmodified = timeOf(headers['if-unmodified-since']);
  const failed =
    ifMatch === undefined ? unmodified !== undefined && seconds > unmodified : !names(ifMatch, etag);
  if (failed) throw new S3Error('PreconditionFailed', 'At least one of the conditions does not hold.');
  const ifNone = headers['if-none-match'];
  if (ifNone !== undefined) return names(ifNone, etag);
  const since = timeOf(headers['if-modified-since']);
  return since !== undefined && seconds <= since;
}

function names(list: string, etag: string): boolean {
  const tags = list.split(',').map((tag) => tag.trim().replace(/^W\//, '').replace(/^"|"$/g, ''));
  return tags.some((tag) => tag === '*' || tag === etag);
}

/** Seconds since the epoch. Undefined: not a date, so the condition does not count. */
function timeOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
}

/** Undefined: all of it. As on S3, a range that cannot be read, and several at once, count as none. */
function rangeOf(headers: IncomingHttpHeaders, parameters: ReadonlyMap<string, string>, sizeBytes: number) {
  const part = parameters.get('partNumber');
  if (part !== undefined) {
    if (!/^[1-9]\d{0,4}$/.test(part) || Number(part) > 10_000)
      throw new S3Error('InvalidArgument', 'The parameter partNumber must be a number from 1 to 10000.');
    if (headers.range !== undefined)
      throw new S3Error('InvalidRequest', 'A request has either a range or a part number.');
    // An object here has one part.
    if (part !== '1') throw new S3Error('InvalidPartNumber', 'The object has one part.');
    return sizeBytes === 0 ? undefined : { start: 0, end: sizeBytes };
  }
  const [, from, to] = /^bytes=(\d{0,20})-(\d{0,20})$/.exec(headers.range ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  const start = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const end = from === '' || to === '' ? sizeBytes : Math.min(sizeBytes, Number(to) + 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  if (start < end) return { start, end };
  const message = 'The object has no bytes in this range.';
  throw new S3Error('InvalidRange', message, { 'content-range': `bytes */${sizeBytes}` });
}

/** @throws S3Error for what no header can hold */
function headerValue(name: string, value: string): string {
  if (/^[\x20-\x7e\x80-\xff]*$/.test(value)) return value;
  throw new S3Error(
    'InvalidArgument',
    `The parameter response-${name} has characters that no header can hold.`,
  );
}
