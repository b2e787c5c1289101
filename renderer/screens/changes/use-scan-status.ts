/**
 * Checks whether the list of a push is up to date, and passes on news of the choices. The engine watches the
 * folder. When the folder changes, or the window gets the focus again, the engine scans it and compares. The
 * screen then offers to reload the list; only an empty list is replaced at once.
 */
import { useEffect, useRef, useState } from 'react';
import type { ChangeList, FolderEvent } from '../../../engine/api/host/changes.ts';
import type { AnswerOf } from '../../../engine/api/host.ts';
import { useHost, useHostState, useRefresh } from '../../host/use-host.tsx';
import { useKnowOutgoing } from '../../shell/use-pending-changes.ts';
import { rowsOf } from './send-bar.tsx';

/** A shorter absence from the window causes no scan. */
const FRESH_MS = 2_000;

/** The pause after a scan that failed, for example because a push held the workspace. */
const FAILED_PAUSE_MS = 5_000;

export interface ScanStatus {
  readonly lookedMs: number;
  readonly unwatched?: FolderEvent['unwatched'];
  /** The number of changes in the folder, if the list is out of date. */
  readonly newRows?: number;
}

export interface FolderWatch extends Pick<FolderEvent, 'changes' | 'unwatched' | 'watchedMs'> {
  /** The version of the choices that the engine has: this window or another one has changed them. */
  readonly choices: number;
}

/** Called before the list is opened: the engine then scans a folder that is watched already. */
export function useFolderWatch(root: string): FolderWatch {
  const host = useHost();
  const state = useHostState();
  const [choices, setChoices] = useState(0);
  const [watch, setWatch] = useState<Omit<FolderWatch, 'choices'>>({ changes: 0, unwatched: 'starting' });
  useEffect(() => {
    if (state !== 'open') return;
    const stop = new AbortController();
    const watching = host.ask(
      'changes.watch',
      { root },
      {
        signal: stop.signal,
        onEvents: (events) => {
          for (const event of events) {
            if (event.type === 'folder') setWatch(event);
            else if (event.type === 'choices') setChoices(event.version);
          }
        },
      },
    );
    watching.catch(() => {});
    return () => stop.abort();
  }, [host, state, root]);
  return { ...watch, choices };
}

interface ScanStatusOptions {
  readonly watch: FolderWatch;
  readonly isBusy: boolean;
  readonly onEmptyChanged: () => void;
}

export function useScanStatus(
  root: string,
  list: ChangeList | undefined,
  { isBusy, onEmptyChanged, watch }: ScanStatusOptions,
): ScanStatus | undefined {
  const host = useHost();
  const refresh = useRefresh();
  const knowOutgoing = useKnowOutgoing();
  const { changes, unwatched, watchedMs = 0 } = watch;
  const [returns, setReturns] = useState(0);
  const [look, setLook] = useState<AnswerOf<'changes.look'>>();
  const id = list?.list;
  const lookedMs = Math.max(list?.lookedMs ?? 0, look?.list === id ? (look?.lookedMs ?? 0) : 0);
  const latest = useRef({ lookedMs, isEmpty: false, onEmptyChanged });
  latest.current = { lookedMs, isEmpty: list !== undefined && rowsOf(list) === 0, onEmptyChanged };

  useEffect(() => {
    const onReturn = () => {
      const isOld = Date.now() - latest.current.lookedMs > FRESH_MS;
      if (document.visibilityState === 'visible' && isOld) setReturns((before) => before + 1);
    };
    addEventListener('focus', onReturn);
    document.addEventListener('visibilitychange', onReturn);
    return () => {
      removeEventListener('focus', onReturn);
      document.removeEventListener('visibilitychange', onReturn);
    };
  }, []);

  useEffect(() => {
    if (list) knowOutgoing(root, list.totals);
  }, [root, list, knowOutgoing]);

  const listMs = list?.lookedMs ?? 0;
  // Each change and each return to the window starts a scan, and so does a watch that began after the list.
  useEffect(() => {
    if (id === undefined || isBusy || (changes + returns === 0 && watchedMs <= listMs)) return;
    // A hidden window scans when it is visible again.
    if (document.visibilityState === 'hidden') return;
    const stop = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    host.ask('changes.look', { root, list: id }, { signal: stop.signal }).then(
      (found) => {
        if (stop.signal.aborted) return;
        setLook(found);
        knowOutgoing(root, found.totals);
        void refresh('changes.preview', 'plan.push');
        if (!found.isSame && latest.current.isEmpty) latest.current.onEmptyChanged();
      },
      () => {
        if (stop.signal.aborted) return;
        retry = setTimeout(() => setReturns(returns + 1), FAILED_PAUSE_MS);
        // The folder may be gone.
        void refresh('home.list');
      },
    );
    return () => {
      stop.abort();
      clearTimeout(retry);
    };
  }, [host, root, id, isBusy, changes, returns, watchedMs, listMs, refresh, knowOutgoing]);

  if (!list) return undefined;
  const isNews = look?.list === id && !look?.isSame;
  return {
    lookedMs,
    ...(unwatched ? { unwatched } : {}),
    ...(isNews && look ? { newRows: look.rows } : {}),
  };
}
