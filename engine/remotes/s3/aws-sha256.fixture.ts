import { createHash } from 'node:crypto';

/** In the shape that AWS's signer wants. An HMAC is written out from its definition (RFC 2104). */
export class Sha256 {
  readonly #parts: Uint8Array[] = [];
  readonly #key: Uint8Array | undefined;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#key = secret === undefined ? undefined : bytesOf(secret);
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#parts.push(bytesOf(data));
  }
  async digest(): Promise<Uint8Array> {
    const message = Buffer.concat(this.#parts);
    if (!this.#key) return digestOf(message);
    const block = Buffer.alloc(64);
    block.set(this.#key.byteLength > 64 ? digestOf(this.#key) : this.#key);
    const inner = digestOf(
      block.map((byte) => byte ^ 0x36),
      message,
    );
    return digestOf(
      block.map((byte) => byte ^ 0x5c),
      inner,
    );
  }
  reset(): void {
    this.#parts.length = 0;
  }
}

function digestOf(...parts: readonly Uint8Array[]): Uint8Array {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
