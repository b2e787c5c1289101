import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { findNetworkFileSystem } from '../../files/disk/sync-disk.ts';
import { eventsOf, testContext } from './job.fixture.ts';
import { warnOfNetworkDisk } from './network-disk-warning.ts';

describe('A network disk', () => {
  it('gets a warning that names its kind', () => {
    const context = testContext('/');
    warnOfNetworkDisk(context, '/mnt/share', () => 'NFS');
    expect(eventsOf(context, 'warning')).toMatchObject([
      {
        warning: 'networkDisk',
        path: '/mnt/share',
        message: expect.stringContaining('/mnt/share lies on NFS'),
      },
    ]);
  });

  it('is recognized by the type of its file system, and a local disk is not one', () => {
    const types = new Map([
      [0x6969, 'NFS'],
      [0xff534d42, 'SMB'],
      // As Node gives it where the type is a signed number.
      [0xff534d42 - 2 ** 32, 'SMB'],
      [0xef53, undefined],
      [0x01021994, undefined],
    ]);
    for (const [type, kind] of types) expect(findNetworkFileSystem('/', () => ({ type }))).toBe(kind);
    expect(findNetworkFileSystem('/nowhere', statfsSync)).toBeUndefined();
    expect(
      findNetworkFileSystem(tmpdir(), () => {
        throw new Error('no such call');
      }),
    ).toBeUndefined();
  });
});
