/** Selects rows by mouse and keyboard, as in file managers, also rows that the page does not hold. */
import { type KeyboardEvent, type MouseEvent, useCallback, useEffect, useRef } from 'react';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import { formatCount } from '../../../../engine/api/numbers.ts';
import { useHost } from '../../../host/use-host.tsx';
import { showToast } from '../../../shell/toasts.tsx';
import type { RowGridState } from '../../rows/use-row-grid.ts';
import { type Choice, chooseOnly, EVERYTHING, NOTHING, toggleChoice, type Way } from './choice.ts';
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
}

export function useChoosing(grid: () => RowGridState, options: ChoosingOptions): Choosing {
  const host = useHost();
  const latest = useRef(options);
  latest.current = options;
  const way = useRef<Way>('only');
  /** The first row of a range. */
  const anchor = useRef(0);
  const current = useRef<KnownRow>(undefined);

  const { chooseAll, chooseRange } = rangesOf(host, grid, latest);
  const arrive = (row: EntryRow) => {
    const { choice, entries, onChoice } = latest.current;
    current.current = { row, pages: entries.pages };
    const { active } = grid();
    if (way.current === 'extend') void chooseRange(anchor.current, active);
    else if (way.current !== 'none') {
      anchor.current = active;
      onChoice(way.current === 'toggle' ? toggleChoice(choice, row) : chooseOnly([row]));
    }
  };
  const activate = (index: number, by: Way, row?: EntryRow) => {
    way.current = by;
    current.current = undefined;
    grid().activate(index, row);
  };
  const { open, seek, type } = useSeeking({ current, grid, latest, activate });
  useCameFrom(options, (path) => seek({ path }));
  const actions = useRef({ arrive, activate });
  actions.current = { arrive, activate };
  return {
    onArrive: useCallback((row: EntryRow) => queueMicrotask(() => actions.current.arrive(row)), []),
    onRowClick: useCallback((event: MouseEvent, index: number) => {
      actions.current.activate(index, wayOf(event));
    }, []),
    onKeyDown: (event) => {
      // The buttons of the head have their own keys.
      if (event.target !== event.currentTarget) return;
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
      else if (event.key === 'Escape') onChoice(NOTHING);
      else if (event.key.length === 1 && event.key !== ' ') type(event.key);
      else return;
      event.preventDefault();
    },
  };
}

function rangesOf(
  host: ReturnType<typeof useHost>,
  grid: () => RowGridState,
  latest: { readonly current: ChoosingOptions },
) {
  const rowsOf = async (offset: number, limit: number): Promise<EntryRow[]> => {
    const { list, view } = latest.current.entries;
    const rows: EntryRow[] = [];
    for (let at = 0; list !== undefined && at < limit; at += ROWS_AT_ONCE) {
      const range = { offset: offset + at, limit: Math.min(ROWS_AT_ONCE, limit - at) };
      rows.push(...(await host.ask('browse.rows', { list, view, ...range })).rows);
    }
    return rows;
  };
  const chooseAll = async () => {
    const { entries, onChoice } = latest.current;
    const total = grid().total ?? 0;
    if (total <= NAMED_MAX && entries.state === 'done') onChoice(chooseOnly(await rowsOf(0, total)));
    else onChoice(EVERYTHING);
  };
  const chooseRange = async (from: number, to: number) => {
    const [first, last] = from < to ? [from, to] : [to, from];
    const size = last - first + 1;
    if (size === grid().total) await chooseAll();
    else if (size <= RANGE_MAX) latest.current.onChoice(chooseOnly(await rowsOf(first, size)));
    else
      showToast({
        tone: 'info',
        title: `A range has at most ${formatCount(RANGE_MAX)} entries`,
        text: 'Type a filter, and choose all that it shows.',
      });
  };
  return { chooseAll, chooseRange };
}

/** Chooses the folder that the user has left, once its row is listed. */
function useCameFrom({ cameFrom, entries }: ChoosingOptions, seek: (path: string) => Promise<unknown>): void {
  const found = useRef<string>(undefined);
  const { list, state } = entries;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs again when the list has grown
  useEffect(() => {
    if (cameFrom === undefined || list === undefined || found.current === list) return;
    found.current = list;
    void seek(cameFrom);
  }, [cameFrom, list, state]);
}

function isEnd(key: string): boolean {
  return key === 'Home' || key === 'End';
}

function wayOf({ ctrlKey, metaKey, shiftKey }: MouseEvent): Way {
  return shiftKey ? 'extend' : ctrlKey || metaKey ? 'toggle' : 'only';
}
