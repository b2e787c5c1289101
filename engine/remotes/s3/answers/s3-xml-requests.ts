/** The XML of requests, and what XML cannot hold. */
import type { PartInfo } from '../../object-store.ts';
import { completedParts } from '../calls/completed-parts.ts';
import { base64OfCrc32, base64OfCrc64 } from '../s3-values.ts';

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** The body of CompleteMultipartUpload. @param parts In any order. */
export function completionXml(parts: readonly PartInfo[]): Uint8Array {
  const elements = completedParts(parts).map(partXml);
  return encode(
    `<CompleteMultipartUpload xmlns="${NAMESPACE}">${elements.join('')}</CompleteMultipartUpload>`,
  );
}

/** The body of DeleteObjects: the answer names what was removed, and what was not. @param keys In full. */
export function removalXml(keys: readonly string[]): Uint8Array {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
  return encode(`<Delete xmlns="${NAMESPACE}">${objects.join('')}<Quiet>false</Quiet></Delete>`);
}

function partXml({ number, etag, sha256, crc32, crc64nvme }: PartInfo): string {
  const fields = [
    `<PartNumber>${number}</PartNumber>`,
    `<ETag>${escapeXml(`"${etag}"`)}</ETag>`,
    sha256 === undefined ? '' : `<ChecksumSHA256>${escapeXml(sha256)}</ChecksumSHA256>`,
    crc32 === undefined ? '' : `<ChecksumCRC32>${base64OfCrc32(crc32)}</ChecksumCRC32>`,
    crc64nvme === undefined ? '' : `<ChecksumCRC64NVME>${base64OfCrc64(crc64nvme)}</ChecksumCRC64NVME>`,
  ];
  return `<Part>${fields.join('')}</Part>`;
}

/** XML 1.0 has no way to write most control characters, not even as numbers; S3 takes keys that hold them. */
export function isWritableInXml(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold.
  return text.isWellFormed() && !/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text);
}

/** Line ends and tabs as numbers: a parser may change them otherwise. */
function escapeXml(text: string): string {
  return text.replace(/[&<>"'\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}

function encode(xml: string): Uint8Array {
  return new TextEncoder().encode(xml);
}
