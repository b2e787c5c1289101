/** The list of a workspace's changes in one direction, and its visible rows. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { DrayError } from '../../../engine/api/error.ts';
import { type Choices, NO_CHOICES } from '../../../engine/api/host/change-choices.ts';
import type { ChangeList, ChangeRow, ChangeView, KeptLook } from '../../../engine/api/host/changes.ts';
import type { TransferState } from '../../../engine/api/host/transfers.ts';
import type { AnswerOf } from '../../../engine/api/host.ts';
import { useFolderChanges } from '../../host/folder-news.ts';
import { useEndings, useHost, useRefresh } from '../../host/use-host.tsx';
import type { FetchRows, RowPages } from '../rows/row-pages.ts';
import { useShownPages } from '../rows/use-shown-pages.ts';
import { type ChosenStep, readPages, useChoiceSync } from './use-choice-sync.ts';

export type Direction = 'push' | 'pull';

export interface OpenedList {
  readonly list: ChangeList | undefined;
  readonly choices: Choices;
  readonly choose: (step: ChosenStep) => void;
  /** The version of the choices shown. */
  readonly version: () => number;
  /** Shows the choices that the engine has now. */
  readonly reloadChoices: () => void;
  readonly message: string;
  readonly setMessage: (message: string) => void;
  readonly look: Look;
  readonly setLook: (look: Look) => void;
  readonly error: DrayError | undefined;
  readonly isOpening: boolean;
  /** Refreshes the list. */
  readonly reopen: () => void;
}

/**
 * Opens the list at once, and again when a transfer of this workspace has ended or the engine has come back
 * without it. Closes it with the screen. The engine keeps the choices, the message and the look; it drops
 * choices whose rows are gone, and those that a transfer has used.
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
  const folderChanges = useFolderChanges(root);
  const setChoices = useCallback(
    (choices: Choices) => setShown((before) => before && { ...before, choices }),
    [],
  );
  const sync = useChoiceSync(root, direction, setChoices);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round`, `ended`, `returns` and `folderChanges` refresh
  useEffect(() => {
    const stop = new AbortController();
    let opened: string | undefined;
    setOpening(true);
    setError(undefined);
    const open = async (): Promise<void> => {
      const { kept, ...list } = await host.ask('changes.open', { root, direction }, { signal: stop.signal });
      opened = list.list;
      const where = { root, direction };
      const { choices, version } = await readPages(host, where, kept.choices, stop.signal);
      // What was typed while the list was read stays, until a transfer has used it.
      const own = latest.current?.done === done ? latest.current : undefined;
      sync.adopt(list.list, version);
      setShown({
        list,
        choices,
        message: own?.message ?? kept.message,
        look: own?.look ?? (kept.look ? lookOf(kept.look) : FIRST_LOOK),
        done,
      });
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
  }, [host, root, direction, round, ended, returns, folderChanges]);
  const actions = useMemo(() => {
    const keep = (parts: Partial<Pick<Shown, 'look' | 'message'>>) => {
      setShown((before) => before && { ...before, ...parts });
      const { look, ...rest } = parts;
      const kept = { root, direction, ...rest, ...(look ? { look: keptOf(look) } : {}) };
      host.ask('changes.keep', kept).catch(() => {});
    };
    return {
      choose: (step: ChosenStep) => {
        const { current } = latest;
        if (current) sync.choose(current.choices, step);
      },
      version: sync.version,
      reloadChoices: sync.reload,
      setMessage: (message: string) => keep({ message }),
      setLook: (look: Look) => keep({ look }),
      reopen: () => {
        setRound((before) => before + 1);
        void refresh('changes.status', 'home.list', 'changes.preview');
      },
    };
  }, [host, root, direction, sync, refresh]);
  // The same object while nothing of it changes: transfers render the screen several times a second.
  return useMemo(() => {
    const { choices, list, look, message } = shown ?? NOTHING_SHOWN;
    const isMeant = list?.direction === direction;
    return { list: isMeant ? list : undefined, choices, message, look, error, isOpening, ...actions };
  }, [shown, direction, error, isOpening, actions]);
}

interface Shown {
  readonly list: ChangeList;
  readonly choices: Choices;
  readonly message: string;
  readonly look: Look;
  /** The number of transfers carried out before. */
  readonly done: number;
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

const FIRST_LOOK: Look = { filter: '', kinds: new Set(), sort: 'path', isTree: true, open: new Set() };
const NOTHING_SHOWN = { list: undefined, choices: NO_CHOICES, message: '', look: FIRST_LOOK };
/** One message to the engine holds 1 MiB, also of a tree with long names. */
const KEPT_OPEN_CHARACTERS = 200_000;
const KEPT_OPEN_MAX = 10_000;

function lookOf({ kinds, open, ...rest }: KeptLook): Look {
  return { ...rest, kinds: new Set(kinds), open: new Set(open) };
}

/** The newest open folders that fit. */
function keptOf({ kinds, open, ...rest }: Look): KeptLook {
  const kept: string[] = [];
  let characters = 0;
  for (const folder of [...open].reverse()) {
    characters += folder.length;
    if (characters > KEPT_OPEN_CHARACTERS || kept.length === KEPT_OPEN_MAX) break;
    kept.push(folder);
  }
  return { ...rest, kinds: [...kinds], open: kept.reverse() };
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
  const id = list?.list;
  const view = JSON.stringify(viewOf(look));
  const fetchRows = useMemo((): FetchRows<AnswerOf<'changes.rows'>> | undefined => {
    if (id === undefined) return undefined;
    const parsed = JSON.parse(view) as ChangeView;
    return (offset, limit, signal) =>
      host.ask('changes.rows', { root, list: id, offset, limit, view: parsed }, { signal });
  }, [host, root, id, view]);
  return useShownPages(root, fetchRows);
}
