/** When a pull or a restore has overwritten files that no commit has, says so and offers to put them back. */
import { useEffect, useRef } from 'react';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import type { PullSummary, RestoreSummary } from '../../engine/api/jobs.ts';
import { formatPlural } from '../../engine/api/numbers.ts';
import { tellFolderChanged } from '../host/folder-news.ts';
import { useDo, useTransfers } from '../host/use-host.tsx';
import { showFailure, showToast } from './toasts.tsx';

export function KeptToast() {
  const transfers = useTransfers();
  const seen = useRef<ReadonlySet<string>>(undefined);
  const { mutate } = useDo('kept.putBack', { refreshes: ['kept.list'] });
  useEffect(() => {
    if (!transfers) return;
    const keeping = transfers.filter((transfer) => keptBy(transfer));
    const before = seen.current;
    seen.current = new Set(keeping.map(({ id, endedMs }) => `${id} ${endedMs}`));
    for (const transfer of keeping) {
      const { endedMs, id, order } = transfer;
      if (!before || before.has(`${id} ${endedMs}`) || !('root' in order)) continue;
      const kept = keptBy(transfer)!;
      const { root } = order;
      const undo = () =>
        mutate(
          { root, id: kept.id },
          {
            onSuccess: ({ restored }) => {
              tellFolderChanged(root);
              showToast({ tone: 'success', title: `Put back ${formatPlural(restored, 'file')}` });
            },
            onError: (error) => showFailure('The files were not put back', error),
          },
        );
      showToast({
        tone: 'info',
        title: `${formatPlural(kept.files, 'local file')} ${kept.files === 1 ? 'was' : 'were'} overwritten`,
        text: 'Kept for 30 days: see Kept files in Changes.',
        action: { label: 'Undo', onPress: undo },
      });
    }
  }, [transfers, mutate]);
  return null;
}

function keptBy({ endedMs, summary }: Transfer) {
  return endedMs === undefined ? undefined : (summary as PullSummary | RestoreSummary | undefined)?.kept;
}
