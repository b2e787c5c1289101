/**
 * The preview of a file: its text, its table, its picture, or its facts and first bytes. The extension
 * selects the formats to try; the signature in the first bytes decides.
 */
import { isUtf8 } from 'node:buffer';
import { extname } from 'node:path';
import {
  type BytesSource,
  type FileFacts,
  type FilePreview,
  MEDIA_BYTES_MAX,
} from '../../api/host/file-preview.ts';
import { formatCount } from '../../api/text/numbers.ts';
import { pixelsOf } from './image-size.ts';
import { mediaKindOf } from './media-kind.ts';
import { tablePreview } from './table-preview.ts';

export const TEXT_BYTES_MAX = 256 * 1024;
export const IMAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Each takes four bytes of the browser's memory. */
export const PIXELS_MAX = 100_000_000;
/** The bytes of a binary file that the hexadecimal view shows. */
const START_BYTES = 2048;
/** Holds every signature below. */
const SNIFFED_BYTES = 4096;

export interface PreviewSource {
  readonly name: string;
  readonly facts: FileFacts;
  /** The first bytes, or all if there are fewer. */
  read(maxBytes: number): Promise<Uint8Array>;
  /** `end` is exclusive, and at most the size. */
  readRange(start: number, end: number): Promise<Uint8Array>;
  readonly signal: AbortSignal;
  /** Where the window reads the file in ranges. */
  readonly source: BytesSource;
}

/** Signatures of pictures, with their offsets. */
const IMAGES: readonly { readonly mime: string; readonly at: number; readonly bytes: string }[] = [
  { mime: 'image/png', at: 0, bytes: '\x89PNG\r\n\x1a\n' },
  { mime: 'image/jpeg', at: 0, bytes: '\xff\xd8\xff' },
  { mime: 'image/gif', at: 0, bytes: 'GIF8' },
  { mime: 'image/webp', at: 8, bytes: 'WEBP' },
  { mime: 'image/avif', at: 4, bytes: 'ftypavif' },
  { mime: 'image/bmp', at: 0, bytes: 'BM' },
];
const IMAGE_NAMES = /^\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;

const LARGE_PICTURE = 'Only pictures of up to 4 MiB are shown.';

/** Files of these names are texts, so a person expects one. */
const TEXT_NAMES = /^\.(?:csv|tsv|tab|jsonl|ndjson|json|txt|md|log|xml|ya?ml)$/i;
const NO_TEXT = 'This is not text in UTF-8, nor in UTF-16 with its mark, so its first bytes are shown.';

const MEDIA_NAMES = /^\.(?:wav|flac|mp3|og[agvx]|opus|webm|weba|mkv|mp4|m4[abv]|mov)$/i;
const PARQUET_NAMES = /^\.(?:parquet|pq)$/i;

export async function previewFile(source: PreviewSource): Promise<FilePreview> {
  const { facts, name, read } = source;
  if (PARQUET_NAMES.test(extname(name)) && facts.sizeBytes > 0) return previewTable(source);
  if (MEDIA_NAMES.test(extname(name))) {
    const media = await previewMedia(source);
    if (media) return media;
  }
  const isPerhapsImage = IMAGE_NAMES.test(extname(name));
  const isSmall = facts.sizeBytes <= IMAGE_BYTES_MAX;
  const bytes = await read(isPerhapsImage && isSmall ? IMAGE_BYTES_MAX : TEXT_BYTES_MAX);
  const mime = isPerhapsImage ? imageOf(bytes) : undefined;
  if (mime && isSmall) return previewImage(mime, Buffer.from(bytes), facts);
  const text = textOf(bytes.subarray(0, TEXT_BYTES_MAX), source);
  if (text === undefined) {
    const start = Buffer.from(bytes.subarray(0, START_BYTES)).toString('base64');
    const why = mime ? LARGE_PICTURE : TEXT_NAMES.test(extname(name)) ? NO_TEXT : undefined;
    return { as: 'facts', facts, start, ...(why === undefined ? {} : { why }) };
  }
  const isCut = facts.sizeBytes > TEXT_BYTES_MAX;
  const table = tablePreview(name, text, isCut);
  return { as: 'text', text, isCut, facts, ...(table && { table }) };
}

async function previewTable({ facts, read, readRange, signal }: PreviewSource): Promise<FilePreview> {
  const { previewParquet } = await import('./parquet/preview-parquet.ts');
  const source = { sizeBytes: facts.sizeBytes, read: readRange };
  const outcome = await previewParquet(source, { signal });
  if ('table' in outcome) return { as: 'table', table: outcome.table, facts };
  const start = Buffer.from(await read(START_BYTES)).toString('base64');
  return { as: 'facts', facts, start, why: `This Parquet file cannot be shown as a table: ${outcome.why}.` };
}

/** Undefined if the first bytes are no audio or video. */
async function previewMedia({ facts, name, read, source }: PreviewSource) {
  const bytes = await read(SNIFFED_BYTES);
  const kind = mediaKindOf(name, bytes);
  if (!kind) return undefined;
  if (facts.sizeBytes <= MEDIA_BYTES_MAX) return { as: 'media', ...kind, facts, source } as const;
  const start = Buffer.from(bytes.subarray(0, START_BYTES)).toString('base64');
  const why = 'Only audio and video of up to 128 MiB are played.';
  return { as: 'facts', facts, start, why } as const;
}

/** A picture that hides its size is shown: a browser reads the same head, and finds none either. */
function previewImage(mime: string, bytes: Buffer, facts: FileFacts): FilePreview {
  const pixels = pixelsOf(mime, bytes) ?? 0;
  if (pixels <= PIXELS_MAX) return { as: 'image', mime, base64: bytes.toString('base64'), facts };
  const start = bytes.subarray(0, START_BYTES).toString('base64');
  const most = `Only pictures of up to ${PIXELS_MAX / 1e6} million pixels are shown.`;
  return { as: 'facts', facts, start, why: `${most} This one claims ${formatCount(pixels)}.` };
}

function imageOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, SNIFFED_BYTES)).toString('latin1');
  return IMAGES.find(({ at, bytes: signature }) => start.startsWith(signature, at))?.mime;
}

/** Undefined if it is neither UTF-8 nor, with its mark, UTF-16. A cut text may end inside a character. */
function textOf(bytes: Uint8Array, { facts: { sizeBytes }, name }: PreviewSource): string | undefined {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex');
  // The frames of MP3 begin with such bytes too.
  if ((mark === 'fffe' || mark === 'feff') && !MEDIA_NAMES.test(extname(name)))
    return wideTextOf(bytes, mark === 'fffe' ? 'utf-16le' : 'utf-16be', bytes.length < sizeBytes);
  if (bytes.includes(0)) return undefined;
  const cut = bytes.length < sizeBytes ? bytes.subarray(0, wholeCharacters(bytes)) : bytes;
  return isUtf8(cut) ? Buffer.from(cut).toString('utf8') : undefined;
}

/** What Excel and PowerShell write. */
function wideTextOf(
  bytes: Uint8Array,
  encoding: 'utf-16le' | 'utf-16be',
  isCut: boolean,
): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The end of the last complete character. */
function wholeCharacters(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > 0 && bytes.length - start < 4 && (bytes[start]! & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return start + length > bytes.length ? start : bytes.length;
}
