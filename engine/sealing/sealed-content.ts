/** Seals content and opens it (`sealed-form.ts`). Nothing is returned that was not authenticated. */
import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DrayError } from '../api/error.ts';
import {
  type Extent,
  FRAME_BYTES,
  FRAME_EXTRA_BYTES,
  frameCount,
  frameStart,
  framesAround,
  HEAD_BYTES,
  NONCE_BYTES,
  paddedBytes,
  paddedOf,
  SEAL_MAGIC,
  SIZE_BYTES,
  STORED_FRAME_BYTES,
  sealedBytesOf,
  TAG_BYTES,
} from './sealed-form.ts';

const CIPHER = 'aes-256-gcm';

export interface Sealer {
  /** The stored bytes before the first frame. */
  head(): Uint8Array;
  /** Writes frame `frame` of the content into `into`, which has room for it. Returns the bytes written. */
  frame(frame: number, content: Uint8Array, into: Uint8Array): number;
}

/**
 * Seals one write of one object.
 * @param nonce Never the same twice for one object; given by tests only
 */
export function createSealer(
  cipherKey: Uint8Array,
  sizeBytes: number,
  nonce: Uint8Array = randomBytes(NONCE_BYTES),
): Sealer {
  const seal = (counter: number, content: Uint8Array, into: Uint8Array) => {
    const cipher = createCipheriv(CIPHER, cipherKey, numbered(nonce, counter));
    transform(cipher, content, into);
    cipher.final();
    into.set(cipher.getAuthTag(), content.length);
    return content.length + TAG_BYTES;
  };
  return {
    head() {
      const head = Buffer.alloc(HEAD_BYTES);
      head.set(SEAL_MAGIC, 0);
      head.set(nonce, SEAL_MAGIC.length);
      const size = Buffer.alloc(SIZE_BYTES);
      size.writeBigUInt64BE(BigInt(sizeBytes));
      seal(0, size, head.subarray(SEAL_MAGIC.length + NONCE_BYTES));
      return head;
    },
    frame(frame, content, into) {
      into.set(nonce, 0);
      return NONCE_BYTES + seal(frame + 1, content, into.subarray(NONCE_BYTES));
    },
  };
}

export interface SealedBytes {
  readonly bytes: Uint8Array;
  /** CRC-32 of the bytes. */
  readonly sum: number;
}

/**
 * @param into Memory of the sealed content's size
 * @param nonce As for `createSealer`
 */
export function sealBytes(
  cipherKey: Uint8Array,
  content: Uint8Array,
  into: Uint8Array = new Uint8Array(sealedBytesOf(paddedBytes(content.length))),
  nonce?: Uint8Array,
): SealedBytes {
  const padded = paddedBytes(content.length);
  const sealer = createSealer(cipherKey, content.length, nonce);
  into.set(sealer.head(), 0);
  let sum = crc32(into.subarray(0, HEAD_BYTES));
  for (let frame = 0; frame < frameCount(padded); frame += 1) {
    const stored = into.subarray(frameStart(frame), frameStart(frame + 1));
    const length = sealer.frame(frame, paddedFrame(content, frame, padded), stored);
    // While it is in the processor's cache: a pass of its own takes twice as long.
    sum = crc32(stored.subarray(0, length), sum);
  }
  return { bytes: into, sum };
}

/** Frame `frame` of the content and its padding. */
function paddedFrame(content: Uint8Array, frame: number, padded: number): Uint8Array {
  const start = frame * FRAME_BYTES;
  const end = Math.min(padded, start + FRAME_BYTES);
  if (end <= content.length) return content.subarray(start, end);
  const filled = new Uint8Array(end - start);
  filled.set(content.subarray(Math.min(start, content.length)));
  return filled;
}

export interface OpenedHead {
  readonly nonce: Uint8Array;
  readonly sizeBytes: number;
}

/** @throws `damaged` */
export function openHead(object: Authentic, stored: Uint8Array): OpenedHead {
  const { key } = object;
  if (stored.length < HEAD_BYTES) throw unsealable(key, 'it is truncated');
  if (!hasSealMagic(stored)) throw unsealable(key, 'it is not encrypted, as everything here has to be');
  const nonce = stored.subarray(SEAL_MAGIC.length, SEAL_MAGIC.length + NONCE_BYTES);
  const sealed = stored.subarray(SEAL_MAGIC.length + NONCE_BYTES, HEAD_BYTES);
  const size = openPart(object, numbered(nonce, 0), sealed);
  const sizeBytes = Number(Buffer.from(size).readBigUInt64BE());
  return { nonce: Uint8Array.from(nonce), sizeBytes };
}

interface SealedFrame {
  readonly frame: number;
  readonly stored: Uint8Array;
  readonly nonce?: Uint8Array;
}

/**
 * Opens a stored frame.
 * @param nonce That of the head or of the frame before; undefined: the frame's own
 * @param into Memory for its content. What exceeds it is authenticated and dropped. Absent: new memory
 * @throws `damaged`
 */
export function openFrame(object: Authentic, part: SealedFrame, into?: Uint8Array): Uint8Array {
  return openPart(object, nonceOf(object, part), part.stored.subarray(NONCE_BYTES), into);
}

function nonceOf({ key }: Authentic, { frame, nonce, stored }: SealedFrame): Uint8Array {
  if (stored.length <= FRAME_EXTRA_BYTES) throw unsealable(key, 'it is truncated');
  const own = stored.subarray(0, NONCE_BYTES);
  if (nonce && Buffer.compare(own, nonce) !== 0)
    throw unsealable(key, 'parts of it are of another version, so somebody put them together');
  return numbered(own, frame + 1);
}

/** One object's key for people, and the key of its content. */
export interface Authentic {
  readonly key: string;
  readonly cipherKey: Uint8Array;
}

export interface OpenedContent {
  readonly content: Uint8Array;
  /** Of the whole object; behind the first frame it is that of the padded content. */
  readonly sizeBytes: number;
}

/**
 * All of an object.
 * @param into Memory for its content, which may begin where `stored` does
 * @throws `damaged`
 */
export function openBytes(object: Authentic, stored: Uint8Array, into?: Uint8Array): OpenedContent {
  const { nonce, sizeBytes } = openHead(object, stored);
  checkStoredSize(object.key, sizeBytes, stored.length);
  const content = into && into.length >= sizeBytes ? into.subarray(0, sizeBytes) : new Uint8Array(sizeBytes);
  openFrames(object, { first: 0, stored: stored.subarray(HEAD_BYTES), nonce }, content);
  return { content, sizeBytes };
}

/**
 * All of an object, piece by piece in order. No piece is given before its frame is authenticated.
 * @param use Has the memory of its piece until it returns
 * @throws `damaged`, also after some pieces
 */
export function openPieces(
  object: Authentic,
  stored: Uint8Array,
  use: (piece: Uint8Array, offset: number) => void,
): void {
  const { nonce, sizeBytes } = openHead(object, stored);
  checkStoredSize(object.key, sizeBytes, stored.length);
  let offset = 0;
  for (let frame = 0; frame < frameCount(paddedBytes(sizeBytes)); frame += 1) {
    const part = { frame, nonce, stored: stored.subarray(frameStart(frame), frameStart(frame + 1)) };
    const pieces = openFramePieces(object, part);
    for (const piece of pieces) {
      if (offset < sizeBytes) use(piece.subarray(0, sizeBytes - offset), offset);
      offset += piece.length;
      free(piece);
    }
  }
}

function openFramePieces(object: Authentic, part: SealedFrame): readonly Buffer<ArrayBuffer>[] {
  const sealed = part.stored.subarray(NONCE_BYTES);
  const { decipher, encrypted } = startOpening(object, nonceOf(object, part), sealed);
  const pieces = [];
  for (let at = 0; at < encrypted.length; at += PIECE_BYTES)
    pieces.push(decipher.update(encrypted.subarray(at, at + PIECE_BYTES)));
  checkTag(object, decipher);
  return pieces;
}

/**
 * A range of an object, from the stored frames around it (`framesAround`).
 * @param objectBytes The object's size on the store
 * @param into As for `openBytes`
 * @throws `damaged`
 */
export function openSealedRange(
  object: Authentic,
  stored: Uint8Array,
  { end, objectBytes, start }: Extent & { readonly objectBytes: number },
  into?: Uint8Array,
): OpenedContent {
  const { key } = object;
  const { first } = framesAround({ start, end });
  const head = first === 0 ? openHead(object, stored) : undefined;
  if (head) checkStoredSize(key, head.sizeBytes, objectBytes);
  const sizeBytes = head?.sizeBytes ?? paddedOf(objectBytes);
  if (sizeBytes === undefined) throw unsealable(key, 'it is truncated');
  if (start >= sizeBytes)
    throw new DrayError('damaged', `${key} has ${sizeBytes} bytes; none from ${start} on.`, {
      data: { key },
    });
  const skipped = first * FRAME_BYTES;
  const length = Math.min(end, sizeBytes) - skipped;
  const opened = into && into.length >= length ? into.subarray(0, length) : new Uint8Array(length);
  const frames = head ? stored.subarray(HEAD_BYTES) : stored;
  openFrames(object, { first, stored: frames, ...(head && { nonce: head.nonce }) }, opened);
  return { content: opened.subarray(start - skipped), sizeBytes };
}

/** Opens frames one after another. In place, since each moves towards the start of the memory. */
function openFrames(
  object: Authentic,
  {
    first,
    nonce,
    stored,
  }: { readonly first: number; readonly stored: Uint8Array; readonly nonce?: Uint8Array },
  into: Uint8Array,
): void {
  // A copy: the memory of the first one may be that of the content.
  const expected = nonce ?? stored.slice(0, NONCE_BYTES);
  const frames = Math.ceil(stored.length / STORED_FRAME_BYTES);
  if (stored.length - frames * FRAME_EXTRA_BYTES < into.length)
    throw unsealable(object.key, 'it is truncated');
  for (let at = 0, offset = 0; at < stored.length; at += STORED_FRAME_BYTES, offset += FRAME_BYTES) {
    const part = stored.subarray(at, at + STORED_FRAME_BYTES);
    const frame = first + offset / FRAME_BYTES;
    openFrame(object, { frame, stored: part, nonce: expected }, into.subarray(offset, offset + FRAME_BYTES));
  }
}

/** A cut end is found without reading it. @throws `damaged` */
export function checkStoredSize(key: string, sizeBytes: number, storedBytes: number): void {
  const wanted = sealedBytesOf(paddedBytes(sizeBytes));
  if (storedBytes < wanted)
    throw unsealable(
      key,
      `it is truncated: ${storedBytes} bytes are stored of the ${wanted} that were written`,
    );
  if (storedBytes > wanted) throw unsealable(key, 'bytes follow its end');
}

export function hasSealMagic(stored: Uint8Array): boolean {
  return SEAL_MAGIC.every((byte, at) => stored[at] === byte);
}

function openPart(
  object: Authentic,
  nonce: Uint8Array,
  sealed: Uint8Array,
  into: Uint8Array = new Uint8Array(sealed.length - TAG_BYTES),
): Uint8Array {
  const { decipher, encrypted } = startOpening(object, nonce, sealed);
  transform(decipher, encrypted, into);
  checkTag(object, decipher);
  return into;
}

function startOpening({ cipherKey }: Authentic, nonce: Uint8Array, sealed: Uint8Array) {
  const decipher = createDecipheriv(CIPHER, cipherKey, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  return { decipher, encrypted: sealed.subarray(0, sealed.length - TAG_BYTES) };
}

function checkTag({ key }: Authentic, decipher: Decipheriv): void {
  try {
    decipher.final();
  } catch (cause) {
    throw unsealable(key, "it was changed, or is another object's content", cause);
  }
}

const PIECE_BYTES = 64 * 1024;

/** `into` may begin before `bytes` in the same memory, and be shorter. */
function transform(cipher: Cipheriv | Decipheriv, bytes: Uint8Array, into: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = cipher.update(bytes.subarray(at, at + PIECE_BYTES));
    if (at < into.length) into.set(piece.subarray(0, into.length - at), at);
    free(piece);
  }
}

/**
 * Each piece is new memory. Freed at once, the next one gets it while it is in the processor's cache; left to
 * the collector, a GB takes two thirds more time.
 */
function free({ buffer, length }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength === length) buffer.transfer(0);
}

/** The nonce of the part with this number: exclusive or, as in TLS 1.3 (RFC 8446, section 5.3). */
function numbered(nonce: Uint8Array, counter: number): Uint8Array {
  const result = Buffer.from(nonce);
  const at = NONCE_BYTES - Uint32Array.BYTES_PER_ELEMENT;
  result.writeUInt32BE((result.readUInt32BE(at) ^ counter) >>> 0, at);
  return result;
}

function unsealable(key: string, why: string, cause?: unknown): DrayError {
  return new DrayError('damaged', `${key} cannot be authenticated: ${why}.`, {
    data: { key, reason: 'unauthentic' },
    cause,
  });
}
