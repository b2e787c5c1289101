/** Shared parts of the contract suite: awkward keys, bytes, sources, and the reading of outcomes. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { DrayError, type ErrorCode } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { ListPage, ListRequest, ObjectStore, PutOutcome } from '../object-store.ts';

export const MIB = 1024 * 1024;
/** S3's minimum size of every part but the last. */
export const PART_BYTES = 5 * MIB;

/** Names that a careless encoder of URLs, XML or forms gets wrong. */
export const AWKWARD_KEYS = [
  'a space',
  'plus+sign',
  'percent%20literal',
  'percent%',
  'question?mark=1',
  'hash#fragment',
  'and&amp;entity',
  'equals=sign',
  'quote"double',
  "quote'single",
  'less<greater>',
  'star*bang!tilde~',
  'round(brackets)[square]{curly}',
  'semi;colon:comma,at@dollar$',
  'back`tick^caret|pipe',
  'trailing space ',
  'Gr\u00fc\u00dfe/\u65e5\u672c\u8a9e.txt',
  'emoji-\u{1F600}',
  'full-width-\uff5e',
];

/**
 * Their order in UTF-8 bytes differs from UTF-16 order, from locale order, and from a walk folder by folder.
 */
export const ORDER_KEYS = [
  'A',
  'Z/inside',
  'a.txt',
  'a/inside',
  'a/inside2',
  'a0',
  'a\u0301',
  'b b',
  'b-b/c',
  'b/c',
  'b+',
  'z',
  '\u00e9',
  '\uff5e',
  '\u{1F600}',
].sort(comparePaths);

export function written(outcome: PutOutcome): string {
  expect(outcome.written).toBe(true);
  return outcome.written ? outcome.etag : '';
}

export async function expectCode(code: ErrorCode, call: Promise<unknown>, note = ''): Promise<void> {
  const outcome = await call.then(
    () => 'no error',
    (error: unknown) => (error instanceof DrayError ? error.code : error),
  );
  expect(outcome, note).toBe(code);
}

export function race(writers: number, write: (writer: number) => Promise<PutOutcome>): Promise<PutOutcome[]> {
  return Promise.all(Array.from({ length: writers }, (_, writer) => writeUntilDecided(() => write(writer))));
}

/**
 * A store may answer a race with "try again" (S3: 409 ConditionalRequestConflict), so this retries like the
 * retry wrapper.
 */
async function writeUntilDecided(write: () => Promise<PutOutcome>): Promise<PutOutcome> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof DrayError) || error.retry === 'no' || attempt === 20) throw error;
    }
  }
}

export async function listAll(store: ObjectStore, request: ListRequest) {
  const pages: ListPage[] = [];
  let next: ListRequest | undefined = request;
  while (next) {
    const page = await store.list(next);
    pages.push(page);
    const { startAfter: _, ...rest } = request;
    next = page.continuation === undefined ? undefined : { ...rest, continuation: page.continuation };
    expect(pages.length).toBeLessThan(1000);
  }
  return {
    pages,
    keys: pages.flatMap((page) => page.objects.map((object) => object.key)),
    folders: pages.flatMap((page) => [...page.folders]),
  };
}

export async function readText(store: ObjectStore, key: string): Promise<string | undefined> {
  const read = await store.read(key, { maxBytes: MIB });
  return read && decode(read.bytes);
}

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const same = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0;

/** Bytes that look random and are the same on every run (xorshift32). */
export function noise(sizeBytes: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4));
  let state = (seed + 1) * 0x9e3779b9;
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[at] = state;
  }
  return new Uint8Array(words.buffer, 0, sizeBytes);
}

export async function* pieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

export async function* streamOf(values: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* values;
}

export async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}
