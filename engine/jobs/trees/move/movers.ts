/** Chooses the mover for a pair of places. Each is loaded on demand: a download loads no uploader. */
import type { Phase } from '../../../api/events.ts';
import type { CopyRequest } from '../../../api/jobs/trees.ts';
import { Budget } from '../../../base/budget.ts';
import { createLeasedMemory, type LeasedMemory } from '../../../base/leased-memory.ts';
import { PART_SIZE_MAX_BYTES } from '../../../transfer/upload/part-size.ts';
import type { TreeRun } from '../copy-run.ts';
import type { TreePair } from '../open-pair.ts';
import type { LocalSide, RemoteSide } from '../sides.ts';
import { createDeltaMover, type DeltaMover, type OpenDeltaMover } from './delta-mover.ts';
import { createDryMover } from './dry-mover.ts';
import { createStoreCopier } from './move-between-stores.ts';
import { createDownloader } from './move-from-store.ts';
import { createLocalCopier } from './move-locally.ts';
import { createUploader } from './move-to-store.ts';
import type { Mover } from './mover.ts';

const MIB = 1024 * 1024;
/** Bytes of content in flight. */
const MEMORY_BYTES = 96 * MIB;

export async function createMover(run: TreeRun): Promise<Mover> {
  let delta: DeltaMover | undefined;
  const openDelta: OpenDeltaMover = (writer) => {
    delta = createDeltaMover(run, writer);
    return delta;
  };
  const mover = await openMover(run, openDelta);
  const { destination, request, tasks } = run;
  const files = destination.kind === 'remote' && !request.dryRun ? destination.store.files : undefined;
  return {
    ...(files ? { sync: () => files.sync({ signal: tasks.signal }) } : {}),
    ...mover,
    move(item, over) {
      const isShown = !request.dryRun && !item.special;
      return isShown ? run.progress.during(item, () => mover.move(item, over)) : mover.move(item, over);
    },
    async close() {
      try {
        await mover.close();
      } finally {
        await delta?.close();
      }
    },
  };
}

function openMover(run: TreeRun, openDelta: OpenDeltaMover): Promise<Mover> | Mover {
  const { destination, request, source } = run;
  if (request.dryRun) return createDryMover(openDelta(undefined));
  if (destination.kind === 'remote') {
    return source.kind === 'remote'
      ? createStoreCopier(run as TreeRun<RemoteSide, RemoteSide>, openDelta(undefined))
      : createUploader(run as TreeRun<LocalSide, RemoteSide>, openDelta(undefined));
  }
  return source.kind === 'remote'
    ? createDownloader(run as TreeRun<RemoteSide, LocalSide>, openDelta)
    : createLocalCopier(run as TreeRun<LocalSide, LocalSide>);
}

export function createTreeMemory({ partSizeBytes = 0 }: Pick<CopyRequest, 'partSizeBytes'>): LeasedMemory {
  return createLeasedMemory({
    budget: new Budget(MEMORY_BYTES),
    largestBytes: Math.max(PART_SIZE_MAX_BYTES, partSizeBytes),
    open: (lengthBytes) => ({ buffer: new SharedArrayBuffer(lengthBytes), start: 0 }),
  });
}

export function phaseOf({ destination, source }: Pick<TreePair, 'destination' | 'source'>): Phase {
  if (destination.kind === 'remote') return 'upload';
  return source.kind === 'remote' ? 'download' : 'write';
}
