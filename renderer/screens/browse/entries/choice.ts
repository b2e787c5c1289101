/**
 * The selection in a pane: single entries, or all entries that match the filter, except some. So the names of
 * a million selected entries stay in the engine. Pure.
 */
import type { AllChosen, EntryRow } from '../../../../engine/api/host/browse.ts';

export type Choice =
  | { readonly kind: 'some'; readonly rows: ReadonlyMap<string, EntryRow> }
  | { readonly kind: 'all'; readonly except: ReadonlyMap<string, EntryRow> };

/** The effect of a newly active row on the choice. */
export type Way = 'only' | 'extend' | 'toggle' | 'none';

export const NOTHING: Choice = { kind: 'some', rows: new Map() };
export const EVERYTHING: Choice = { kind: 'all', except: new Map() };

/** The chosen entries, for the actions on them. */
export interface ChosenEntries {
  readonly count: number;
  readonly bytes: number;
  /** All chosen entries, or the first few if `all` is set. */
  readonly rows: readonly EntryRow[];
  readonly all?: AllChosen;
  /** Set with `all`: entries of the folder that were not read would match too. */
  readonly isPart?: true;
}

/** The facts about the view in which the choice was made. */
export interface ChosenView {
  readonly list: string | undefined;
  readonly filter: string;
  readonly total: number;
  readonly bytes: number;
  readonly firstRows: readonly EntryRow[];
  /** All of the folder has been read. */
  readonly isWhole: boolean;
}

export function chosenOf(choice: Choice, view: ChosenView): ChosenEntries {
  if (choice.kind === 'some') {
    const rows = [...choice.rows.values()];
    return { count: rows.length, bytes: sum(rows), rows };
  }
  const { except } = choice;
  const count = Math.max(0, view.total - except.size);
  if (view.list === undefined || count === 0) return { count: 0, bytes: 0, rows: [] };
  return {
    count,
    bytes: view.bytes - sum([...except.values()]),
    rows: view.firstRows.filter(({ path }) => !except.has(path)),
    all: { list: view.list, filter: view.filter, except: [...except.keys()] },
    ...(view.isWhole ? {} : { isPart: true }),
  };
}

export function isChosen(choice: Choice, path: string): boolean {
  return choice.kind === 'some' ? choice.rows.has(path) : !choice.except.has(path);
}

export function chooseOnly(rows: readonly EntryRow[]): Choice {
  return { kind: 'some', rows: new Map(rows.map((row) => [row.path, row])) };
}

export function toggleChoice(choice: Choice, row: EntryRow): Choice {
  const named = new Map(choice.kind === 'some' ? choice.rows : choice.except);
  if (!named.delete(row.path)) named.set(row.path, row);
  return choice.kind === 'some' ? { kind: 'some', rows: named } : { kind: 'all', except: named };
}

function sum(rows: readonly EntryRow[]): number {
  return rows.reduce((bytes, row) => bytes + row.sizeBytes, 0);
}
