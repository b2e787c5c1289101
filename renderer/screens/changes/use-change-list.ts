/** The list of changes of a workspace in one direction, and the rows of what is looked at of it. */
import { useEffect, useState } from 'react';
import type { DrayError } from '../../../engine/api/error.ts';
import type { ChangeList, ChangeRow, ChangeView } from '../../../engine/api/host.ts';
import { useHost, useRefresh, useTransfers } from '../../host/use-host.tsx';
import { createRowPages, type RowPages } from './row-pages.ts';

export type Direction = 'push' | 'pull';

export interface OpenedList {
  readonly list: ChangeList | undefined;
  readonly error: DrayError | undefined;
  readonly isOpening: boolean;
  /** Looks again. */
  readonly reopen: () => void;
}

/**
 * Opens it at once, and again when a transfer of this workspace has ended or the engine has come back: it forgot the list. Closes it when
 * the screen goes.
 */
export function useChangeList(root: string, direction: Direction): OpenedList {
  const host = useHost();
  const refresh = useRefresh();
  const [round, setRound] = useState(0);
  const [list, setList] = useState<ChangeList>();
  const [error, setError] = useState<DrayError>();
  const [isOpening, setOpening] = useState(true);
  const ended = useEndedTransfers(root);
  const returns = useReturns();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round`, `ended` and `returns` ask for a new look
  useEffect(() => {
    const stop = new AbortController();
    let opened: string | undefined;
    setOpening(true);
    setError(undefined);
    host.ask('changes.open', { root, direction }, { signal: stop.signal }).then(
      (answer) => {
        opened = answer.list;
        setList(answer);
        setOpening(false);
      },
      (failure: DrayError) => {
        if (stop.signal.aborted) return;
        setError(failure);
        setList(undefined);
        setOpening(false);
      },
    );
    return () => {
      stop.abort();
      if (opened !== undefined) host.ask('changes.close', { root, list: opened }).catch(() => {});
    };
  }, [host, root, direction, round, ended, returns]);
  return {
    list: list?.direction === direction ? list : undefined,
    error,
    isOpening,
    reopen: () => {
      setRound((before) => before + 1);
      void refresh('changes.status', 'home.list', 'changes.preview');
    },
  };
}

/** How often the engine came back. */
function useReturns(): number {
  const host = useHost();
  const [returns, setReturns] = useState(0);
  useEffect(() => {
    let wasAway = host.state() === 'away';
    return host.onState(() => {
      const state = host.state();
      if (wasAway && state === 'open') setReturns((before) => before + 1);
      wasAway = state === 'away' || (wasAway && state !== 'open');
    });
  }, [host]);
  return returns;
}

/** How many transfers of the workspace are over: each one more may have changed what differs. */
export function useEndedTransfers(root: string): number {
  const transfers = useTransfers() ?? [];
  return transfers.filter(
    ({ order, state }) => 'root' in order && order.root === root && (state === 'done' || state === 'failed'),
  ).length;
}

export interface Look {
  readonly filter: string;
  readonly kinds: ReadonlySet<ChangeRow['change']>;
  readonly sort: 'path' | 'size';
  readonly isTree: boolean;
  readonly open: ReadonlySet<string>;
}

export function viewOf({ filter, kinds, sort, isTree, open }: Look): ChangeView {
  return {
    ...(filter === '' ? {} : { filter }),
    ...(kinds.size === 0 ? {} : { kinds: [...kinds] }),
    ...(isTree ? { open: ['', ...open] } : { sort }),
  };
}

/** Undefined while there is no list. New pages for each view. */
export function useRowPages(root: string, list: ChangeList | undefined, look: Look): RowPages | undefined {
  const host = useHost();
  const [pages, setPages] = useState<RowPages>();
  const id = list?.list;
  const view = JSON.stringify(viewOf(look));
  useEffect(() => {
    if (id === undefined) return;
    const parsed = JSON.parse(view) as ChangeView;
    const made = createRowPages((offset, limit, signal) =>
      host.ask('changes.rows', { root, list: id, offset, limit, view: parsed }, { signal }),
    );
    // The rows before stay until the first of these came, so that nothing flashes.
    let isShown = false;
    const show = () => {
      if (isShown || (made.total() === undefined && made.error() === undefined)) return;
      isShown = true;
      setPages(made);
    };
    const stop = made.subscribe(show);
    made.look(0, 0);
    return () => {
      stop();
      made.close();
    };
  }, [host, root, id, view]);
  return id === undefined ? undefined : pages;
}
