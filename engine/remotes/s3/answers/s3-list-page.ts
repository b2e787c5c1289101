/**
 * Reads a page of ListObjectsV2 in one pass: a walk over a million keys reads a thousand pages. Elements may
 * come in any order, and unknown ones are skipped. It refuses whatever would make a page look shorter than it
 * is, because a sync takes an unlisted key for deleted: another document, one that was cut short, an element
 * without an end, a truncated page without a continuation, or a count of other keys than it shows. A token
 * means more, whatever else the page says.
 */
import { setImmediate } from 'node:timers/promises';
import { checkAborted } from '../../../base/abort.ts';
import { incompleteListing } from '../../listing-advance.ts';
import type { ListedObject } from '../../object-store.ts';
import { elementsOf, isSpace, keyDecoderOf, rootOf, textOf, timeOf, unescapeXml, unquote } from './s3-xml.ts';

export interface RawListPage {
  /** Full keys, with the remote's prefix. */
  readonly objects: readonly ListedObject[];
  readonly folders: readonly string[];
  readonly continuation: string | undefined;
}

/**
 * Decodes keys if the store says that it encoded them (`encoding-type=url`). Reads a very large page in
 * slices and lets the event loop turn between them, so that a listing of 8 MiB does not delay Ctrl-C.
 * @throws DrayError `remoteFailed`, to be repeated; `aborted`.
 */
export async function readListPage(xml: string, signal: AbortSignal | undefined): Promise<RawListPage> {
  const slices = parseInSlices(xml);
  for (;;) {
    const slice = slices.next();
    if (slice.done) return slice.value;
    await setImmediate();
    checkAborted(signal);
  }
}

/** How many characters one turn of the event loop reads. */
export const SLICE_CHARS = 1024 * 1024;

/** Yields after each slice. */
export function* parseInSlices(xml: string): Generator<void, RawListPage> {
  if (!isWholeList(xml)) throw incompleteListing('its answer is not a complete list');
  const { objects: fields, others } = yield* readContents(xml);
  const decodeKey = keyDecoderOf(others);
  const readTime = createTimeReader();
  const objects: ListedObject[] = [];
  let chars = 0;
  for (const each of fields) {
    objects.push(toObject(each, decodeKey, readTime));
    chars += (each.Key?.length ?? 0) + OBJECT_CHARS;
    if (chars < SLICE_CHARS) continue;
    chars = 0;
    yield;
  }
  const folders: string[] = [];
  for (const element of elementsOf(others, 'CommonPrefixes')) {
    folders.push(decodeKey(textOf(element, 'Prefix') ?? ''));
    chars += element.length + OBJECT_CHARS;
    if (chars < SLICE_CHARS) continue;
    chars = 0;
    yield;
  }
  return {
    objects,
    folders,
    continuation: continuationOf({
      isTruncated: textOf(others, 'IsTruncated')?.trim() === 'true',
      token: textOf(others, 'NextContinuationToken'),
    }),
  };
}

/** The memory of an object besides its key, counted as characters. */
const OBJECT_CHARS = 64;
const ROOT = 'listbucketresult';

/** The text begins with the element and ends with its end tag. */
function isWholeList(xml: string): boolean {
  const root = rootOf(xml);
  if (root?.name.toLowerCase() !== ROOT) return false;
  let end = xml.length;
  while (isSpace(xml.charCodeAt(end - 1))) end -= 1;
  if (xml[end - 1] !== '>') return false;
  // An element without content (`<a/>`), which has one `>`.
  if (xml[end - 2] === '/') return xml.indexOf('>', root.end) === end - 1;
  end -= 1;
  while (isSpace(xml.charCodeAt(end - 1))) end -= 1;
  return xml.slice(end - ROOT.length - 2, end).toLowerCase() === `</${ROOT}`;
}

/** Ceph counts the keys without the folders. @throws DrayError `remoteFailed` for another count */
export function checkCount(xml: string, page: Pick<RawListPage, 'folders' | 'objects'>): void {
  const [objects, folders] = [page.objects.length, page.folders.length];
  const said = textOf(xml, 'KeyCount');
  const count = said && /^\s*\d{1,9}\s*$/.test(said) ? Number(said) : undefined;
  if (count === undefined || count === objects + folders || count === objects) return;
  throw incompleteListing(`it counts ${count} keys and shows ${objects + folders}`);
}

/**
 * Undefined on the last page. @throws DrayError `remoteFailed` for a truncated page without a token.
 */
function continuationOf(said: {
  readonly isTruncated: boolean;
  readonly token: string | undefined;
}): string | undefined {
  if (said.token) return said.token;
  if (!said.isTruncated) return undefined;
  throw incompleteListing('it announces more keys without a continuation token');
}

/** Texts that are still escaped. */
interface Fields {
  Key: string | undefined;
  Size: string | undefined;
  ETag: string | undefined;
  LastModified: string | undefined;
  StorageClass: string | undefined;
}

const OPEN = '<Contents>';
const CLOSE = '/Contents>';

interface Contents {
  readonly objects: readonly Fields[];
  readonly others: string;
}

/** The fields of each object, and the document without the objects. */
function* readContents(xml: string): Generator<void, Contents> {
  const objects: Fields[] = [];
  let others = '';
  let from = 0;
  let sliceEnd = SLICE_CHARS;
  for (;;) {
    const open = xml.startsWith(OPEN, from) ? from : xml.indexOf(OPEN, from);
    if (open < 0) break;
    const fields: Fields = {
      Key: undefined,
      Size: undefined,
      ETag: undefined,
      LastModified: undefined,
      StorageClass: undefined,
    };
    const end = readFields(xml, open + OPEN.length, fields);
    if (end < 0) throw incompleteListing('an object has no end tag');
    objects.push(fields);
    if (open > from) others += xml.slice(from, open);
    from = end;
    if (from < sliceEnd) continue;
    sliceEnd = from + SLICE_CHARS;
    yield;
  }
  return { objects, others: others + xml.slice(from) };
}

/** Reads the first of each, at any depth. Returns where the element ends, or -1 without an end. */
function readFields(xml: string, start: number, fields: Fields): number {
  for (let at = xml.indexOf('<', start); at >= 0; at = xml.indexOf('<', at)) {
    at += 1;
    if (xml.charCodeAt(at) === SLASH) {
      if (xml.startsWith(CLOSE, at)) return at + CLOSE.length;
      continue;
    }
    const name = fieldAt(xml, at);
    if (name === undefined || fields[name] !== undefined) continue;
    const from = at + name.length + 1;
    const to = xml.indexOf('<', from);
    if (to < 0) return -1;
    if (!xml.startsWith(name, to + 2)) continue;
    fields[name] = xml.slice(from, to);
    at = to + name.length + 2;
  }
  return -1;
}

const SLASH = 0x2f;

/** The field whose opening tag has its name here. */
function fieldAt(xml: string, at: number): keyof Fields | undefined {
  switch (xml[at]) {
    case 'K':
      return xml.startsWith('Key>', at) ? 'Key' : undefined;
    case 'E':
      return xml.startsWith('ETag>', at) ? 'ETag' : undefined;
    case 'L':
      return xml.startsWith('LastModified>', at) ? 'LastModified' : undefined;
    case 'S':
      if (xml.startsWith('Size>', at)) return 'Size';
      return xml.startsWith('StorageClass>', at) ? 'StorageClass' : undefined;
    default:
      return undefined;
  }
}

function toObject(
  { ETag = '', Key = '', LastModified = '', Size = '0', StorageClass }: Fields,
  decodeKey: (text: string) => string,
  readTime: (text: string) => number,
): ListedObject {
  const key = decodeKey(unescapeXml(Key));
  const sizeBytes = Number(Size);
  if (key === '') throw incompleteListing('an object has no key');
  if (Size === '' || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    throw incompleteListing('an object has no size');
  const object = {
    key,
    sizeBytes,
    etag: readEtag(ETag),
    modifiedMs: readTime(LastModified),
  };
  return StorageClass ? { ...object, storageClass: unescapeXml(StorageClass) } : object;
}

const QUOTES = ['&quot;', '&#34;', '"'];

/** Removes the quotes, however they are written. */
function readEtag(escaped: string): string {
  for (const quote of QUOTES) {
    if (!escaped.startsWith(quote)) continue;
    const inner = escaped.slice(quote.length, -quote.length);
    if (escaped.endsWith(quote) && inner !== '' && !inner.includes('&')) return inner;
  }
  return unquote(unescapeXml(escaped));
}

/**
 * The objects of a page were mostly stored on a few days, so each day is parsed once.
 */
function createTimeReader(): (text: string) => number {
  let day = '';
  let dayMs = Number.NaN;
  return (text) => {
    const msOfDay = msOfDayIn(text);
    if (msOfDay === undefined) return timeOf(text);
    if (day === '' || !text.startsWith(day)) {
      day = text.slice(0, DAY_CHARS);
      dayMs = Date.parse(`${day}T00:00:00Z`);
    }
    return dayMs + msOfDay || 0;
  };
}

/** The length of the day in `2026-11-21T01:30:23Z`. */
const DAY_CHARS = 10;

/** Undefined for every other form than `...T01:30:23Z` and `...T01:30:23.000Z`. */
function msOfDayIn(text: string): number | undefined {
  const hours = twoDigits(text, 11);
  const minutes = twoDigits(text, 14);
  const seconds = twoDigits(text, 17);
  const isWhole = text[10] === 'T' && text[13] === ':' && text[16] === ':' && isEnd(text);
  if (!isWhole || !(hours < 24 && minutes < 60 && seconds < 60)) return undefined;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

function isEnd(text: string): boolean {
  return text.length === 20 ? text[19] === 'Z' : text.length === 24 && text.endsWith('.000Z');
}

/** NaN where there are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : Number.NaN;
}

const ZERO = 0x30;
