/** Running sums over content that arrives in order, for each kind of sum that a store can keep. */
import { crc32 } from 'node:zlib';
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';
import { type OpenDigest, openDigest, type RunningDigest } from '../download/digest-threads.ts';
import { multipartEtag, type ObjectSum } from './object-sums.ts';

export interface ContentHasher {
  /** The next bytes. They must not change before it resolves. */
  update(bytes: Uint8Array): void | Promise<void>;
  /** Whether the bytes so far are the content of the sum. Call it once. */
  matches(): boolean | Promise<boolean>;
}

export interface HasherOptions {
  /** The size of all parts but the last, for `md5OfParts`. */
  readonly partBytes?: number;
  /** Computes digests; default: in this thread. */
  readonly open?: OpenDigest;
}

/** CRC64NVME only after `loadCrc64`. */
export function createContentHasher(
  sum: ObjectSum,
  { open = openDigest, partBytes = 0 }: HasherOptions = {},
): ContentHasher {
  switch (sum.by) {
    case 'sha256':
      return digestHasher(open('sha256'), 'base64', sum.value);
    case 'md5':
      return digestHasher(open('md5'), 'hex', sum.value);
    case 'md5OfParts':
      return partsHasher(sum.value, partBytes, open);
    case 'crc64nvme':
      return runningHasher(0n, crc64Nvme, sum.value);
    case 'crc32':
      return runningHasher(0, crc32, sum.value);
  }
}

function digestHasher(running: RunningDigest, encoding: 'base64' | 'hex', wanted: string): ContentHasher {
  return {
    update: (bytes) => running.update(bytes),
    matches: async () => Buffer.from(await running.end()).toString(encoding) === wanted,
  };
}

function runningHasher<T>(start: T, add: (bytes: Uint8Array, previous: T) => T, wanted: T): ContentHasher {
  let value = start;
  return {
    update(bytes) {
      value = add(bytes, value);
    },
    matches: () => value === wanted,
  };
}

function partsHasher(etag: string, partBytes: number, open: OpenDigest): ContentHasher {
  const parts: Uint8Array[] = [];
  let running = open('md5');
  let filled = 0;
  const endPart = async () => {
    parts.push(await running.end());
    filled = 0;
  };
  return {
    async update(bytes) {
      for (let at = 0; at < bytes.length; ) {
        if (filled === partBytes) {
          await endPart();
          running = open('md5');
        }
        const taken = Math.min(partBytes - filled, bytes.length - at);
        await running.update(bytes.subarray(at, at + taken));
        at += taken;
        filled += taken;
      }
    },
    async matches() {
      // An empty multipart object has one empty part.
      await endPart();
      return multipartEtag(parts) === etag;
    },
  };
}
