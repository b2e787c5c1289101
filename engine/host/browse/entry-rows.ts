/**
 * The entries of one folder, in buffers outside the JavaScript heap: 33 bytes for each row, and its name.
 * Rows are never removed, so a row's number identifies it.
 */
import type { EntryRow } from '../../api/host/browse.ts';
import { comparePaths } from '../../model/entry.ts';
import { createGrowingBytes, createGrowingNumbers } from '../rows/growing-columns.ts';
import type { CompareRows, Pause } from '../rows/sort-rows.ts';
import { nameKey } from './name-key.ts';

const KINDS = ['file', 'link', 'folder'] as const;
const KIND_BITS = 3;
const REPOSITORY_BIT = 4;
/** Separates a link's name from its target. No name contains it. */
const SEPARATOR = '\0';

export interface EntryRows {
  readonly size: number;
  push(entry: EntryRow): void;
  read(row: number): EntryRow;
  nameOf(row: number): string;
  isFolder(row: number): boolean;
  sizeOf(row: number): number;
  timeOf(row: number): number;
  /** The order of the names of all present rows. Creates sort keys if the rows did not arrive in order. */
  nameOrder(pause: Pause): Promise<CompareRows>;
}

export function createEntryRows(): EntryRows {
  const texts = createText();
  const sizes = createGrowingNumbers();
  const times = createGrowingNumbers();
  const codes = createGrowingBytes();
  /** Filled only if names do not arrive in order. Those of a store mostly do. */
  const keys = createText();
  const last: Record<'folder' | 'other', string> = { folder: '', other: '' };
  let isInOrder = true;
  let count = 0;
  const nameOf = (row: number) => texts.at(row).split(SEPARATOR, 1)[0]!;
  const keyOf = (path: string) => nameKey(path.replace(/\/$/, ''));
  return {
    get size() {
      return count;
    },
    push({ isRepository, kind, mtime, path, sizeBytes, target }) {
      if (isInOrder) {
        const key = keyOf(path);
        const of = kind === 'folder' ? 'folder' : 'other';
        isInOrder = comparePaths(last[of], key) <= 0;
        last[of] = key;
      }
      texts.push(target === undefined ? path : path + SEPARATOR + target);
      sizes.push(sizeBytes);
      times.push(mtime === undefined ? Number.NaN : Date.parse(mtime));
      codes.pushByte(KINDS.indexOf(kind) | (isRepository ? REPOSITORY_BIT : 0));
      count += 1;
    },
    read(row) {
      const [path, target] = texts.at(row).split(SEPARATOR) as [string, string?];
      const code = codes.at(row);
      const timeMs = times.at(row);
      return {
        path,
        kind: KINDS[code & KIND_BITS]!,
        sizeBytes: sizes.at(row),
        ...(Number.isNaN(timeMs) ? {} : { mtime: new Date(timeMs).toISOString() }),
        ...(target === undefined ? {} : { target }),
        ...(code & REPOSITORY_BIT ? { isRepository: true as const } : {}),
      };
    },
    nameOf,
    isFolder: (row) => KINDS[codes.at(row) & KIND_BITS] === 'folder',
    sizeOf: sizes.at,
    timeOf: (row) => times.at(row) || 0,
    async nameOrder(pause) {
      if (isInOrder) return (a, b) => a - b;
      const end = count;
      while (keys.size() < end) {
        keys.push(keyOf(nameOf(keys.size())));
        const wait = pause(keys.size());
        if (wait) await wait;
      }
      return (a, b) => keys.compare(a, b) || a - b;
    },
  };
}

/** Texts in one buffer, with the end of each. */
function createText() {
  const bytes = createGrowingBytes();
  const ends = createGrowingNumbers();
  let count = 0;
  const rangeOf = (row: number) => [row === 0 ? 0 : ends.at(row - 1), ends.at(row)] as const;
  return {
    size: () => count,
    push(text: string) {
      bytes.push(text);
      ends.push(bytes.size);
      count += 1;
    },
    at: (row: number) => bytes.text(...rangeOf(row)),
    compare: (a: number, b: number) => bytes.compare(rangeOf(a), rangeOf(b)),
  };
}
