import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { TransferOrder, TransferState } from '../../api/host/transfers.ts';
import { runUntilAborted } from '../../base/abort.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { checkDestination } from './transfer-jobs.ts';
import type { TransferQueue } from './transfer-queue.ts';

type CopyOrder = Extract<TransferOrder, { readonly kind: 'copy' | 'sync' }>;
type CloneOrder = Extract<TransferOrder, { readonly kind: 'clone' }>;

/** Checks the folder while the dialog is open, because the queued clone would fail after it is closed. */
async function checkClone(given: CloneOrder, queue: TransferQueue, call: HostCall): Promise<CloneOrder> {
  const { checkCloneFolder } = await import('../../jobs/pull/clone-folder.ts');
  const order = { ...given, root: resolve(given.root) };
  checkCloneFolder(jobContextOf(call, dirname(order.root)), order);
  const isQueued = queue
    .list()
    .some(
      ({ order: other, state }) => other.kind === 'clone' && other.root === order.root && OPEN.has(state),
    );
  if (!isQueued) return order;
  throw new DrayError('usage', `A clone into ${order.root} is in the queue already. See Transfers.`, {
    data: { path: order.root },
  });
}

/**
 * Refuses an unconfirmed repository before the copy is queued. Ignores other errors, such as missing keys,
 * because the transfer checks again when it runs.
 */
async function confirmDestination(order: CopyOrder, call: HostCall): Promise<void> {
  try {
    await checkDestination(order, jobContextOf(call, homedir()));
  } catch (error) {
    if (error instanceof DrayError && (error.code === 'conflict' || error.code === 'aborted')) throw error;
  }
}

const OPEN: ReadonlySet<TransferState> = new Set(['waiting', 'running', 'paused']);

export const TRANSFERS: HandlersOf<'transfers'> = {
  'transfers.start': async (given, call) => {
    const queue = await call.host.transfers();
    if (given.kind === 'copy' || given.kind === 'sync') await confirmDestination(given, call);
    return { id: queue.start(given.kind === 'clone' ? await checkClone(given, queue, call) : given) };
  },
  'transfers.change': async (change, { host }) => {
    const removed = (await host.transfers()).change(change);
    return removed.length === 0 ? {} : { removed };
  },
  'transfers.calls': async ({ id }, { host }) => ({ calls: (await host.transfers()).calls(id) }),
  'transfers.failures': async ({ id }, { host }) => ({ failures: (await host.transfers()).failures(id) }),
  'transfers.watch': async (_input, { emit, host, signal }) => {
    const queue = await host.transfers();
    const end = queue.watch((transfers) => emit({ type: 'transfers', transfers }));
    try {
      return await runUntilAborted(signal);
    } finally {
      end();
    }
  },
};
