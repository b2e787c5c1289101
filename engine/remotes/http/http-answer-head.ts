/**
 * The head of an answer: status line and headers (RFC 9112, sections 4 and 5). Strict: any violation is an
 * error.
 */
import { type HttpAnswer, HttpError } from './http-message.ts';

export interface AnswerHead extends HttpAnswer {
  readonly minorVersion: 0 | 1;
}

/** How the end of a body is found (RFC 9112, section 6.3). */
export type BodyFraming =
  | { readonly kind: 'length'; readonly sizeBytes: number }
  | { readonly kind: 'chunked' | 'untilClose' };

/** @param text Without the empty line at its end. */
export function parseHead(text: string): AnswerHead {
  if (FORBIDDEN.test(text)) throw malformed('its head contains control characters');
  const lines = text.split('\r\n');
  const status = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0] as string);
  if (!status) throw malformed('its first line is not a status line');
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] as string;
    const colon = line.indexOf(':');
    const name = nameOf(line.slice(0, Math.max(colon, 0)));
    const value = valueFrom(line, colon + 1);
    const former = headers[name];
    if (former === undefined) headers[name] = value;
    else if (typeof former === 'string') headers[name] = [former, value];
    else former.push(value);
  }
  return { minorVersion: status[1] === '1' ? 1 : 0, status: Number(status[2]), headers };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for these.
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\r(?!\n)|(?<!\r)\n/;

/** A server sends the same few names in every answer. */
const KNOWN_NAMES_MAX = 256;
const knownNames = new Map<string, string>();

/** In lower case. */
function nameOf(written: string): string {
  const known = knownNames.get(written);
  if (known !== undefined) return known;
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(written)) throw malformed('one of its headers has an invalid name');
  const name = written.toLowerCase();
  if (knownNames.size < KNOWN_NAMES_MAX) knownNames.set(written, name);
  return name;
}

/** Without spaces and tabs around it; other white space is part of the value. */
function valueFrom(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isBlank(charCode: number): boolean {
  return charCode === 0x20 || charCode === 0x09;
}

export function framingOf(head: AnswerHead, method: string): BodyFraming {
  const { status, headers } = head;
  // The length in the answer to a HEAD is the object's.
  if (method === 'HEAD' || status === 204 || status === 304) return { kind: 'length', sizeBytes: 0 };
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (String(encoding).toLowerCase() === 'chunked') return { kind: 'chunked' };
    throw malformed(`its transfer encoding is "${encoding}"`);
  }
  const length = headers['content-length'];
  if (length === undefined) return { kind: 'untilClose' };
  const [first, ...others] = typeof length === 'string' ? [length] : length;
  if (first === undefined || !/^\d{1,15}$/.test(first) || others.some((other) => other !== first))
    throw malformed(`its length is "${length}"`);
  return { kind: 'length', sizeBytes: Number(first) };
}

/** Whether the connection may serve another request after this answer. */
export function isKeptAlive({ minorVersion, headers }: AnswerHead): boolean {
  const said = String(headers.connection ?? '').toLowerCase();
  // Both lengths at once may be an attempt to smuggle an answer (RFC 9112, section 6.1).
  if (headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined) return false;
  return minorVersion === 1 ? !said.includes('close') : said.includes('keep-alive');
}

export function malformed(what: string): HttpError {
  return new HttpError('HTTP_MALFORMED', `The answer is not valid HTTP: ${what}.`);
}
