import { describe, expect, it } from 'vitest';
import { isOfMinio } from './minio-answer.ts';

const of = (headers: Record<string, string>) => isOfMinio({ status: 200, headers });
const HOST = '309335738c4b4238bf26cb034406cfa956122d643f663fa6c0dd71d59af1c512';

describe('An answer', () => {
  it.each([
    ['by its own name', { server: 'MinIO', 'x-amz-request-id': '18EA2BE53DA17562', 'x-amz-id-2': HOST }],
    ['behind a proxy', { server: 'nginx', 'x-amz-request-id': '18EA2BE53DA17562', 'x-amz-id-2': HOST }],
    [
      'of old, behind a proxy',
      {
        server: 'nginx',
        'x-amz-request-id': '16A1B2C3D4E5F607',
        'content-security-policy': 'block-all-mixed-content',
      },
    ],
  ])('is known as MinIO\u2019s %s', (_how, headers) => expect(of(headers)).toBe(true));

  it.each([
    [
      'Amazon',
      {
        server: 'AmazonS3',
        'x-amz-request-id': '656c76696e6727732072657175657374'.slice(0, 16).toUpperCase(),
        'x-amz-id-2': 'Uuag1LuByRx9e6j5Onimru9pO4ZVKnJ2Qz7/C1NPcfTWAtRPfTaOFg==',
      },
    ],
    ['versitygw', { server: 'VERSITYGW' }],
    [
      'another store behind nginx',
      { server: 'nginx', 'x-amz-request-id': 'tx0000', 'x-amz-id-2': 'addfuKzR3bt0' },
    ],
    ['one that says nothing', {}],
  ])('of %s is not', (_who, headers) => expect(of(headers)).toBe(false));
});
