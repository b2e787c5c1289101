import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { addRooms, fitsInto, formatRoom, measureDisk, NO_ROOM, roomOf } from './room.ts';

describe('the room of data', () => {
  it('is whole clusters, and folders beside the files', () => {
    const shape = { files: 1_001, bytesMax: 1, sizes: 'equal' } as const;
    expect(roomOf(shape)).toEqual({ bytes: 1_001 * 4096, inodes: 1_003 });
    expect(roomOf(shape, 2)).toEqual(addRooms(roomOf(shape), undefined, roomOf(shape)));
  });

  it('is told in bytes, and in inodes where there is a number of them', () => {
    expect(formatRoom({ bytes: 3 * 1024 ** 3, inodes: 1_200 })).toBe('3.0 GiB and 1,200 inodes');
    expect(formatRoom({ bytes: 1024 ** 3, inodes: Number.POSITIVE_INFINITY })).toBe('1.0 GiB');
  });
});

it('a disk has a room into which nothing always fits', async () => {
  const disk = await measureDisk(tmpdir());
  expect(fitsInto(NO_ROOM, disk.free)).toBe(true);
  expect(fitsInto(addRooms(disk.free, { bytes: 1, inodes: 0 }), disk.free)).toBe(false);
  expect((await measureDisk('.')).device).toBeGreaterThan(0);
});
