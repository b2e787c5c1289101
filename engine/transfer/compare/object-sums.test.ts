import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import {
  cutEvenly,
  flipped,
  headOf,
  putInParts,
  SUM_KINDS,
  storedWith,
} from '../download/download.fixture.ts';
import { bestSum, matchesSum, multipartEtag, sumsOf } from './object-sums.ts';

beforeAll(loadCrc64);

const bytes = new Uint8Array(randomBytes(3_000));
const MD5 = '0123456789abcdef0123456789abcdef';

describe('the sums of an object', () => {
  it.each(SUM_KINDS)('distinguish its bytes by %s from all others', async (kind) => {
    const { info } = await storedWith(kind, bytes, { partBytes: 3_000 });
    const sum = bestSum(info)!;
    expect(sum.by).toBe(kind);
    expect(matchesSum(bytes, sum)).toBe(true);
    expect(matchesSum(flipped(bytes, 1_234), sum)).toBe(false);
    expect(matchesSum(bytes.subarray(1), sum)).toBe(false);
  });

  it('of an empty object match only empty content', async () => {
    for (const kind of SUM_KINDS) {
      const { info } = await storedWith(kind, new Uint8Array(0));
      expect(matchesSum(new Uint8Array(0), bestSum(info)!)).toBe(true);
      expect(matchesSum(new Uint8Array(1), bestSum(info)!)).not.toBe(true);
    }
  });

  it('of several parts prove usual part sizes and say nothing about others', async () => {
    const halves = await storedWith('md5OfParts', bytes, { partBytes: 1_500 });
    expect(matchesSum(bytes, bestSum(halves.info)!)).toBe(true);
    expect(matchesSum(flipped(bytes, 0), bestSum(halves.info)!)).toBeUndefined();
    await putInParts(halves.store, [bytes.subarray(0, 1_700), bytes.subarray(1_700)]);
    expect(matchesSum(bytes, bestSum(await headOf(halves.store))!)).toBeUndefined();
  });

  it('are ordered by strength, with rclone`s MD5 before the etag of parts', () => {
    const md5chksum = Buffer.from(MD5, 'hex').toString('base64');
    const sums = sumsOf({
      etag: `${MD5}-3`,
      metadata: { md5chksum, mtime: '1' },
      checksums: { covers: 'whole', crc32: 7, crc64nvme: 8n },
    });
    expect(sums.map(({ by }) => by)).toEqual(['crc64nvme', 'crc32', 'md5', 'md5OfParts']);
  });

  it('leave out checksums of parts, etags that are not MD5s and metadata without sums', () => {
    expect(sumsOf({ etag: 'm17', checksums: { covers: 'ofParts', crc32: 7, sha256: 'x-2' } })).toEqual([]);
    expect(sumsOf({ etag: MD5, etagIsOpaque: true })).toEqual([]);
    expect(sumsOf({ etag: `${MD5}-0` })).toEqual([]);
    expect(sumsOf({ etag: '', metadata: { md5chksum: 'short' } })).toEqual([]);
  });

  it('give the etag of S3 for an object in parts', () => {
    // "a" and "b" as two parts; the value by Python's hashlib.
    const parts = cutEvenly(Buffer.from('ab'), 1).map((part) => (part[0] === 97 ? A : B));
    expect(multipartEtag(parts)).toBe('96e024ba2074fe77e8e965ba43a704be-2');
  });
});

const A = Buffer.from('0cc175b9c0f1b6a831c399e269772661', 'hex');
const B = Buffer.from('92eb5ffee6ae2fec3ad71c777531578f', 'hex');
