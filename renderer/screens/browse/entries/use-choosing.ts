/** Selects rows by mouse and keyboard, as in file managers, also rows that the page does not hold. */
import { type KeyboardEvent, type MouseEvent, useCallback, useEffect, useRef } from 'react';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import { formatCount } from '../../../../engine/api/text/numbers.ts';
import { useHost } from '../../../host/use-host.tsx';
import { showToast } from '../../../shell/toasts/toasts.tsx';
import type { RowGridState } from '../../rows/use-row-grid.ts';
import { type Choice, chooseOnly, EVERYTHING, NOTHING, toggleChoice, type Way } from './choice.ts';
import { isTick } from './entry-line.tsx';
import type { Entries } from './use-entries.ts';
import { type KnownRow, useSeeking } from './use-seeking.ts';

/** The engine's limit for one request. */
const ROWS_AT_ONCE = 500;
/** Up to this many entries, "all" is a list of names, so links among them can be copied by themselves. */
const NAMED_MAX = 2_000;
/** The most rows of a range. */
const RANGE_MAX = 10_000;

export interface ChoosingOptions {
  readonly entries: Entries;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  readonly onOpen: (row: EntryRow) => void;
  readonly onSearch: () => void;
  /** The folder that the user has left. Its row becomes the active one. */
  readonly cameFrom: string | undefined;
}

export interface Choosing {
  /** The grid must call this when a row becomes the active one. */
  readonly onArrive: (row: EntryRow) => void;
  readonly onRowClick: (event: MouseEvent, index: number) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  /** Its menu chooses the row. */
  readonly onContextMenu: () => void;
}

export function useChoosing(grid: () => RowGridState, options: ChoosingOptions): Choosing {
  const host = useHost();
  const latest = useRef(options);
  latest.current = options;
  const way = useRef<Way>('only');
  /** The first row of a range. */
  const anchor = useRef(0);
  /** The index of the newest active row. The grid knows it only once it is drawn. */
  const newest = useRef(0);
  const current = useRef<KnownRow>(undefined);

  // Raised by each choice and at the end, so that rows that arrive later do not replace what came since.
  const turn = useRef(0);
  const forget = useCallback(() => {
    turn.current += 1;
  }, []);
  useEffect(() => forget, [forget]);
  const { chooseAll, chooseRange } = rangesOf({ host, grid, latest, turn });
  const arrive = (row: EntryRow) => {
    const { choice, entries, onChoice } = latest.current;
    current.current = { row, pages: entries.pages };
    if (way.current === 'extend') void chooseRange(anchor.current, newest.current);
    else if (way.current !== 'none') {
      anchor.current = newest.current;
      onChoice(way.current === 'toggle' ? toggleChoice(choice, row) : chooseOnly([row]));
    }
  };
  const activate = (index: number, by: Way, row?: EntryRow) => {
    forget();
    way.current = by;
    newest.current = index;
    current.current = undefined;
    grid().activate(index, row);
  };
  const { endTyping, open, seek, type } = useSeeking({ current, grid, latest, turn, activate });
  useCameFrom(options, turn, (path) => seek({ path }));
  const actions = useRef({ arrive, activate });
  actions.current = { arrive, activate };
  return {
    onContextMenu: forget,
    onArrive: useCallback((row: EntryRow) => queueMicrotask(() => actions.current.arrive(row)), []),
    onRowClick: useCallback((event: MouseEvent, index: number) => {
      actions.current.activate(index, wayOf(event));
    }, []),
    onKeyDown: (event) => {
      // The buttons of the head have their own keys.
      if (event.target !== event.currentTarget) return;
      // Tab, arrows and the like. Shift is a part of a capital letter.
      if (event.key.length > 1 && event.key !== 'Shift') endTyping();
      const { onChoice, onSearch } = latest.current;
      const isCommand = event.ctrlKey || event.metaKey;
      const to = event.altKey ? undefined : grid().moveBy(event.key);
      if (to !== undefined)
        activate(to, event.shiftKey ? 'extend' : isCommand && !isEnd(event.key) ? 'none' : 'only');
      else if (isCommand && event.key.toLowerCase() === 'a') void chooseAll();
      else if (isCommand && event.key === ' ') activate(grid().active, 'toggle');
      else if (isCommand || event.altKey) return;
      else if (event.key === '/') onSearch();
      else if (event.key === 'Enter') void open();
      else if (event.key === 'Escape') {
        forget();
        onChoice(NOTHING);
      } else if (event.key.length === 1 && event.key !== ' ') type(event.key);
      else return;
      event.preventDefault();
    },
  };
}

interface RangesOptions {
  readonly host: ReturnType<typeof useHost>;
  readonly grid: () => RowGridState;
  readonly latest: { readonly current: ChoosingOptions };
  readonly turn: { current: number };
}

function rangesOf({ host, grid, latest, turn }: RangesOptions) {
  const rowsOf = async (offset: number, limit: number): Promise<EntryRow[]> => {
    const { list, view } = latest.current.entries;
    const rows: EntryRow[] = [];
    for (let at = 0; list !== undefined && at < limit; at += ROWS_AT_ONCE) {
      const range = { offset: offset + at, limit: Math.min(ROWS_AT_ONCE, limit - at) };
      rows.push(...(await host.ask('browse.rows', { list, view, ...range })).rows);
    }
    return rows;
  };
  /** @returns False if the folder has been listed again, so the rows have other indexes. */
  const chooseRows = async (offset: number, limit: number, isAll = false): Promise<boolean> => {
    turn.current += 1;
    const own = turn.current;
    const { entries, onChoice } = latest.current;
    const { list } = entries;
    const held = isAll && !holdsAll(entries) ? undefined : heldRows(entries, offset, limit);
    if (held) {
      onChoice(chooseOnly(held));
      return true;
    }
    // Until they arrive, no action must apply to the rows that were chosen before.
    onChoice(isAll ? EVERYTHING : NOTHING);
    try {
      const rows = await rowsOf(offset, limit);
      if (own === turn.current) latest.current.onChoice(chooseOnly(rows));
      return true;
    } catch (error) {
      if (own !== turn.current) return true;
      if (latest.current.entries.list !== list) return false;
      throw error;
    }
  };
  const chooseAll = async () => {
    const { entries, onChoice } = latest.current;
    const total = grid().total ?? 0;
    if (total > NAMED_MAX || entries.state !== 'done') {
      turn.current += 1;
      onChoice(EVERYTHING);
    } else if (!(await chooseRows(0, total, true))) await chooseAll();
  };
  const chooseRange = async (from: number, to: number) => {
    const [first, last] = from < to ? [from, to] : [to, from];
    const size = last - first + 1;
    if (size === grid().total) await chooseAll();
    else if (size <= RANGE_MAX) await chooseRows(first, size);
    else
      showToast({
        tone: 'info',
        title: `A range has at most ${formatCount(RANGE_MAX)} entries`,
        text: 'Type a filter, and choose all that it shows.',
      });
  };
  return { chooseAll, chooseRange };
}

/** For a moment, the rows may be those of an earlier filter, or of the list before it grew. */
function holdsAll({ listed, pages, view }: Entries): boolean {
  return view.filter === '' && pages?.total() === listed;
}

/** Undefined if the page does not hold all of them. */
function heldRows({ pages }: Entries, offset: number, limit: number): EntryRow[] | undefined {
  const rows = new Map<string, EntryRow>();
  for (let at = offset; at < offset + limit; at += 1) {
    const row = pages?.rowAt(at);
    if (row) rows.set(row.path, row);
  }
  return rows.size === limit ? [...rows.values()] : undefined;
}

/** Chooses the folder that the user has left, once its row is listed, unless the user has chosen since. */
function useCameFrom(
  { cameFrom, entries }: ChoosingOptions,
  turn: { readonly current: number },
  seek: (path: string) => Promise<unknown>,
): void {
  const own = useRef(0);
  const { list, state } = entries;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs again when the list has grown
  useEffect(() => {
    if (cameFrom === undefined || list === undefined || own.current !== turn.current) return;
    void seek(cameFrom);
    own.current = turn.current;
  }, [cameFrom, list, state]);
}

function isEnd(key: string): boolean {
  return key === 'Home' || key === 'End';
}

function wayOf(event: MouseEvent): Way {
  const { ctrlKey, metaKey, shiftKey } = event;
  return shiftKey ? 'extend' : ctrlKey || metaKey || isTick(event) ? 'toggle' : 'only';
}
