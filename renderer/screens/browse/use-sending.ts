/** What goes from pane to pane or comes from the desktop. What lies at its place already is replaced only after a yes. */
import { useState } from 'react';
import { formatBytes, formatPlural } from '../../../engine/api/numbers.ts';
import { useRefresh } from '../../host/use-host.tsx';
import { parseRoute } from '../../route.ts';
import { showFailure, showToast } from '../../shell/toasts.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { copyOrders } from './copy-orders.ts';
import { copyOrdersOf } from './desktop-entries.ts';
import type { Replacing } from './dialogs.tsx';
import type { DropProgress } from './drop-queue.ts';
import { sendFiles } from './drops.ts';
import type { DraggedEntries } from './entry-table.tsx';
import type { Dropped } from './pane.tsx';
import { describeLocation, isSameLocation, type Location, nameOf, placeOf } from './places.ts';
import { useTakenNames } from './use-taken-names.ts';
import { walkDropped } from './walk-dropped.ts';

export interface Sending {
  readonly copy: (dragged: DraggedEntries, into: Location) => void;
  readonly take: (dropped: Dropped, into: Location) => void;
  /** What has to be agreed to first. */
  readonly replacing: Replacing | undefined;
  readonly forget: () => void;
}

export function useSending(): Sending {
  const [replacing, setReplacing] = useState<Replacing>();
  const start = useStartTransfers();
  const refresh = useRefresh();
  const takenNames = useTakenNames();
  /** What a pane shows may be old or one page of many, and a folder that one drops onto is not shown at all: so it is asked for. */
  const unlessTaken = async (given: readonly string[], into: Location, act: () => void): Promise<void> => {
    try {
      const names = await takenNames(placeOf(into), given);
      if (names.length === 0) act();
      else setReplacing({ names, into, act });
    } catch (error) {
      showFailure(`What is in ${describeLocation(into)} cannot be seen, so nothing was copied`, error);
    }
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
    copy: ({ from, paths }, into) => {
      if (isSameLocation(from, into)) return;
      const names = paths.map(nameOf);
      const what = names.length === 1 ? names[0] : formatPlural(names.length, 'entry', 'entries');
      void unlessTaken(names, into, () => {
        void start(`${what} will be copied to ${describeLocation(into)}`, copyOrders(from, paths, into));
      });
    },
    take: (dropped, into) => {
      const names = dropped.items.flatMap((item) => (item.kind === 'text' ? [] : [item.name]));
      void unlessTaken(names, into, () => void send(dropped, into));
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
