/**
 * Reads S3's answers by the names of their elements, and skips unknown ones. A hostile store may send
 * anything, so each function reads a character a fixed number of times at most (`count-scans.fixture.ts`),
 * and fails with a DrayError.
 */
import { DrayError, excerpt } from '../../../api/error.ts';

export interface ErrorBody {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly region: string | undefined;
}

export function parseErrorBody(bytes: Uint8Array): ErrorBody {
  const xml = bytes.byteLength === 0 ? '' : new TextDecoder().decode(bytes);
  const [code, message, region] = ['Code', 'Message', 'Region'].map((name) => excerptOf(xml, name));
  return { code, message, region };
}

/** The text of the first element of the name, as much of it as an error shows. */
function excerptOf(xml: string, name: string): string | undefined {
  const text = textOf(xml, name);
  return text === undefined ? undefined : excerpt(text);
}

/**
 * The document of a success. CompleteMultipartUpload, CopyObject and UploadPartCopy begin their answer before
 * the work is done: status 200, then white space that keeps the connection open, then the result, or an
 * error.
 * @returns The error's fields in place of the result.
 * @throws `remoteFailed` (retryable) for a document of another kind, or none.
 */
export function readResult(
  bytes: Uint8Array,
  rootName: string,
): { readonly xml: string; readonly error?: never } | { readonly error: ErrorBody } {
  const xml = new TextDecoder().decode(bytes);
  const found = rootOf(xml)?.name;
  // MinIO writes the name of one result with a small letter.
  if (found?.toLowerCase() === rootName.toLowerCase()) return { xml };
  if (found === 'Error') return { error: parseErrorBody(bytes) };
  throw new DrayError('remoteFailed', `The store answered with ${found ?? 'no XML'}, not ${rootName}.`, {
    retry: 'retry',
    data: { expected: rootName },
  });
}

/** The name of the first element, and where the text after it begins. */
export function rootOf(xml: string): { readonly name: string; readonly end: number } | undefined {
  let at = skipSpace(xml, 0);
  if (xml.startsWith('<?', at)) {
    const end = xml.indexOf('?>', at);
    if (end < 0) return undefined;
    at = skipSpace(xml, end + 2);
  }
  if (xml[at] !== '<') return undefined;
  const start = at + 1;
  let end = start;
  while (end - start < NAME_CHARS_MAX && isNameCharacter(xml.charCodeAt(end))) end += 1;
  return end === start ? undefined : { name: xml.slice(start, end), end };
}

/** The longest name of an element that this client knows; a longer one is cut. */
const NAME_CHARS_MAX = 64;

function isNameCharacter(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  // Digits and `:`, `_`, `-`.
  return isLetter || (code >= 0x30 && code <= 0x3a) || code === 0x5f || code === 0x2d;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** White space as XML has it, and the mark of byte order. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0xfeff;
}

export function unquote(etag: string): string {
  return etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}

/** 0 for invalid times. */
export function timeOf(text: string | undefined): number {
  return Date.parse(text ?? '') || 0;
}

export function keyDecoderOf(xml: string): (text: string) => string {
  return textOf(xml, 'EncodingType') === 'url' ? decodeFormUrl : (text) => text;
}

/** The contents of each element of the name, at any depth but not inside one another. */
export function* elementsOf(xml: string, name: string): Generator<string> {
  for (const { text } of placedElementsOf(xml, name)) yield text;
}

/** The same, and where each begins. */
export function* placedElementsOf(
  xml: string,
  name: string,
): Generator<{ readonly at: number; readonly text: string }> {
  const open = `<${name}>`;
  const close = `</${name}>`;
  for (let at = xml.indexOf(open); at >= 0; ) {
    const end = xml.indexOf(close, at);
    if (end < 0) return;
    yield { at, text: xml.slice(at + open.length, end) };
    at = xml.indexOf(open, end);
  }
}

/** The text of the first element of the name. */
export function textOf(xml: string, name: string): string | undefined {
  const open = `<${name}>`;
  const start = xml.indexOf(open);
  if (start < 0) return undefined;
  const end = xml.indexOf(`</${name}>`, start);
  return end < 0 ? undefined : unescapeXml(xml.slice(start + open.length, end));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The longest is `&#x10FFFF;`; leading zeros of more are left as they are. */
const ENTITY_CHARS_MAX = 12;

export function unescapeXml(text: string): string {
  let from = 0;
  let plain = '';
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    const end = text.slice(at, at + ENTITY_CHARS_MAX).indexOf(';');
    const character = end < 0 ? undefined : readEntity(text.slice(at + 1, at + end));
    if (character === undefined) continue;
    plain += text.slice(from, at) + character;
    from = at + end + 1;
  }
  return from === 0 ? text : plain + text.slice(from);
}

/** @param name Between `&` and `;`. */
function readEntity(name: string): string | undefined {
  const digits = /^#(?:x([0-9a-f]{1,8})|(\d{1,8}))$/i.exec(name);
  if (!digits) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
  const code = digits[1] === undefined ? Number(digits[2]) : Number.parseInt(digits[1], 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/**
 * `encoding-type=url` is the encoding of forms: a plus is a space. @throws `remoteFailed` for a key that is
 * not encoded so.
 */
export function decodeFormUrl(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new DrayError('remoteFailed', 'The store listed a key that is not percent-encoded properly.', {
      retry: 'retry',
      cause,
    });
  }
}
