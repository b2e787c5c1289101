/** A toast with Undo, after a pull or a restore has overwritten files that no commit has. */
import { useEffect, useRef } from 'react';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import type { PullSummary, RestoreSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { useTransfers } from '../../host/use-host.tsx';
import { usePutBack } from '../use-put-back.ts';
import { showToast } from './toasts.tsx';

export function KeptToast() {
  const transfers = useTransfers();
  const seen = useRef<ReadonlySet<string>>(undefined);
  const { putBack } = usePutBack();
  const latest = useRef(putBack);
  latest.current = putBack;
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
      showToast({
        tone: 'info',
        title: `${formatPlural(kept.files, 'local file')} ${kept.files === 1 ? 'was' : 'were'} overwritten`,
        text: 'Kept for 30 days: see Kept files in Changes.',
        action: { label: 'Undo', onPress: () => void latest.current(root, kept.id) },
      });
    }
  }, [transfers]);
  return null;
}

function keptBy({ endedMs, summary }: Transfer) {
  return endedMs === undefined ? undefined : (summary as PullSummary | RestoreSummary | undefined)?.kept;
}
