/** Transfers of the fixture host: one of each state, and running ones that move. */
import type { AnswerOf, InputOf, Transfer } from '../../engine/api/host.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const START_MS = Date.UTC(2026, 10, 21, 9, 30);

const BASE = { warnings: [], failed: 0, bytesPerSecond: 0, filesDone: 0, bytesDone: 0 } as const;

let transfers: readonly Transfer[] = [
  {
    ...BASE,
    id: 't1',
    order: { kind: 'push', root: '/home/ada/genomes', message: 'Samples of November' },
    title: 'Push genomes to lab',
    state: 'running',
    phase: 'upload',
    filesDone: 3_214,
    filesTotal: 9_870,
    bytesDone: 4.1 * GIB,
    bytesTotal: 11.6 * GIB,
    bytesPerSecond: 86 * MIB,
    secondsLeft: 89,
    inFlight: 22,
    inFlightMax: 24,
    startedMs: START_MS,
    warnings: ['"reads/run 7.tmp" changed while it was read, and was read again.'],
  },
  {
    ...BASE,
    id: 't2',
    order: { kind: 'copy', source: 'archive:imagery/2025/', destination: '/home/ada/imagery/2025/' },
    title: 'Copy imagery/2025 to this computer',
    state: 'running',
    phase: 'download',
    filesDone: 18,
    filesTotal: 1_042,
    bytesDone: 320 * MIB,
    bytesTotal: 5.1 * GIB,
    isCounting: true,
    inFlight: 8,
    inFlightMax: 12,
    bytesPerSecond: 12 * MIB,
    startedMs: START_MS + 20_000,
  },
  {
    ...BASE,
    id: 't3',
    order: { kind: 'pull', root: '/home/ada/models' },
    title: 'Pull models from lab',
    state: 'waiting',
  },
  {
    ...BASE,
    id: 't4',
    order: { kind: 'sync', source: '/home/ada/photos/', destination: 'backup:photos/' },
    title: 'Sync photos to backup',
    state: 'paused',
    phase: 'upload',
    filesDone: 411,
    filesTotal: 1_200,
    bytesDone: 1.9 * GIB,
    bytesTotal: 6.2 * GIB,
    startedMs: START_MS - 900_000,
  },
  {
    ...BASE,
    id: 't5',
    order: { kind: 'push', root: '/home/ada/sensors' },
    title: 'Push sensors to field-station',
    state: 'failed',
    phase: 'upload',
    filesDone: 87,
    filesTotal: 240,
    bytesDone: 210 * MIB,
    bytesTotal: 900 * MIB,
    startedMs: START_MS - 1_800_000,
    endedMs: START_MS - 1_500_000,
    failed: 2,
    error: {
      code: 'unreachable',
      message:
        'The remote field-station (http://10.0.8.2:9000) went away half-way and did not come back in 2 minutes.',
      retry: 'retry',
      data: {},
    },
  },
  {
    ...BASE,
    id: 't6',
    order: { kind: 'restore', root: '/home/ada/genomes', paths: ['reads/run-3.fastq'], from: '3f2a91c0' },
    title: 'Restore reads/run-3.fastq',
    state: 'done',
    filesDone: 1,
    filesTotal: 1,
    bytesDone: 740 * MIB,
    bytesTotal: 740 * MIB,
    startedMs: START_MS - 3_600_000,
    endedMs: START_MS - 3_590_000,
    requests: {
      reads: 46,
      writes: 0,
      lists: 1,
      deletes: 0,
      total: 47,
      sentBytes: 0,
      receivedBytes: 740 * MIB,
      dollars: 0.0000184,
    },
  },
  {
    ...BASE,
    id: 't7',
    order: { kind: 'push', root: '/home/ada/genomes' },
    title: 'Push genomes to lab',
    state: 'cancelled',
    filesDone: 12,
    filesTotal: 9_870,
    bytesDone: 31 * MIB,
    bytesTotal: 11.6 * GIB,
    startedMs: START_MS - 7_200_000,
    endedMs: START_MS - 7_190_000,
  },
];

const watchers = new Set<() => void>();

function set(next: readonly Transfer[]): void {
  transfers = next;
  for (const tell of watchers) tell();
}

/** Tells at once and every half second until stopped. */
function watchTransfers(tell: (transfers: readonly Transfer[]) => void, signal: AbortSignal): void {
  const send = (): void => tell(transfers);
  watchers.add(send);
  const timer = setInterval(() => set(transfers.map((transfer, index) => move(transfer, index))), 500);
  signal.addEventListener('abort', () => {
    watchers.delete(send);
    clearInterval(timer);
  });
  send();
}

function startTransfer(order: InputOf<'transfers.start'>): AnswerOf<'transfers.start'> {
  const id = `t${transfers.length + 1}-${order.kind}`;
  set([...transfers, { ...BASE, id, order, title: titleOf(order), state: 'waiting' }]);
  return { id };
}

function changeTransfers({ ids, action }: InputOf<'transfers.change'>): AnswerOf<'transfers.change'> {
  const isMeant = (transfer: Transfer): boolean => ids === 'all' || ids.includes(transfer.id);
  if (action === 'up' || action === 'down') {
    const list = [...transfers];
    const at = list.findIndex(isMeant);
    const to = action === 'up' ? at - 1 : at + 1;
    if (at === -1 || to < 0 || to >= list.length) return {};
    const [moved] = list.splice(at, 1);
    list.splice(to, 0, moved!);
    set(list);
    return {};
  }
  const isOver = ({ state }: Transfer): boolean => ['done', 'failed', 'cancelled'].includes(state);
  if (action === 'remove') {
    set(transfers.filter((transfer) => !(isMeant(transfer) && isOver(transfer))));
    return {};
  }
  set(
    transfers.map((transfer) =>
      isMeant(transfer) ? { ...transfer, ...changed(transfer, action) } : transfer,
    ),
  );
  return {};
}

function changed(transfer: Transfer, action: 'pause' | 'resume' | 'cancel' | 'retry'): Partial<Transfer> {
  const { state } = transfer;
  if (action === 'pause' && (state === 'running' || state === 'waiting'))
    return { state: 'paused', bytesPerSecond: 0 };
  if (action === 'resume' && state === 'paused') return { state: transfer.startedMs ? 'running' : 'waiting' };
  if (action === 'cancel' && (state === 'running' || state === 'waiting' || state === 'paused'))
    return { state: 'cancelled', bytesPerSecond: 0 };
  if (action === 'retry' && (state === 'failed' || state === 'cancelled'))
    return { state: 'running', failed: 0 };
  return {};
}

function move(transfer: Transfer, index: number): Transfer {
  if (transfer.state !== 'running') return transfer;
  const wave = 1 + 0.35 * Math.sin(Date.now() / (1_700 + 600 * index)) + 0.1 * Math.sin(Date.now() / 310);
  const bytesPerSecond = (index === 0 ? 86 : 14) * MIB * wave;
  const bytesDone = Math.min(
    transfer.bytesTotal ?? Number.POSITIVE_INFINITY,
    transfer.bytesDone + bytesPerSecond / 2,
  );
  const filesDone = Math.min(transfer.filesTotal ?? transfer.filesDone + 1, transfer.filesDone + 3);
  const isDone = transfer.bytesTotal !== undefined && bytesDone >= transfer.bytesTotal;
  if (isDone) return { ...transfer, state: 'done', bytesDone, bytesPerSecond: 0, endedMs: Date.now() };
  const left = transfer.bytesTotal === undefined ? undefined : (transfer.bytesTotal - bytesDone) / (86 * MIB);
  return {
    ...transfer,
    bytesDone,
    filesDone,
    bytesPerSecond,
    ...(left === undefined ? {} : { secondsLeft: left }),
  };
}

function titleOf(order: InputOf<'transfers.start'>): string {
  switch (order.kind) {
    case 'push':
      return `Push ${nameOf(order.root)}`;
    case 'pull':
      return `Pull ${nameOf(order.root)}`;
    case 'restore':
      return `Restore ${order.paths.length === 1 ? order.paths[0] : `${order.paths.length} paths`}`;
    case 'copy':
      return `Copy ${nameOf(order.source)}`;
    case 'sync':
      return `Sync ${nameOf(order.source)}`;
  }
}

function nameOf(place: string): string {
  return place.replace(/\/$/, '').split('/').at(-1) ?? place;
}

export const transfersFixture: FixtureHandlers = {
  'transfers.start': startTransfer,
  'transfers.change': changeTransfers,
  'transfers.failures': () => ({
    failures: [
      { path: 'station-3/2026-11-20.csv', message: 'The file changed three times while it was read.' },
      { path: 'station-3/locked.db', message: 'Permission denied.' },
    ],
  }),
  'transfers.watch': (_input, tell, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({}));
      watchTransfers((list) => tell({ type: 'transfers', transfers: list }), signal);
    }),
};
