import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { addRooms, fitsInto, formatRoom, measureDisk, NO_ROOM, roomOf } from './room.ts';

describe('The room of data', () => {
  it('counts whole clusters, and folders beside files', () => {
    const shape = { files: 1_001, bytesMax: 1, sizes: 'equal' } as const;
    expect(roomOf(shape)).toEqual({ bytes: 1_001 * 4096, inodes: 1_003 });
    expect(roomOf(shape, 2)).toEqual(addRooms(roomOf(shape), undefined, roomOf(shape)));
  });

  it('is printed in bytes, and in inodes where they are limited', () => {
    expect(formatRoom({ bytes: 3 * 1024 ** 3, inodes: 1_200 })).toBe('3.0 GiB and 1,200 inodes');
    expect(formatRoom({ bytes: 1024 ** 3, inodes: Number.POSITIVE_INFINITY })).toBe('1.0 GiB');
  });
});

it('a disk always has room for nothing', async () => {
  const disk = await measureDisk(tmpdir());
  expect(fitsInto(NO_ROOM, disk.free)).toBe(true);
  expect(fitsInto(addRooms(disk.free, { bytes: 1, inodes: 0 }), disk.free)).toBe(false);
  expect((await measureDisk('.')).device).toBeGreaterThan(0);
});
