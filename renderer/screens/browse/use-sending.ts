/** What goes from pane to pane or comes from the desktop. What lies at its place already is replaced only after a yes. */
import { useRef, useState } from 'react';
import { formatBytes, formatPlural } from '../../../engine/api/numbers.ts';
import { useRefresh } from '../../host/use-host.tsx';
import { parseRoute } from '../../route.ts';
import { showFailure, showToast } from '../../shell/toasts.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { type Chosen, copyOrders } from './copy-orders.ts';
import { copyOrdersOf } from './desktop-entries.ts';
import type { Replacing } from './dialogs.tsx';
import type { DropProgress } from './drop-queue.ts';
import { sendFiles } from './drops.ts';
import type { Dropped } from './pane.tsx';
import { describeLocation, isSameLocation, type Location, nameOf, placeOf } from './places.ts';
import { useTakenNames } from './use-taken-names.ts';
import { walkDropped } from './walk-dropped.ts';

export interface Sending {
  readonly copy: (dragged: Chosen, into: Location) => void;
  readonly take: (dropped: Dropped, into: Location) => void;
  /** What has to be agreed to first. */
  readonly replacing: Replacing | undefined;
  readonly forget: () => void;
}

/** Within it the same press a second time is a double click. */
const DOUBLE_CLICK_MS = 500;

/** A copy that was asked for. */
interface Press {
  readonly what: string;
  readonly atMs: number;
  /** Until its transfers are in the queue, or it is known what has to be agreed to first. */
  isOpen: boolean;
}

export function useSending(): Sending {
  const [replacing, setReplacing] = useState<Replacing>();
  const start = useStartTransfers();
  const refresh = useRefresh();
  const takenNames = useTakenNames();
  const pressed = useRef<Press>(undefined);
  /** What a pane shows may be old or one page of many, and a folder that one drops onto is not shown at all: so it is asked for. */
  const unlessTaken = async (
    given: readonly string[],
    into: Location,
    act: () => Promise<void>,
  ): Promise<void> => {
    let names: readonly string[];
    try {
      names = await takenNames(placeOf(into), given);
    } catch (error) {
      showFailure(`What is in ${describeLocation(into)} cannot be seen, so nothing was copied`, error);
      return;
    }
    if (names.length === 0) await act();
    else setReplacing({ names, into, act: () => void act() });
  };
  const send = async ({ entries, items }: Dropped, into: Location): Promise<void> => {
    if (entries) {
      await start(
        `What you dropped will be copied to ${describeLocation(into)}`,
        copyOrdersOf(entries, into),
      );
      return;
    }
    const outcome = await sendFiles(walkDropped(items, placeOf(into)));
    await refresh('browse.list');
    if (outcome && parseRoute(location.hash).screen !== 'browse') tellElsewhere(outcome);
  };
  return {
    copy: (dragged, into) => {
      const { from, paths } = dragged;
      if (isSameLocation(from, into)) return;
      const orders = copyOrders(dragged, into);
      const press: Press = { what: JSON.stringify(orders), atMs: Date.now(), isOpen: true };
      const last = pressed.current;
      if (last?.what === press.what && (last.isOpen || press.atMs - last.atMs < DOUBLE_CLICK_MS)) return;
      pressed.current = press;
      const names = paths.map(nameOf);
      const what = names.length === 1 ? names[0] : formatPlural(names.length, 'entry', 'entries');
      void unlessTaken(names, into, () =>
        start(`${what} will be copied to ${describeLocation(into)}`, orders),
      ).finally(() => {
        press.isOpen = false;
      });
    },
    take: (dropped, into) => {
      const names = dropped.items.flatMap((item) => (item.kind === 'text' ? [] : [item.name]));
      void unlessTaken(names, into, () => send(dropped, into));
    },
    replacing,
    forget: () => setReplacing(undefined),
  };
}

/** Browse itself shows a report. */
function tellElsewhere({ bytesDone, filesDone, filesFailed }: DropProgress): void {
  const title = `Dropped files have arrived: ${formatPlural(filesDone, 'file')}, ${formatBytes(bytesDone)}`;
  if (filesFailed === 0) showToast({ tone: 'success', title });
  else
    showToast({
      tone: 'danger',
      title,
      text: `${formatPlural(filesFailed, 'file')} failed: Browse says why.`,
    });
}
