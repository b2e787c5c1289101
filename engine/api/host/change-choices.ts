/**
 * The user's choices for rows: exclusions from a push, and the winning sides of conflicts. Pure. The engine
 * stores them for each workspace; a window has a copy and sends each change.
 */
import type { ChangeRow, ChoicesRecord, Skipped, Winner } from './changes.ts';

export interface Choices {
  /** Excluded paths with their sizes. A folder's path ends in a slash and stands for everything below it. */
  readonly skipped: ReadonlyMap<string, Skipped>;
  /** The decisions for single conflicts. */
  readonly decided: ReadonlyMap<string, Winner>;
  /** The decision for all other conflicts. */
  readonly forAll: Winner | undefined;
}

export const NO_CHOICES: Choices = { skipped: new Map(), decided: new Map(), forAll: undefined };

/** Decides whether a row is excluded by itself, by a folder above it, or not at all. */
export function skipOf({ skipped }: Choices, path: string): 'itself' | 'above' | undefined {
  if (skipped.size === 0) return undefined;
  if (skipped.has(path)) return 'itself';
  for (
    let slash = path.indexOf('/');
    slash >= 0 && slash < path.length - 1;
    slash = path.indexOf('/', slash + 1)
  )
    if (skipped.has(path.slice(0, slash + 1))) return 'above';
  return undefined;
}

/** The tick of a row. A folder is ticked in part if some of its changes are excluded. */
export function tickOf(choices: Choices, { below, path }: ChangeRow): 'all' | 'some' | 'none' {
  if (skipOf(choices, path) !== undefined) return 'none';
  const skipped = below ? (rowsSkippedBelow(choices).get(path) ?? 0) : 0;
  if (skipped === 0) return 'all';
  return below && skipped < below.rows ? 'some' : 'none';
}

const COUNTS = new WeakMap<Choices['skipped'], ReadonlyMap<string, number>>();

/**
 * The number of excluded rows below each folder, counted once for each set of exclusions. A tick changes the
 * counts of the set before it (`countAfter`): counting 100,000 exclusions anew would take too long.
 */
function rowsSkippedBelow({ skipped }: Choices): ReadonlyMap<string, number> {
  const known = COUNTS.get(skipped);
  if (known) return known;
  const counts = new Map<string, number>();
  for (const [path, { rows }] of skipped) addRows(counts, path, rows);
  COUNTS.set(skipped, counts);
  return counts;
}

/** To each folder above the path. */
function addRows(counts: Map<string, number>, path: string, rows: number): void {
  for (
    let slash = path.indexOf('/');
    slash >= 0 && slash < path.length - 1;
    slash = path.indexOf('/', slash + 1)
  ) {
    const folder = path.slice(0, slash + 1);
    counts.set(folder, (counts.get(folder) ?? 0) + rows);
  }
}

/** @param changes The rows that became excluded at each path; negative: included again. */
function countAfter(
  before: Choices['skipped'],
  after: Choices['skipped'],
  changes: readonly (readonly [path: string, rows: number])[],
): void {
  const known = COUNTS.get(before);
  if (!known) return;
  const counts = new Map(known);
  for (const [path, rows] of changes) addRows(counts, path, rows);
  COUNTS.set(after, counts);
}

/** Excludes a fully ticked row; includes any other row with everything below it. */
export function toggleSkip(choices: Choices, row: ChangeRow): Choices {
  if (skipOf(choices, row.path) === 'above') return choices;
  return tickOf(choices, row) === 'all' ? skipRows(choices, [row]) : includePath(choices, row.path);
}

/** Includes the row again, and everything below a folder. */
export function includePath(choices: Choices, path: string): Choices {
  const skipped = new Map(choices.skipped);
  const changes: [string, number][] = [];
  const include = (one: string) => {
    changes.push([one, -(skipped.get(one)?.rows ?? 0)]);
    skipped.delete(one);
  };
  if (path.endsWith('/')) for (const one of skipped.keys()) if (one.startsWith(path)) include(one);
  include(path);
  countAfter(choices.skipped, skipped, changes);
  return { ...choices, skipped };
}

/** Excludes the rows that are not excluded yet. */
export function skipRows(choices: Choices, rows: Iterable<ChangeRow>): Choices {
  const skipped = new Map(choices.skipped);
  const changes: [string, number][] = [];
  for (const row of rows) {
    if (skipOf({ ...choices, skipped }, row.path) !== undefined) continue;
    if (row.below)
      for (const [path, below] of skipped) {
        if (!path.startsWith(row.path)) continue;
        changes.push([path, -below.rows]);
        skipped.delete(path);
      }
    const one = skippedOf(row);
    changes.push([row.path, one.rows]);
    skipped.set(row.path, one);
  }
  countAfter(choices.skipped, skipped, changes);
  return { ...choices, skipped };
}

function skippedOf({ below, change, fromPath, sizeBytes }: ChangeRow): Skipped {
  return {
    change,
    rows: below?.rows ?? 1,
    deleted: below?.deleted ?? (change === 'deleted' ? 1 : 0),
    bytes: below?.bytes ?? (change === 'added' || change === 'modified' ? sizeBytes : 0),
    ...(fromPath === undefined ? {} : { fromPath }),
  };
}

export function decide(choices: Choices, path: string, winner: Winner): Choices {
  return { ...choices, decided: new Map(choices.decided).set(path, winner) };
}

/** Removes decisions for single paths. */
export function decideAll(choices: Choices, winner: Winner): Choices {
  return { ...choices, decided: new Map(), forAll: winner };
}

export function winnerOf({ decided, forAll }: Choices, path: string): Winner | undefined {
  return decided.get(path) ?? forAll;
}

/** The paths whose rows a refreshed list must return. */
export function chosenPaths({ decided, skipped }: Choices): string[] {
  return [...skipped.keys(), ...decided.keys()];
}

/**
 * The choices that stay valid in a refreshed list: those of rows with the same change, and of folders with
 * any change below them. @param rows The new list's rows at the chosen paths. @param isSameConflicts False
 * drops a decision for all conflicts.
 */
export function keepChoices(
  { decided, forAll, skipped }: Choices,
  rows: readonly ChangeRow[],
  isSameConflicts: boolean,
): Choices {
  const still = new Map(rows.map((row) => [row.path, row]));
  const isSame = (row: ChangeRow, before: Skipped): boolean =>
    row.below !== undefined || (row.change === before.change && row.fromPath === before.fromPath);
  return {
    skipped: new Map(
      [...skipped].flatMap(([path, before]) => {
        const row = still.get(path);
        return row && isSame(row, before) ? [[path, skippedOf(row)] as const] : [];
      }),
    ),
    decided: new Map([...decided].filter(([path]) => still.get(path)?.change === 'conflict')),
    forAll: isSameConflicts ? forAll : undefined,
  };
}

export function recordChoices({ decided, forAll, skipped }: Choices): ChoicesRecord {
  return {
    skipped: [...skipped].map(([path, one]) => ({ path, ...one })),
    decided: [...decided],
    ...(forAll === undefined ? {} : { forAll }),
  };
}

export function readChoices({ decided, forAll, skipped }: ChoicesRecord): Choices {
  return {
    skipped: new Map(skipped.map(({ path, ...one }) => [path, one])),
    decided: new Map(decided),
    forAll,
  };
}

export function skippedTotals({ skipped }: Choices): Pick<Skipped, 'rows' | 'deleted' | 'bytes'> {
  let rows = 0;
  let deleted = 0;
  let bytes = 0;
  for (const one of skipped.values()) {
    rows += one.rows;
    deleted += one.deleted;
    bytes += one.bytes;
  }
  return { rows, deleted, bytes };
}

/** The paths that a push excludes: both names of a rename. */
export function skippedPaths({ skipped }: Choices): string[] {
  return [...skipped].flatMap(([path, { fromPath }]) => (fromPath === undefined ? [path] : [path, fromPath]));
}
