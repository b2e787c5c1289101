/** Copies from pane to pane and from the desktop. Existing files are replaced only after a confirmation. */
import { useRef, useState } from 'react';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { useHost, useRefresh } from '../../host/use-host.tsx';
import { parseRoute } from '../../route.ts';
import { showFailure, showToast, type Toast } from '../../shell/toasts/toasts.tsx';
import { type RepositoryRefusal, refusedRepository, useStartTransfers } from '../start-transfer.ts';
import { type Chosen, copyOrders } from './copy-orders.ts';
import type { Replacing } from './dialogs.tsx';
import { copyOrdersOf } from './drops/desktop-entries.ts';
import type { DropProgress } from './drops/drop-queue.ts';
import { sendFiles } from './drops/drops.ts';
import { walkDropped } from './drops/walk-dropped.ts';
import type { Dropped } from './pane.tsx';
import { describeLocation, isSameLocation, type Location, nameOf, placeOf } from './places.ts';
import { type TakenNames, useTakenNames } from './use-taken-names.ts';

export interface Sending {
  readonly copy: (dragged: Chosen, into: Location) => void;
  readonly take: (dropped: Dropped, into: Location) => void;
  /** The first question that waits for an answer. */
  readonly replacing: Replacing | undefined;
  readonly forget: () => void;
}

export function useSending(onRefused: (refusal: RepositoryRefusal) => void): Sending {
  const [replacing, setReplacing] = useState<readonly Replacing[]>([]);
  const start = useStartTransfers(onRefused);
  const refresh = useRefresh();
  const host = useHost();
  const takenNames = useTakenNames();
  const turns = useRef(new Map<string, Promise<void>>());
  const questions = useRef(0);
  /**
   * No order is dropped. An order to the same folder waits until the one before it is queued or has its
   * question.
   */
  const inTurn = (into: Location, act: () => Promise<void>): void => {
    const folder = placeOf(into);
    const mine = (turns.current.get(folder) ?? Promise.resolve()).then(act, act);
    turns.current.set(folder, mine);
    const forget = () => {
      if (turns.current.get(folder) === mine) turns.current.delete(folder);
    };
    mine.then(forget, forget);
  };
  /**
   * Asks the engine for existing names: a pane may show old ones or one page of many, and no pane shows a
   * folder that is a drop target.
   */
  const unlessTaken = async (
    given: Pick<Chosen, 'all' | 'paths'>,
    into: Location,
    act: () => Promise<void>,
  ): Promise<void> => {
    let taken: TakenNames;
    try {
      taken = await takenNames(placeOf(into), given);
    } catch (error) {
      showFailure(`Cannot list ${describeLocation(into)}, so nothing was copied`, error);
      return;
    }
    if (taken.total === 0) await act();
    else {
      questions.current += 1;
      const question = { id: questions.current, ...taken, into, act: () => void act() };
      setReplacing((before) => [...before, question]);
    }
  };
  const send = async (dropped: Dropped, into: Location, confirmed: readonly string[] = []): Promise<void> => {
    const { entries, items } = dropped;
    if (entries) {
      await start(`Copying the dropped files to ${describeLocation(into)}`, copyOrdersOf(entries, into));
      return;
    }
    const place = placeOf(into);
    try {
      await host.ask('browse.checkWrite', { place, confirmed });
    } catch (error) {
      const name = refusedRepository(error);
      const again = (typed: readonly string[]) => void send(dropped, into, typed);
      if (name !== undefined) return onRefused({ name, again });
      // Any other error fails each file too, and the report shows it.
    }
    const outcome = await sendFiles(walkDropped(items, { place, confirmed }));
    await refresh('browse.open');
    if (outcome && parseRoute(location.hash).screen !== 'browse') showArrival(outcome);
  };
  return {
    copy: (dragged, into) => {
      const { all, from, isPart, paths } = dragged;
      if (isSameLocation(from, into)) return;
      if (isPart) return void showToast(readFirst(from));
      const orders = copyOrders(dragged, into);
      const count = all?.count ?? paths.length;
      const what = paths.length === 1 ? nameOf(paths[0]!) : formatPlural(count, 'entry', 'entries');
      const title = `Copying ${what} to ${describeLocation(into)}`;
      inTurn(into, () => unlessTaken(dragged, into, () => start(title, orders)));
    },
    take: (dropped, into) => {
      const paths = dropped.items.flatMap((item) => (item.kind === 'text' ? [] : [item.name]));
      inTurn(into, () => unlessTaken({ paths }, into, async () => void send(dropped, into)));
    },
    replacing: replacing[0],
    forget: () => setReplacing(([, ...others]) => others),
  };
}

/** The question about existing names covers only the entries that were read. */
function readFirst(from: Location): Toast {
  return {
    tone: 'danger',
    title: `${describeLocation(from)} is not read to its end, so nothing was copied`,
    text: 'Read all of it first, or choose "Sync or copy all".',
  };
}

/** Browse itself shows a report. */
function showArrival({ bytesDone, filesDone, filesFailed }: DropProgress): void {
  const title = `Dropped files have arrived: ${formatPlural(filesDone, 'file')}, ${formatBytes(bytesDone)}`;
  if (filesFailed === 0) showToast({ tone: 'success', title });
  else
    showToast({
      tone: 'danger',
      title,
      text: `${formatPlural(filesFailed, 'file')} failed. Browse shows why.`,
    });
}
