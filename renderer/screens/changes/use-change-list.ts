/** The list of a workspace's changes in one direction, and its visible rows. */
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { DrayError } from '../../../engine/api/error.ts';
import { type Choices, NO_CHOICES } from '../../../engine/api/host/change-choices.ts';
import type { ChangeList, ChangeRow, ChangeView, KeptLook } from '../../../engine/api/host/changes.ts';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import type { AnswerOf, InputOf } from '../../../engine/api/host.ts';
import { useFolderChanges } from '../../host/folder-news.ts';
import type { ReconnectingHost } from '../../host/reconnecting-host.ts';
import { useEndings, useHost, useRefresh } from '../../host/use-host.tsx';
import type { FetchRows, RowPages } from '../rows/row-pages.ts';
import { useShownPages } from '../rows/use-shown-pages.ts';
import { type ChosenStep, useChoiceSync } from './use-choice-sync.ts';

export type Direction = 'push' | 'pull';

export interface OpenedList {
  readonly list: ChangeList | undefined;
  readonly choices: Choices;
  readonly choose: (step: ChosenStep) => void;
  /** The version of the choices shown. */
  readonly version: () => number;
  /** Shows the choices that the engine has now. */
  readonly reloadChoices: () => void;
  /** The engine's choices have this version. */
  readonly hearChoices: (version: number) => void;
  readonly message: string;
  readonly setMessage: (message: string) => void;
  /** The deletions that the person has seen, by `deletions` of their list. */
  readonly seen: number | undefined;
  /** Whether the person has seen those of this list. */
  readonly setSeen: (hasSeen: boolean) => void;
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
  // Edits of the user: newer than any answer, until a transfer has used them.
  const edited = useRef<Edited>({});
  const [error, setError] = useState<DrayError>();
  const [isOpening, setOpening] = useState(true);
  const ended = useEndedTransfers(root);
  const done = useEndedTransfers(root, isCarriedOut);
  const doneBefore = useRef(done);
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
    if (doneBefore.current !== done) edited.current = {};
    doneBefore.current = done;
    setOpening(true);
    setError(undefined);
    const open = async (): Promise<void> => {
      const asked = askForList(host, { root, direction, shown: latest.current?.list }, stop.signal);
      const firstChoices = asked.then(({ kept }) => kept.choices);
      const { choices, version } = await sync.read(firstChoices, stop.signal);
      const { kept, ...list } = await asked;
      sync.adopt(list.list, version);
      setShown({
        list,
        choices,
        message: kept.message,
        look: kept.look ? lookOf(kept.look) : FIRST_LOOK,
        seen: kept.seen,
        ...edited.current,
      });
      setOpening(false);
    };
    open().catch((failure: DrayError) => {
      if (stop.signal.aborted) return;
      setError(failure);
      setShown(undefined);
      setOpening(false);
    });
    return () => stop.abort();
  }, [host, root, direction, round, ended, returns, folderChanges]);
  useClosedAtEnd(root, latest);
  const keeping = useKeeping(root, direction, { edited, latest, setShown });
  const actions = useMemo(
    () => ({
      ...keeping,
      choose: (step: ChosenStep) => {
        const { current } = latest;
        if (current) sync.choose(current.choices, step);
      },
      version: sync.version,
      reloadChoices: sync.reload,
      hearChoices: sync.hear,
      reopen: () => {
        setRound((before) => before + 1);
        void refresh('changes.status', 'home.list', 'changes.preview');
      },
    }),
    [keeping, sync, refresh],
  );
  // The same object while nothing of it changes: transfers render the screen several times a second.
  return useMemo(() => {
    const { choices, list, look, message, seen } = shown ?? NOTHING_SHOWN;
    const isMeant = list?.direction === direction;
    return { list: isMeant ? list : undefined, choices, message, look, seen, error, isOpening, ...actions };
  }, [shown, direction, error, isOpening, actions]);
}

function askForList(
  host: ReconnectingHost,
  { direction, root, shown }: { root: string; direction: Direction; shown: ChangeList | undefined },
  signal: AbortSignal,
): Promise<AnswerOf<'changes.open'>> {
  const input = { root, direction, ...(shown ? { using: shown.list } : {}) };
  return host.ask('changes.open', input, { signal });
}

/** A new list replaces the old one in the engine, which has to answer until then. */
function useClosedAtEnd(root: string, latest: RefObject<Shown | undefined>): void {
  const host = useHost();
  useEffect(
    () => () => {
      const list = latest.current?.list.list;
      if (list !== undefined) host.ask('changes.close', { root, list }).catch(() => {});
    },
    [host, root, latest],
  );
}

interface KeepingOptions {
  readonly edited: RefObject<Edited>;
  readonly latest: RefObject<Shown | undefined>;
  readonly setShown: (change: (before: Shown | undefined) => Shown | undefined) => void;
}

/** Shows at once what the engine is to keep. */
function useKeeping(
  root: string,
  direction: Direction,
  { edited, latest, setShown }: KeepingOptions,
): Pick<OpenedList, 'setLook' | 'setMessage' | 'setSeen'> {
  const host = useHost();
  return useMemo(() => {
    const keep = (shown: Edited, kept: Omit<InputOf<'changes.keep'>, 'root' | 'direction'>) => {
      edited.current = { ...edited.current, ...shown };
      setShown((before) => before && { ...before, ...shown });
      host.ask('changes.keep', { root, direction, ...kept }).catch(() => {});
    };
    return {
      setMessage: (message) => keep({ message }, { message }),
      setLook: (look) => keep({ look }, { look: keptOf(look) }),
      setSeen: (hasSeen) => {
        const deletions = latest.current?.list.deletions;
        if (deletions === undefined) return;
        keep({ seen: hasSeen ? deletions : undefined }, { seen: hasSeen ? deletions : null });
      },
    };
  }, [host, root, direction, edited, latest, setShown]);
}

interface Shown {
  readonly list: ChangeList;
  readonly choices: Choices;
  readonly message: string;
  readonly look: Look;
  readonly seen: number | undefined;
}

type Edited = Partial<Pick<Shown, 'message' | 'look' | 'seen'>>;

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
  isMeant: (transfer: Transfer) => boolean = () => true,
): number {
  return useEndings((transfer) => {
    const { order } = transfer;
    return 'root' in order && order.root === root && isMeant(transfer);
  });
}

/** It has used the message and the choices. */
function isCarriedOut({ order, state }: Transfer): boolean {
  return state === 'done' && (order.kind === 'push' || order.kind === 'pull');
}

export interface Look {
  readonly filter: string;
  readonly kinds: ReadonlySet<ChangeRow['change']>;
  readonly sort: 'path' | 'size';
  readonly isTree: boolean;
  readonly open: ReadonlySet<string>;
}

const FIRST_LOOK: Look = { filter: '', kinds: new Set(), sort: 'path', isTree: true, open: new Set() };
const NOTHING_SHOWN = {
  list: undefined,
  choices: NO_CHOICES,
  message: '',
  look: FIRST_LOOK,
  seen: undefined,
};
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

export function viewOf({ filter, kinds, sort, isTree, open }: Look): ChangeView {
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
