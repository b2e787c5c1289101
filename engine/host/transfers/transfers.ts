import { DrayError } from '../../api/error.ts';
import type { HandlersOf } from '../port/host-call.ts';

export const TRANSFERS: HandlersOf<'transfers'> = {
  'transfers.start': async (order, { host }) => ({ id: (await host.transfers()).start(order) }),
  'transfers.change': async (change, { host }) => {
    (await host.transfers()).change(change);
    return {};
  },
  'transfers.failures': async ({ id }, { host }) => ({ failures: (await host.transfers()).failures(id) }),
  'transfers.watch': async (_input, { emit, host, signal }) => {
    const queue = await host.transfers();
    const end = queue.watch((transfers) => emit({ type: 'transfers', transfers }));
    try {
      return await new Promise<never>((_resolve, reject) => {
        const stop = () => reject(new DrayError('aborted', 'Stopped on request.'));
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop);
      });
    } finally {
      end();
    }
  },
};
