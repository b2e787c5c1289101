/**
 * Encrypts every payload before it leaves this process, with AES-256-GCM and one key for the whole fleet:
 * numbers, and the names of the places. The key file holds 64 hexadecimal digits.
 *
 * A payload is 12 bytes of nonce, the ciphertext and 16 bytes of tag. The ciphertext includes its metadata.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { DrayError } from '../../engine/api/error.ts';

export const PAYLOAD_ENCODING = 'binary/dray-aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createPayloadCodec(key: Uint8Array): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(key, payload)),
    decode: async (payloads) =>
      payloads.map((payload) => (isEncrypted(payload) ? decrypt(key, payload) : payload)),
  };
}

/** @throws `usage` */
export function parsePayloadKey(text: string, path: string): Uint8Array {
  const digits = text.trim();
  if (/^[0-9a-fA-F]{64}$/.test(digits)) return Buffer.from(digits, 'hex');
  throw new DrayError('usage', `${path} holds no key: it must be 64 hexadecimal digits.`, {
    advice: `Make one with: openssl rand -hex 32 > ${path}`,
  });
}

function isEncrypted({ metadata }: Payload): boolean {
  return Buffer.from(metadata?.encoding ?? []).toString() === PAYLOAD_ENCODING;
}

function encrypt(key: Uint8Array, { data, metadata }: Payload): Payload {
  const inside = JSON.stringify({
    metadata: Object.entries(metadata ?? {}).map(([name, value]) => [
      name,
      Buffer.from(value).toString('base64'),
    ]),
    data: Buffer.from(data ?? []).toString('base64'),
  });
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const text = Buffer.concat([cipher.update(inside, 'utf8'), cipher.final()]);
  return {
    metadata: { encoding: Buffer.from(PAYLOAD_ENCODING) },
    data: Buffer.concat([nonce, text, cipher.getAuthTag()]),
  };
}

function decrypt(key: Uint8Array, { data }: Payload): Payload {
  const bytes = Buffer.from(data ?? []);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    const inside: { readonly metadata: readonly (readonly [string, string])[]; readonly data: string } =
      JSON.parse(text.toString('utf8'));
    return {
      metadata: Object.fromEntries(
        inside.metadata.map(([name, value]) => [name, Buffer.from(value, 'base64')]),
      ),
      data: Buffer.from(inside.data, 'base64'),
    };
  } catch (cause) {
    throw new DrayError('usage', 'This payload was encrypted with another key.', { cause });
  }
}
