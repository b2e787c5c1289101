/** Starts transfers and shows a message. */
import { DrayError } from '../../engine/api/error.ts';
import type { TransferOrder } from '../../engine/api/host/transfers.ts';
import { formatPlural } from '../../engine/api/text/numbers.ts';
import { useHost } from '../host/use-host.tsx';
import { showFailure, showToast } from '../shell/toasts/toasts.tsx';

type StartTransfers = (title: string, orders: readonly TransferOrder[]) => Promise<void>;

/** The engine does not touch the stored objects of a repository whose name was not typed. */
export interface RepositoryRefusal {
  readonly name: string;
  readonly again: (confirmed: readonly string[]) => void;
}

export function refusedRepository(error: unknown): string | undefined {
  const name = error instanceof DrayError && error.code === 'conflict' ? error.data.repository : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** @returns A function that starts them one after the other; `title` describes what is now in the queue. */
export function useStartTransfers(onRefused?: (refusal: RepositoryRefusal) => void): StartTransfers {
  const host = useHost();
  const start: StartTransfers = async (title, orders) => {
    let started = 0;
    try {
      for (const order of orders) {
        await host.ask('transfers.start', order);
        started += 1;
      }
      // Disappears by itself: the count beside Transfers stays.
      // It has only begun: no check mark, which would stand beside a transfer that fails.
      showToast({ tone: 'info', title, text: 'See Transfers.' });
    } catch (error) {
      const name = refusedRepository(error);
      const again = (confirmed: readonly string[]) =>
        void start(
          title,
          orders.slice(started).map((order) => ('destination' in order ? { ...order, confirmed } : order)),
        );
      if (name !== undefined && onRefused) return onRefused({ name, again });
      const some = `Only ${started} of ${formatPlural(orders.length, 'transfer')} could be started`;
      showFailure(started === 0 ? 'The transfer could not be started' : some, error);
    }
  };
  return start;
}
