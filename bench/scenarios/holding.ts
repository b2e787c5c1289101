/** Data that scenarios name in common: made once, and kept as long as one to come needs them. */
import type { DatasetShape } from '../data/dataset.ts';
import { type Room, roomOf } from './room.ts';

export interface Holding {
  /** The same for the same data. */
  readonly name: string;
  /** In the folder of the data, or below the S3 server. */
  readonly at: 'source' | 'store';
  /** `written` and `linked` are files that the server takes for objects; one whose objects are no files is sent the former. */
  readonly how: 'made' | 'uploaded' | 'written' | 'linked';
  readonly room: Room;
}

/** Files in a folder; `owner` has one that no other entrant sees. */
export function datasetHolding(shape: DatasetShape, owner = 'all'): Holding {
  return { name: nameOf('dataset', shape, owner), at: 'source', how: 'made', room: roomOf(shape) };
}

/** Objects that a tool uploaded. */
export function uploadedHolding(shape: DatasetShape): Holding {
  return { name: nameOf('uploaded', shape), at: 'store', how: 'uploaded', room: roomOf(shape) };
}

/** Objects with sizes and names alone. */
export function writtenHolding(shape: DatasetShape): Holding {
  return { name: nameOf('written', shape), at: 'store', how: 'written', room: roomOf(shape) };
}

/** A repository of objects named by their contents, which are links to those that were written. */
export function linkedHolding(shape: DatasetShape, hash: string): Holding {
  return {
    name: nameOf('linked', shape, hash),
    at: 'store',
    how: 'linked',
    room: { ...roomOf(shape), bytes: 0 },
  };
}

/** What shares name and size with another scenario's is the same data. */
function nameOf(kind: string, { bytesMax, files, sizes }: DatasetShape, of = ''): string {
  return JSON.stringify([kind, of, files, bytesMax, sizes]);
}

/** What a scenario takes on disks: at its fullest, and at most. */
export interface Needs {
  readonly holdings: readonly Holding[];
  /** Beside what it holds, in the folder of the data. */
  readonly source?: Room;
  /** In the same folder, where what is stored cannot be compared where it lies and is fetched. */
  readonly fetched?: Room;
  /** Beside what it holds, below the S3 server. */
  readonly store?: Room;
  /** Where other machines or other servers are given a folder. */
  readonly offered?: Room;
}
