/** Starts a transfer and says so, with the way to the queue. */
import type { TransferOrder } from '../../engine/api/host.ts';
import { useHost } from '../host/use-host.tsx';
import { goTo } from '../route.ts';
import { showFailure, showToast } from '../shell/toasts.tsx';

/** @returns What starts them, one after the other; `title` says what is now in the queue. */
export function useStartTransfers(): (title: string, orders: readonly TransferOrder[]) => Promise<void> {
  const host = useHost();
  return async (title, orders) => {
    try {
      for (const order of orders) await host.ask('transfers.start', order);
      showToast({
        tone: 'success',
        title,
        action: { label: 'Open Transfers', onPress: () => goTo('transfers') },
      });
    } catch (error) {
      showFailure('It could not be started', error);
    }
  };
}
