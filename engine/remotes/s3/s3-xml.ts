/** The answers of S3 that the lean client reads, by the names of their elements. Tolerant: unknown elements are skipped. */
import { DrayError } from '../../api/error.ts';

export interface ErrorBody {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly region: string | undefined;
}

export function parseErrorBody(bytes: Uint8Array): ErrorBody {
  const xml = bytes.byteLength === 0 ? '' : new TextDecoder().decode(bytes);
  return { code: textOf(xml, 'Code'), message: textOf(xml, 'Message'), region: textOf(xml, 'Region') };
}

/**
 * The document of a success. CompleteMultipartUpload, CopyObject and UploadPartCopy begin their answer before the work is done:
 * status 200, then white space that keeps the connection open, then the result, or an error.
 * @returns The error's fields in place of the result.
 * @throws `remoteFailed` (retryable) for a document of another kind, or none.
 */
export function readResult(
  bytes: Uint8Array,
  rootName: string,
): { readonly xml: string; readonly error?: never } | { readonly error: ErrorBody } {
  const xml = new TextDecoder().decode(bytes);
  const found = /^\s*(?:<\?[^>]*\?>\s*)?<([\w:-]+)/.exec(xml)?.[1];
  // MinIO writes the name of one result with a small letter.
  if (found?.toLowerCase() === rootName.toLowerCase()) return { xml };
  if (found === 'Error') return { error: parseErrorBody(bytes) };
  throw new DrayError('remoteFailed', `The store answered with ${found ?? 'nothing'}, not ${rootName}.`, {
    retry: 'retry',
    data: { expected: rootName },
  });
}

export function unquote(etag: string): string {
  return etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}

/** 0 for what is no time. */
export function timeOf(text: string | undefined): number {
  return Date.parse(text ?? '') || 0;
}

export function keyDecoderOf(xml: string): (text: string) => string {
  return textOf(xml, 'EncodingType') === 'url' ? decodeFormUrl : (text) => text;
}

/** The contents of each element of the name, at any depth but not inside one another. */
export function* elementsOf(xml: string, name: string): Generator<string> {
  const open = `<${name}>`;
  const close = `</${name}>`;
  for (let at = xml.indexOf(open); at >= 0; ) {
    const end = xml.indexOf(close, at);
    if (end < 0) return;
    yield xml.slice(at + open.length, end);
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

export function unescapeXml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (decimal) return String.fromCodePoint(Number(decimal));
      return ENTITIES[name ?? ''] ?? whole;
    },
  );
}

/** `encoding-type=url` is the encoding of forms: a plus is a space. */
function decodeFormUrl(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  return decodeURIComponent(text.replaceAll('+', ' '));
}
