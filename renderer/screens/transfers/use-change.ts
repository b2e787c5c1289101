/** Changes transfers. A removal from the list can be undone for as long as its message shows. */
import { useCallback } from 'react';
import type { InputOf } from '../../../engine/api/host.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { useHost } from '../../host/use-host.tsx';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';

export type TransferChange = InputOf<'transfers.change'>;

/** The function throws the engine's error. */
export function useTransferChange(): (change: TransferChange) => Promise<void> {
  const host = useHost();
  return useCallback(
    async (change) => {
      const { removed = [] } = await host.ask('transfers.change', change);
      if (removed.length === 0) return;
      const putBack = () =>
        host
          .ask('transfers.change', { ids: removed, action: 'putBack' })
          .catch((error: unknown) => showFailure('The transfers were not put back', error));
      showToast({
        tone: 'info',
        title: `Removed ${formatPlural(removed.length, 'transfer')} from the list`,
        action: { label: 'Undo', onPress: () => void putBack() },
      });
    },
    [host],
  );
}
