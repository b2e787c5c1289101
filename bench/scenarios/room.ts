/** Room on disks: what data need, and what is free. */
import { stat, statfs } from 'node:fs/promises';
import { formatBytes, formatCount } from '../../engine/api/text/numbers.ts';
import { type DatasetShape, diskBytesOf, FILES_IN_FOLDER } from '../data/dataset.ts';

export interface Room {
  readonly bytes: number;
  /** Files and folders; in memory also each further hard link. */
  readonly inodes: number;
}

export const NO_ROOM: Room = { bytes: 0, inodes: 0 };

/** The room of a number of copies of a dataset; it may be fractional. */
export function roomOf(shape: DatasetShape, copies = 1): Room {
  const inodes = shape.files + Math.ceil(shape.files / FILES_IN_FOLDER);
  return { bytes: Math.ceil(diskBytesOf(shape) * copies), inodes: Math.ceil(inodes * copies) };
}

export function addRooms(...rooms: readonly (Room | undefined)[]): Room {
  return rooms.reduce<Room>(
    (sum, room = NO_ROOM) => ({ bytes: sum.bytes + room.bytes, inodes: sum.inodes + room.inodes }),
    NO_ROOM,
  );
}

export function fitsInto(room: Room, free: Room): boolean {
  return room.bytes <= free.bytes && room.inodes <= free.inodes;
}

/** `4.0 GiB and 1,002,000 inodes`. */
export function formatRoom({ bytes, inodes }: Room): string {
  return `${formatBytes(bytes)}${Number.isFinite(inodes) ? ` and ${formatCount(inodes)} inodes` : ''}`;
}

export interface Disk {
  readonly path: string;
  /** Paths with one device share its room. */
  readonly device: number;
  readonly free: Room;
}

/** @param path An existing path. */
export async function measureDisk(path: string): Promise<Disk> {
  const { bavail, bsize, ffree, files } = await statfs(path);
  // Some file systems have no fixed number of inodes and report 0 of 0.
  const inodes = files > 0 ? ffree : Number.POSITIVE_INFINITY;
  return { path, device: (await stat(path)).dev, free: { bytes: bavail * bsize, inodes } };
}
