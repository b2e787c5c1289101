/** Finds rows by typed letters, and keeps the keyboard on its row when a folder is read again. */
import { type RefObject, useEffect, useRef } from 'react';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import { useHost } from '../../../host/use-host.tsx';
import type { RowGridState } from '../../rows/use-row-grid.ts';
import type { Way } from './choice.ts';
import type { Entries } from './use-entries.ts';

/** Letters that follow each other within this time are one word. */
const TYPING_MS = 1_000;

/** The row that the user went to. After another reading of the folder it may have another number. */
export interface KnownRow {
  readonly row: EntryRow;
  /** The pages that it was seen in. */
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
}

export interface Seeking {
  /** Chooses the first row that fits. */
  readonly seek: (wanted: Wanted) => Promise<EntryRow | undefined>;
  readonly type: (letter: string) => void;
  /** Opens the row of the keyboard. Right after letters it is the one that they lead to. */
  readonly open: () => Promise<void>;
}

export function useSeeking({ activate, current, grid, latest }: SeekingOptions): Seeking {
  const host = useHost();
  const stopping = useRef<AbortController>(undefined);
  const underWay = useRef<Promise<EntryRow | undefined>>(undefined);
  const typed = useRef({ text: '', atMs: 0 });
  const find = async (sought: Wanted, signal?: AbortSignal): Promise<Found | undefined> => {
    for (;;) {
      const { list, view } = latest.current.entries;
      if (list === undefined) return undefined;
      const found = await findIn(host, { list, view }, sought).catch(() => undefined);
      if (signal?.aborted) return undefined;
      // The folder may have been read again meanwhile.
      if (latest.current.entries.list === list) return found;
    }
  };
  const seek = async (wanted: Wanted) => {
    // Another letter makes another word.
    stopping.current?.abort();
    stopping.current = new AbortController();
    const found = await find(wanted, stopping.current.signal);
    if (found) {
      grid().showRow(found.index);
      activate(found.index, 'only', found.row);
    }
    return found?.row;
  };
  useSameRow(latest.current, current, async (path) => {
    const found = await find({ path });
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
    async open() {
      const found = await underWay.current;
      const { entries, onOpen } = latest.current;
      const row = found ?? current.current?.row ?? entries.pages?.rowAt(grid().active);
      if (row) onOpen(row);
    },
  };
}

async function findIn(
  host: ReturnType<typeof useHost>,
  shown: { readonly list: string; readonly view: Entries['view'] },
  sought: Wanted,
): Promise<Found | undefined> {
  const { index } = await host.ask('browse.seek', { ...shown, sought });
  if (index === undefined) return undefined;
  const { rows } = await host.ask('browse.rows', { ...shown, offset: index, limit: 1 });
  return rows[0] && { index, row: rows[0] };
}

/** In another order or under another filter, the keyboard does not follow its row. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when another list is whole
  useEffect(() => {
    const known = current.current;
    if (!known || !isWhole || known.pages === pages) return;
    current.current = { ...known, pages };
    void goTo(known.row.path);
  }, [pages, isWhole]);
}
