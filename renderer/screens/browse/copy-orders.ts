/** Turns a selection or a drop into the transfers that copy it. Pure. */
import type { AllChosen } from '../../../engine/api/host/browse.ts';
import type { TransferOrder } from '../../../engine/api/host/transfers.ts';
import type { ChosenEntries } from './entries/choice.ts';
import { below, isFixed, type Location, placeOf } from './places.ts';

/** Up to this many files are copied one by one, so that nothing else is listed on either side. */
const TOGETHER_MIN = 16;
/** The limit of one message, and of one line of the queue's file. */
const NAMES_LENGTH_MAX = 100_000;

/** A selection in a pane, or a drag from it. */
export interface Chosen {
  readonly from: Location;
  /** A folder's path ends in a slash. */
  readonly paths: readonly string[];
  /** The links of the selection. Each is copied by itself, because only then it is followed. */
  readonly links: readonly string[];
  /** Replaces `paths` for a selection of a whole list. `count` is the number of entries. */
  readonly all?: AllChosen & { readonly count: number };
  /** With `all`: the copy would take entries that the list does not have. */
  readonly isPart?: true;
}

export function chosenFrom(from: Location, { all, count, isPart, rows }: ChosenEntries): Chosen {
  if (all) return { from, paths: [], links: [], all: { ...all, count }, ...(isPart && { isPart }) };
  const links = rows.filter(({ kind }) => kind === 'link');
  return { from, paths: rows.map(({ path }) => path), links: links.map(({ path }) => path) };
}

/** A folder's contents go into a folder of its name. */
export function copyOrders({ all, from, links, paths }: Chosen, into: Location): TransferOrder[] {
  if (all) {
    const { except, filter } = all;
    const rest = { ...(filter === '' ? {} : { filter }), ...(except.length === 0 ? {} : { except }) };
    return [{ kind: 'copy', source: placeOf(from), destination: placeOf(into), ...rest }];
  }
  // Links of a version are copied as links, and what a search found keeps its folders.
  if (isFixed(from)) return versionOrders(paths, from, into);
  const isLink = new Set(links);
  const names = paths.filter((path) => !path.endsWith('/') && !isLink.has(path));
  return [
    ...fileOrders(names, { folder: placeOf(from), placeOfName: (name) => placeOf(from, name), into }),
    ...links.map(
      (path): TransferOrder => ({ kind: 'copy', source: placeOf(from, path), destination: placeOf(into) }),
    ),
    ...folderOrders(paths, from, into),
  ];
}

function folderOrders(paths: readonly string[], from: Location, into: Location): TransferOrder[] {
  return paths
    .filter((path) => path.endsWith('/'))
    .map((path) => {
      const destination = placeOf(below(into, path));
      return { kind: 'copy', source: placeOf(from, path), destination };
    });
}

function versionOrders(paths: readonly string[], from: Location, into: Location): TransferOrder[] {
  const ends = { kind: 'copy', source: placeOf(from), destination: placeOf(into) } as const;
  const names = paths.filter((path) => !path.endsWith('/'));
  return [
    ...parted(names).map((some): TransferOrder => ({ ...ends, names: some })),
    ...folderOrders(paths, from, into),
  ];
}

export interface FilesOf {
  /** Their folder, as a place that ends in a slash, or the root of a remote. */
  readonly folder: string;
  readonly placeOfName: (name: string) => string;
  readonly into: Location;
}

/** Many files of a folder become one transfer, or a few: the queue would not hold a thousand. */
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
