/** From what was chosen or dropped to the transfers that copy it. Pure. */
import type { TransferOrder } from '../../../engine/api/host.ts';
import { below, type Location, placeOf } from './places.ts';

/** Fewer files go one by one: then nothing but themselves is looked at, here and there. */
const TOGETHER_MIN = 16;
/** What one message carries, and one line of the queue's file. */
const NAMES_LENGTH_MAX = 100_000;

/** What lies in one folder: files, and folders, whose paths end in a slash. A folder's contents go into a folder of its name. */
export function copyOrders(from: Location, paths: readonly string[], into: Location): TransferOrder[] {
  const names = paths.filter((path) => !path.endsWith('/'));
  return [
    ...fileOrders(names, { folder: placeOf(from), placeOfName: (name) => placeOf(from, name), into }),
    ...paths
      .filter((path) => path.endsWith('/'))
      .map((path): TransferOrder => {
        const destination = placeOf(below(into, path));
        return { kind: 'copy', source: placeOf(from, path), destination };
      }),
  ];
}

export interface FilesOf {
  /** Their folder, as a place that ends in a slash, or the root of a remote. */
  readonly folder: string;
  readonly placeOfName: (name: string) => string;
  readonly into: Location;
}

/** Many files of a folder are one transfer, or a few: the queue would not hold a thousand. */
export function fileOrders(
  names: readonly string[],
  { folder, into, placeOfName }: FilesOf,
): TransferOrder[] {
  const destination = placeOf(into);
  if (names.length < TOGETHER_MIN)
    return names.map((name) => ({ kind: 'copy', source: placeOfName(name), destination }));
  return parted(names).map((some) => ({ kind: 'copy', source: folder, destination, names: some }));
}

function parted(names: readonly string[]): string[][] {
  const parts: string[][] = [];
  let length = NAMES_LENGTH_MAX;
  for (const name of names) {
    length += name.length;
    if (length > NAMES_LENGTH_MAX) {
      parts.push([]);
      length = name.length;
    }
    parts.at(-1)!.push(name);
  }
  return parts;
}
