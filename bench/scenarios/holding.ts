/** Data that scenarios share: made once, and kept while a later scenario needs them. */
import type { DatasetShape } from '../data/dataset.ts';
import { type Room, roomOf } from './room.ts';

export interface Holding {
  /** Equal for equal data. */
  readonly name: string;
  /** In the data folder, or below the S3 server. */
  readonly at: 'source' | 'store';
  /**
   * `written` and `linked` are files that the server treats as objects. A server whose objects are not files
   * gets the former by an upload.
   */
  readonly how: 'made' | 'uploaded' | 'written' | 'linked';
  readonly room: Room;
}

/** Files in a folder. `owner` gets a dataset that no other entrant sees. */
export function datasetHolding(shape: DatasetShape, owner = 'all'): Holding {
  return { name: nameOf('dataset', shape, owner), at: 'source', how: 'made', room: roomOf(shape) };
}

/** Objects that a tool uploaded. */
export function uploadedHolding(shape: DatasetShape): Holding {
  return { name: nameOf('uploaded', shape), at: 'store', how: 'uploaded', room: roomOf(shape) };
}

/** Objects with only names and sizes. */
export function writtenHolding(shape: DatasetShape): Holding {
  return { name: nameOf('written', shape), at: 'store', how: 'written', room: roomOf(shape) };
}

/** A repository of objects named by their contents, made as links to written objects. */
export function linkedHolding(shape: DatasetShape, hash: string): Holding {
  return {
    name: nameOf('linked', shape, hash),
    at: 'store',
    how: 'linked',
    room: { ...roomOf(shape), bytes: 0 },
  };
}

/** Holdings with equal names and sizes are the same data. */
function nameOf(kind: string, { bytesMax, files, sizes }: DatasetShape, of = ''): string {
  return JSON.stringify([kind, of, files, bytesMax, sizes]);
}

/** The room that a scenario needs on disks at its peak. */
export interface Needs {
  readonly holdings: readonly Holding[];
  /** Besides its holdings, in the data folder. */
  readonly source?: Room;
  /** In the data folder, when stored data must be downloaded for the comparison. */
  readonly fetched?: Room;
  /** Besides its holdings, below the S3 server. */
  readonly store?: Room;
  /** For the folders of other machines or other servers. */
  readonly offered?: Room;
}
