/** Starts a clone, and waits until it has reached its repository or could not. */
import { fromErrorRecord } from '../../../engine/api/error.ts';
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import type { InputOf } from '../../../engine/api/host.ts';
import type { ReconnectingHost } from '../../host/reconnecting-host.ts';
import { isOver } from '../transfers/transfer-words.ts';

/**
 * Resolves once the clone downloads or waits its turn: from then on it is a transfer like every other.
 * @throws The clone's own error if it ended before it had begun; it is then no longer listed.
 */
export async function startClone(
  host: ReconnectingHost,
  order: Omit<Extract<InputOf<'transfers.start'>, { readonly kind: 'clone' }>, 'kind'>,
): Promise<void> {
  const { id } = await host.ask('transfers.start', { kind: 'clone', ...order });
  const { error, phase, state } = await watchUntil(host, id, (transfer) => {
    return transfer.phase !== undefined || transfer.state !== 'running' || isOver(transfer);
  });
  if (state !== 'failed' || phase !== undefined || !error) return;
  await host.ask('transfers.change', { ids: [id], action: 'remove' });
  throw fromErrorRecord(error);
}

async function watchUntil(
  host: ReconnectingHost,
  id: string,
  isReached: (transfer: Transfer) => boolean,
): Promise<Transfer> {
  const { promise, reject, resolve } = Promise.withResolvers<Transfer>();
  const stopping = new AbortController();
  const watching = host.ask(
    'transfers.watch',
    {},
    {
      signal: stopping.signal,
      onEvents: (events) => {
        for (const event of events) {
          const found = event.type === 'transfers' && event.transfers.find((one) => one.id === id);
          if (found && isReached(found)) resolve(found);
        }
      },
    },
  );
  watching.catch(reject);
  try {
    return await promise;
  } finally {
    stopping.abort();
  }
}
