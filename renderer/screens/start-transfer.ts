/** Starts transfers and says so. */
import type { TransferOrder } from '../../engine/api/host.ts';
import { useHost } from '../host/use-host.tsx';
import { showFailure, showToast } from '../shell/toasts.tsx';

/** @returns What starts them, one after the other; `title` says what is now in the queue. */
export function useStartTransfers(): (title: string, orders: readonly TransferOrder[]) => Promise<void> {
  const host = useHost();
  return async (title, orders) => {
    try {
      for (const order of orders) await host.ask('transfers.start', order);
      // It goes by itself: the count beside Transfers stays.
      showToast({ tone: 'success', title, text: 'It stands in Transfers.' });
    } catch (error) {
      showFailure('It could not be started', error);
    }
  };
}
