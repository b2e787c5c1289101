import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { crc64Nvme, loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { isHeldPart } from './held-parts.ts';

beforeAll(loadCrc64);

describe('isHeldPart', () => {
  const bytes = new TextEncoder().encode('123456789');
  const crc = 0xcbf43926;
  const held = { number: 1, etag: 'opaque', sizeBytes: 9 };

  it('trusts the store sum', () => {
    expect(isHeldPart({ ...held, crc32: crc }, bytes, { crc32: crc })).toBe(true);
    expect(isHeldPart({ ...held, crc32: crc ^ 1 }, bytes, { crc32: crc })).toBe(false);
    expect(
      isHeldPart({ ...held, sha256: createHash('sha256').update(bytes).digest('base64') }, bytes, {
        crc32: crc,
      }),
    ).toBe(true);
    expect(isHeldPart({ ...held, sha256: 'wrong', crc32: crc }, bytes, { crc32: crc })).toBe(false);
    expect(isHeldPart({ ...held, etag: '25f9e794323b453885f5181f1b624d0b' }, bytes, { crc32: crc })).toBe(
      true,
    );
  });

  it('does not trust a size alone', () => {
    expect(isHeldPart(held, bytes, { crc32: crc })).toBe(false);
    expect(isHeldPart({ ...held, sizeBytes: 8, crc32: crc }, bytes, { crc32: crc })).toBe(false);
    expect(isHeldPart({ ...held, etag: '0'.repeat(32) }, bytes, { crc32: crc })).toBe(false);
  });

  it('computes the store kind of sum when it is not available', () => {
    const crc64nvme = crc64Nvme(bytes);
    expect(isHeldPart({ ...held, crc64nvme }, bytes, { crc32: crc })).toBe(true);
    expect(isHeldPart({ ...held, crc32: crc }, bytes, { crc64nvme })).toBe(true);
    expect(isHeldPart({ ...held, crc64nvme: crc64nvme ^ 1n }, bytes, { crc32: crc })).toBe(false);
    expect(isHeldPart({ ...held, crc32: crc ^ 1 }, bytes, { crc64nvme })).toBe(false);
  });
});
