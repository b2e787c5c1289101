/** Seals content and opens it (`sealed-form.ts`). Nothing is returned that was not authenticated. */
import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv, randomBytes } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import {
  FRAME_BYTES,
  FRAME_EXTRA_BYTES,
  frameCount,
  frameStart,
  HEAD_BYTES,
  NONCE_BYTES,
  paddedBytes,
  SEAL_MAGIC,
  SIZE_BYTES,
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

/** @param nonce As for `createSealer` */
export function sealBytes(cipherKey: Uint8Array, content: Uint8Array, nonce?: Uint8Array): Uint8Array {
  const padded = paddedBytes(content.length);
  const stored = Buffer.allocUnsafeSlow(sealedBytesOf(padded));
  const sealer = createSealer(cipherKey, content.length, nonce);
  stored.set(sealer.head(), 0);
  for (let frame = 0; frame < frameCount(padded); frame += 1) {
    sealer.frame(frame, paddedFrame(content, frame, padded), stored.subarray(frameStart(frame)));
  }
  return stored;
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
export function openHead(cipherKey: Uint8Array, key: RemoteKey, stored: Uint8Array): OpenedHead {
  if (stored.length < HEAD_BYTES) throw unsealable(key, 'it is truncated');
  if (!hasSealMagic(stored)) throw unsealable(key, 'it is not encrypted, as everything here has to be');
  const nonce = stored.subarray(SEAL_MAGIC.length, SEAL_MAGIC.length + NONCE_BYTES);
  const sealed = stored.subarray(SEAL_MAGIC.length + NONCE_BYTES, HEAD_BYTES);
  const size = openPart(cipherKey, key, numbered(nonce, 0), sealed);
  const sizeBytes = Number(Buffer.from(size).readBigUInt64BE());
  return { nonce: Uint8Array.from(nonce), sizeBytes };
}

/**
 * Opens a stored frame.
 * @param nonce That of the head or of the frame before; undefined: the frame's own
 * @throws `damaged`
 */
export function openFrame(
  cipherKey: Uint8Array,
  key: RemoteKey,
  frame: number,
  stored: Uint8Array,
  nonce?: Uint8Array,
): Uint8Array {
  if (stored.length <= FRAME_EXTRA_BYTES) throw unsealable(key, 'it is truncated');
  const own = stored.subarray(0, NONCE_BYTES);
  if (nonce && Buffer.compare(own, nonce) !== 0)
    throw unsealable(key, 'parts of it are of another version, so somebody put them together');
  return openPart(cipherKey, key, numbered(own, frame + 1), stored.subarray(NONCE_BYTES));
}

/** All of an object. @throws `damaged` */
export function openBytes(
  cipherKey: Uint8Array,
  key: RemoteKey,
  stored: Uint8Array,
  into?: Uint8Array,
): Uint8Array {
  const { nonce, sizeBytes } = openHead(cipherKey, key, stored);
  const padded = paddedBytes(sizeBytes);
  if (stored.length !== sealedBytesOf(padded))
    throw unsealable(key, stored.length < sealedBytesOf(padded) ? 'it is truncated' : 'bytes follow its end');
  const content = into && into.length >= sizeBytes ? into.subarray(0, sizeBytes) : new Uint8Array(sizeBytes);
  for (let frame = 0; frame < frameCount(padded); frame += 1) {
    const part = stored.subarray(frameStart(frame), Math.min(stored.length, frameStart(frame + 1)));
    const start = frame * FRAME_BYTES;
    const opened = openFrame(cipherKey, key, frame, part, nonce);
    if (start < sizeBytes) content.set(opened.subarray(0, sizeBytes - start), start);
  }
  return content;
}

export function hasSealMagic(stored: Uint8Array): boolean {
  return SEAL_MAGIC.every((byte, at) => stored[at] === byte);
}

function openPart(cipherKey: Uint8Array, key: RemoteKey, nonce: Uint8Array, sealed: Uint8Array): Uint8Array {
  const decipher = createDecipheriv(CIPHER, cipherKey, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const content = Buffer.allocUnsafeSlow(sealed.length - TAG_BYTES);
  transform(decipher, sealed.subarray(0, content.length), content);
  try {
    decipher.final();
  } catch (cause) {
    throw unsealable(key, "it was changed, or is another object's content", cause);
  }
  return content;
}

/** A cipher gives each piece new memory. Small pieces reuse what is in the processor's cache. */
const PIECE_BYTES = 16 * 1024;

function transform(cipher: Cipheriv | Decipheriv, bytes: Uint8Array, into: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    into.set(cipher.update(bytes.subarray(at, at + PIECE_BYTES)), at);
}

/** The nonce of the part with this number: exclusive or, as in TLS 1.3 (RFC 8446, section 5.3). */
function numbered(nonce: Uint8Array, counter: number): Uint8Array {
  const result = Buffer.from(nonce);
  const at = NONCE_BYTES - Uint32Array.BYTES_PER_ELEMENT;
  result.writeUInt32BE((result.readUInt32BE(at) ^ counter) >>> 0, at);
  return result;
}

function unsealable(key: RemoteKey, why: string, cause?: unknown): DrayError {
  return new DrayError('damaged', `${key} cannot be authenticated: ${why}.`, {
    data: { key, reason: 'unauthentic' },
    cause,
  });
}
