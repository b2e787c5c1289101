/** Finds rows by typed letters, and keeps the active row when a folder is listed again. */
import { type RefObject, useEffect, useRef } from 'react';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import type { AskOptions } from '../../../../engine/api/window/host-client.ts';
import { useHost } from '../../../host/use-host.tsx';
import type { RowGridState } from '../../rows/use-row-grid.ts';
import type { Way } from './choice.ts';
import type { Entries } from './use-entries.ts';

/** Letters within this time belong to one word. */
const TYPING_MS = 1_000;

/** The active row. It may have another index after the folder is listed again. */
export interface KnownRow {
  readonly row: EntryRow;
  /** The pages from which the row was read. */
  readonly pages: Entries['pages'];
}

interface Found {
  readonly index: number;
  readonly row: EntryRow;
}

type Wanted = { readonly startsWith: string } | { readonly path: string };

export interface SeekingProps {
  readonly entries: Entries;
  readonly onOpen: (row: EntryRow) => void;
}

export interface SeekingOptions {
  readonly grid: () => RowGridState;
  readonly latest: { readonly current: SeekingProps };
  readonly current: RefObject<KnownRow | undefined>;
  readonly activate: (index: number, by: Way, row?: EntryRow) => void;
  /** Raised by each choice, and by each search. */
  readonly turn: { current: number };
}

export interface Seeking {
  /** Chooses the first matching row. */
  readonly seek: (wanted: Wanted) => Promise<EntryRow | undefined>;
  readonly type: (letter: string) => void;
  /** The next letter begins another search. */
  readonly endTyping: () => void;
  /** Opens the active row, or the row that the letters typed just before lead to. */
  readonly open: () => Promise<void>;
}

export function useSeeking({ activate, current, grid, latest, turn }: SeekingOptions): Seeking {
  const host = useHost();
  const underWay = useRef<Promise<EntryRow | undefined>>(undefined);
  const typed = useRef({ text: '', atMs: 0 });
  const stop = useRef<AbortController>(undefined);
  const find = async (sought: Wanted, options: AskOptions = {}): Promise<Found | undefined> => {
    for (;;) {
      const { list, view } = latest.current.entries;
      if (list === undefined) return undefined;
      const found = await findIn(host, { list, view, sought }, options).catch(() => undefined);
      // The folder may have been listed again or sorted meanwhile.
      const now = latest.current.entries;
      if (options.signal?.aborted || (now.list === list && now.view === view)) return found;
    }
  };
  const seek = async (wanted: Wanted) => {
    // A further letter or a choice replaces the running search.
    turn.current += 1;
    const own = turn.current;
    stop.current?.abort();
    stop.current = new AbortController();
    const found = await find(wanted, { signal: stop.current.signal });
    if (!found || own !== turn.current) return undefined;
    grid().showRow(found.index);
    activate(found.index, 'only', found.row);
    return found.row;
  };
  useSameRow(latest.current, current, async (path) => {
    let found: Found | undefined;
    // A search by letters goes on: it chooses another row, or finds none.
    do {
      await underWay.current;
      found = await find({ path });
    } while (underWay.current);
    if (current.current?.row.path !== path) return;
    if (found) activate(found.index, 'none', found.row);
    else current.current = undefined;
  });
  return {
    seek,
    type(letter) {
      const nowMs = performance.now();
      const { atMs, text } = typed.current;
      typed.current = { text: nowMs - atMs < TYPING_MS ? text + letter : letter, atMs: nowMs };
      const found = seek({ startsWith: typed.current.text });
      underWay.current = found;
      void found.then(() => {
        if (underWay.current === found) underWay.current = undefined;
      });
    },
    endTyping() {
      typed.current = { text: '', atMs: 0 };
    },
    async open() {
      const seeking = underWay.current;
      const own = turn.current;
      const found = await seeking;
      // The person has chosen another row or left the folder, and does not mean this one.
      if (seeking && !found && own !== turn.current) return;
      const { entries, onOpen } = latest.current;
      const row = found ?? current.current?.row ?? entries.pages?.rowAt(grid().active);
      if (row) onOpen(row);
    },
  };
}

async function findIn(
  host: ReturnType<typeof useHost>,
  { sought, ...shown }: { readonly list: string; readonly view: Entries['view']; readonly sought: Wanted },
  options: AskOptions,
): Promise<Found | undefined> {
  const { index } = await host.ask('browse.seek', { ...shown, sought }, options);
  if (index === undefined) return undefined;
  const { rows } = await host.ask('browse.rows', { ...shown, offset: index, limit: 1 }, options);
  return rows[0] && { index, row: rows[0] };
}

/** Goes back to the row after a new listing, but not after a change of the order or the filter. */
function useSameRow(
  { entries: { pages, state, view } }: SeekingProps,
  current: RefObject<KnownRow | undefined>,
  goTo: (path: string) => Promise<void>,
): void {
  const isWhole = state !== 'opening' && state !== 'listing';
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the view changes
  useEffect(() => {
    current.current = undefined;
  }, [view]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when another listing is complete
  useEffect(() => {
    const known = current.current;
    if (!known || !isWhole || known.pages === pages) return;
    current.current = { ...known, pages };
    void goTo(known.row.path);
  }, [pages, isWhole]);
}
