/** The list of a workspace's changes in one direction, and its visible rows. */
import { useEffect, useRef, useState } from 'react';
import type { DrayError } from '../../../engine/api/error.ts';
import type { ChangeList, ChangeRow, ChangeView } from '../../../engine/api/host/changes.ts';
import type { TransferState } from '../../../engine/api/host/transfers.ts';
import type { AnswerOf } from '../../../engine/api/host.ts';
import { useEndings, useHost, useRefresh } from '../../host/use-host.tsx';
import { createRowPages, type RowPages } from '../rows/row-pages.ts';
import { type Choices, chosenPaths, keepChoices, NO_CHOICES } from './choices.ts';

export type Direction = 'push' | 'pull';

export interface OpenedList {
  readonly list: ChangeList | undefined;
  readonly choices: Choices;
  readonly choose: (choices: Choices) => void;
  readonly error: DrayError | undefined;
  readonly isOpening: boolean;
  /** Refreshes the list. */
  readonly reopen: () => void;
}

/**
 * Opens the list at once, and again when a transfer of this workspace has ended or the engine has come back
 * without it. Closes it with the screen. Choices stay while their rows exist, until a transfer has used them.
 */
export function useChangeList(root: string, direction: Direction): OpenedList {
  const host = useHost();
  const refresh = useRefresh();
  const [round, setRound] = useState(0);
  const [shown, setShown] = useState<Shown>();
  const latest = useRef(shown);
  latest.current = shown;
  const [error, setError] = useState<DrayError>();
  const [isOpening, setOpening] = useState(true);
  const ended = useEndedTransfers(root);
  const done = useEndedTransfers(root, ['done']);
  const returns = useReturns();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round`, `ended` and `returns` trigger a refresh
  useEffect(() => {
    const stop = new AbortController();
    let opened: string | undefined;
    setOpening(true);
    setError(undefined);
    const open = async (): Promise<void> => {
      const list = await host.ask('changes.open', { root, direction }, { signal: stop.signal });
      opened = list.list;
      const before = latest.current?.done === done ? latest.current : undefined;
      const paths = before ? chosenPaths(before.choices) : [];
      const request = { root, list: list.list, paths };
      const found = paths.length > 0 && (await host.ask('changes.find', request, { signal: stop.signal }));
      const choices = before
        ? keepChoices(before.choices, found ? found.rows : [], isSameConflicts(before.list, list))
        : NO_CHOICES;
      setShown({ list, choices, done });
      setOpening(false);
    };
    open().catch((failure: DrayError) => {
      if (stop.signal.aborted) return;
      setError(failure);
      setShown(undefined);
      setOpening(false);
    });
    return () => {
      stop.abort();
      if (opened !== undefined) host.ask('changes.close', { root, list: opened }).catch(() => {});
    };
  }, [host, root, direction, round, ended, returns]);
  return {
    list: shown?.list.direction === direction ? shown.list : undefined,
    choices: shown?.choices ?? NO_CHOICES,
    choose: (choices) => setShown((before) => before && { ...before, choices }),
    error,
    isOpening,
    reopen: () => {
      setRound((before) => before + 1);
      void refresh('changes.status', 'home.list', 'changes.preview');
    },
  };
}

interface Shown {
  readonly list: ChangeList;
  readonly choices: Choices;
  /** The number of transfers carried out before. */
  readonly done: number;
}

function isSameConflicts(before: ChangeList, now: ChangeList): boolean {
  return before.commit === now.commit && before.conflicts === now.conflicts;
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

/** The number of the workspace's transfers that have ended. Each may have changed the list. */
export function useEndedTransfers(
  root: string,
  ends: readonly TransferState[] = ['done', 'failed', 'cancelled'],
): number {
  return useEndings(({ order, state }) => 'root' in order && order.root === root && ends.includes(state));
}

export interface Look {
  readonly filter: string;
  readonly kinds: ReadonlySet<ChangeRow['change']>;
  readonly sort: 'path' | 'size';
  readonly isTree: boolean;
  readonly open: ReadonlySet<string>;
}

function viewOf({ filter, kinds, sort, isTree, open }: Look): ChangeView {
  return {
    ...(filter === '' ? {} : { filter }),
    ...(kinds.size === 0 ? {} : { kinds: [...kinds] }),
    ...(isTree ? { open: ['', ...open] } : { sort }),
  };
}

/** Undefined while there is no list. New pages for each view. */
export function useRowPages(
  root: string,
  list: ChangeList | undefined,
  look: Look,
): RowPages<AnswerOf<'changes.rows'>> | undefined {
  const host = useHost();
  const [pages, setPages] = useState<RowPages<AnswerOf<'changes.rows'>>>();
  const id = list?.list;
  const view = JSON.stringify(viewOf(look));
  useEffect(() => {
    if (id === undefined) return;
    const parsed = JSON.parse(view) as ChangeView;
    const made = createRowPages((offset, limit, signal) =>
      host.ask('changes.rows', { root, list: id, offset, limit, view: parsed }, { signal }),
    );
    // The old rows stay until the first new ones arrive, so that nothing flashes.
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
