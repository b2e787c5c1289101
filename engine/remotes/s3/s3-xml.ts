/** The two XML answers that hot calls meet: a page of a list, and an error. Tolerant: unknown elements are skipped. */
import type { ListedObject } from '../object-store.ts';

export interface RawListPage {
  /** Full keys, with the remote's prefix. */
  readonly objects: readonly ListedObject[];
  readonly folders: readonly string[];
  readonly continuation: string | undefined;
}

/** Answer to ListObjectsV2. Keys are decoded if the store says that it obeyed `encoding-type=url`. */
export function parseListPage(xml: string): RawListPage {
  const decodeKey = textOf(xml, 'EncodingType') === 'url' ? decodeFormUrl : (text: string) => text;
  const objects: ListedObject[] = [];
  for (const element of elementsOf(xml, 'Contents')) {
    objects.push({
      key: decodeKey(textOf(element, 'Key') ?? ''),
      sizeBytes: Number(textOf(element, 'Size') ?? 0),
      etag: unquote(textOf(element, 'ETag') ?? ''),
      modifiedMs: Date.parse(textOf(element, 'LastModified') ?? '') || 0,
      ...storageClassOf(element),
    });
  }
  const folders: string[] = [];
  for (const element of elementsOf(xml, 'CommonPrefixes'))
    folders.push(decodeKey(textOf(element, 'Prefix') ?? ''));
  const isTruncated = textOf(xml, 'IsTruncated') === 'true';
  return { objects, folders, continuation: isTruncated ? textOf(xml, 'NextContinuationToken') : undefined };
}

function storageClassOf(element: string): Pick<ListedObject, 'storageClass'> {
  const storageClass = textOf(element, 'StorageClass');
  return storageClass ? { storageClass } : {};
}

export interface ErrorBody {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly region: string | undefined;
}

export function parseErrorBody(bytes: Uint8Array): ErrorBody {
  const xml = bytes.byteLength === 0 ? '' : new TextDecoder().decode(bytes);
  return { code: textOf(xml, 'Code'), message: textOf(xml, 'Message'), region: textOf(xml, 'Region') };
}

export function unquote(etag: string): string {
  return etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}

function* elementsOf(xml: string, name: string): Generator<string> {
  const open = `<${name}>`;
  const close = `</${name}>`;
  for (let at = xml.indexOf(open); at >= 0; ) {
    const end = xml.indexOf(close, at);
    if (end < 0) return;
    yield xml.slice(at + open.length, end);
    at = xml.indexOf(open, end);
  }
}

function textOf(xml: string, name: string): string | undefined {
  const open = `<${name}>`;
  const start = xml.indexOf(open);
  if (start < 0) return undefined;
  const end = xml.indexOf(`</${name}>`, start);
  return end < 0 ? undefined : unescapeXml(xml.slice(start + open.length, end));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
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
