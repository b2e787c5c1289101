/** Starts transfers and shows a message. */
import type { TransferOrder } from '../../engine/api/host/transfers.ts';
import { formatPlural } from '../../engine/api/numbers.ts';
import { useHost } from '../host/use-host.tsx';
import { showFailure, showToast } from '../shell/toasts.tsx';

/** @returns A function that starts them one after the other; `title` describes what is now in the queue. */
export function useStartTransfers(): (title: string, orders: readonly TransferOrder[]) => Promise<void> {
  const host = useHost();
  return async (title, orders) => {
    let started = 0;
    try {
      for (const order of orders) {
        await host.ask('transfers.start', order);
        started += 1;
      }
      // Disappears by itself: the count beside Transfers stays.
      showToast({ tone: 'success', title, text: 'See Transfers.' });
    } catch (error) {
      const some = `Only ${started} of ${formatPlural(orders.length, 'transfer')} could be started`;
      showFailure(started === 0 ? 'The transfer could not be started' : some, error);
    }
  };
}
