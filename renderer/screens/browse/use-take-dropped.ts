/** What was dropped from the desktop goes to a place: by its path in the desktop app, through the page in a browser. */
import { useRefresh } from '../../host/use-host.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { copyOrdersOf } from './desktop-entries.ts';
import { sendFiles } from './drops.ts';
import type { Dropped } from './pane.tsx';
import { describeLocation, type Location, placeOf } from './places.ts';
import { walkDropped } from './walk-dropped.ts';

export function useTakeDropped(): (dropped: Dropped, into: Location) => Promise<void> {
  const refresh = useRefresh();
  const start = useStartTransfers();
  return async ({ entries, items }, into) => {
    if (entries)
      return start(
        `What you dropped will be copied to ${describeLocation(into)}`,
        copyOrdersOf(entries, into),
      );
    await sendFiles(walkDropped(items, placeOf(into)));
    await refresh('browse.list');
  };
}
