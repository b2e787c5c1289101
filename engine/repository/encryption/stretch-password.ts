/**
 * Argon2id (RFC 9106) of a password: by Node, off this thread and in half of the time, or by WebAssembly
 * where Node (before 24.7) or its library (Electron's) does not have it.
 */
import * as crypto from 'node:crypto';
import { promisify } from 'node:util';

export interface Argon2Settings {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly lanes: number;
}

/** @param salt 16 bytes in hexadecimal digits */
type Stretch = (
  password: string,
  settings: Argon2Settings & { readonly salt: string },
) => Promise<Uint8Array>;

const HASH_BYTES = 32;

export const stretchPassword: Stretch = async (password, settings) =>
  (await stretchByNode(password, settings)) ?? stretchByWasm(password, settings);

/** Undefined where it is missing. */
export async function stretchByNode(
  password: string,
  { lanes, memoryKiB, passes, salt }: Parameters<Stretch>[1],
): Promise<Uint8Array | undefined> {
  if (!('argon2' in crypto)) return undefined;
  try {
    return await promisify(crypto.argon2)('argon2id', {
      message: bytesOf(password),
      nonce: Buffer.from(salt, 'hex'),
      passes,
      parallelism: lanes,
      memory: memoryKiB,
      tagLength: HASH_BYTES,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_CRYPTO_ARGON2_NOT_SUPPORTED') return undefined;
    throw error;
  }
}

export const stretchByWasm: Stretch = async (password, { lanes, memoryKiB, passes, salt }) => {
  const { argon2id } = await import('hash-wasm');
  return argon2id({
    password: bytesOf(password),
    salt: Buffer.from(salt, 'hex'),
    iterations: passes,
    parallelism: lanes,
    memorySize: memoryKiB,
    hashLength: HASH_BYTES,
    outputType: 'binary',
  });
};

function bytesOf(password: string): Uint8Array {
  return Buffer.from(password.normalize('NFC'));
}
