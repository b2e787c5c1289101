/** Running sums over content that comes in order, for each kind of sum that a store may keep of it. */
import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { crc64Nvme } from '../base/crc64-nvme.ts';
import { multipartEtag, type ObjectSum } from './object-sums.ts';

export interface ContentHasher {
  update(bytes: Uint8Array): void;
  /** Whether what has passed is the content that the sum is of. To be called once. */
  matches(): boolean;
}

/** @param partBytes The size of all parts but the last, for `md5OfParts`. CRC64NVME only after `loadCrc64`. */
export function createContentHasher(sum: ObjectSum, partBytes = 0): ContentHasher {
  switch (sum.by) {
    case 'sha256':
      return digestHasher(createHash('sha256'), 'base64', sum.value);
    case 'md5':
      return digestHasher(createHash('md5'), 'hex', sum.value);
    case 'md5OfParts':
      return partsHasher(sum.value, partBytes);
    case 'crc64nvme':
      return runningHasher(0n, crc64Nvme, sum.value);
    case 'crc32':
      return runningHasher(0, crc32, sum.value);
  }
}

function digestHasher(running: Hash, encoding: 'base64' | 'hex', wanted: string): ContentHasher {
  return {
    update: (bytes) => void running.update(bytes),
    matches: () => running.digest(encoding) === wanted,
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

function partsHasher(etag: string, partBytes: number): ContentHasher {
  const parts: Uint8Array[] = [];
  let running = createHash('md5');
  let filled = 0;
  const endPart = () => {
    parts.push(running.digest());
    running = createHash('md5');
    filled = 0;
  };
  return {
    update(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const taken = Math.min(partBytes - filled, bytes.length - at);
        running.update(bytes.subarray(at, at + taken));
        at += taken;
        filled += taken;
        if (filled === partBytes) endPart();
      }
    },
    matches() {
      // An empty object in parts has one, which is empty.
      if (filled > 0 || parts.length === 0) endPart();
      return multipartEtag(parts) === etag;
    },
  };
}
