/**
 * Compares two items of equal size by evidence that listings lack. Each comparison runs only when
 * `decideItem` asks for it.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import { readSmallFile } from '../../files/read/file-source.ts';
import { exactMtimeNs, readLink } from '../../files/scan/local-place.ts';
import type { Evidence } from '../../model/tree-decision.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { mtimeOfObject } from '../../query/trees/head-item.ts';
import { compareContent } from './check/check-content.ts';
import type { TreeRun } from './copy-run.ts';
import { headObject } from './existing-objects.ts';
import { isLinkItem } from './move/link-items.ts';
import type { TreeSide } from './sides.ts';

export interface CloserComparison {
  compare(at: 'hash' | 'head' | 'content', source: TreeItem, destination: TreeItem): Promise<Evidence>;
}

type SomeRun = Pick<TreeRun, 'counts' | 'destination' | 'memory' | 'source' | 'tasks'>;

export function createCloserComparison(run: SomeRun): CloserComparison {
  return {
    async compare(at, source, destination) {
      switch (at) {
        case 'hash':
          run.counts.decidedByHash += 1;
          return { content: await isSameHash(run, source, destination) };
        case 'head':
          run.counts.decidedByHead += 1;
          return compareTimes(run, source, destination);
        case 'content':
          run.counts.decidedByHash += 1;
          return { content: await isSameContent(run, source, destination) };
      }
    },
  };
}

/** Files up to this size are read in one go. */
const READ_WHOLE_BYTES_MAX = 1024 * 1024;

/** Compares MD5s: of a file by reading it, of an object by its etag. */
async function isSameHash(
  run: SomeRun,
  source: TreeItem,
  destination: TreeItem,
): Promise<'equal' | 'differs'> {
  const areObjects = source.kind === 'object' && destination.kind === 'object';
  if (source.sizeBytes > READ_WHOLE_BYTES_MAX && !areObjects) return isSameContent(run, source, destination);
  const [left, right] = await Promise.all([md5Of(run.source, source), md5Of(run.destination, destination)]);
  return left === right ? 'equal' : 'differs';
}

async function md5Of(side: TreeSide, item: TreeItem): Promise<string> {
  if (side.kind === 'remote') return item.token;
  const path = join(side.root, side.pathOf(item.path));
  const bytes = isLinkItem(side, item)
    ? readLink(path)
    : readSmallFile(path, { bytesMax: READ_WHOLE_BYTES_MAX }).bytes;
  return createHash('md5').update(bytes).digest('hex');
}

async function compareTimes(run: SomeRun, source: TreeItem, destination: TreeItem): Promise<Evidence> {
  const [sourceMtimeNs, destinationMtimeNs] = await Promise.all([
    mtimeOf(run, run.source, source),
    mtimeOf(run, run.destination, destination),
  ]);
  return {
    ...(sourceMtimeNs === undefined ? {} : { sourceMtimeNs }),
    ...(destinationMtimeNs === undefined ? {} : { destinationMtimeNs }),
  };
}

/** The exact time; undefined where none is stored. */
export async function mtimeOf(run: SomeRun, side: TreeSide, item: TreeItem): Promise<bigint | undefined> {
  if (item.mtimeNs !== undefined) return item.mtimeNs;
  if (side.kind === 'local') {
    // A link is rewritten and keeps no time.
    if (isLinkItem(side, item)) return undefined;
    // A scan's times are doubles, too coarse for nanoseconds.
    return exactMtimeNs(join(side.root, side.pathOf(item.path)));
  }
  if (item.wasAsked) return undefined;
  const info = await headObject(side, item.path, run.tasks.signal);
  return info && mtimeOfObject(info);
}

/** Content that a store cannot compare without sending it counts as different. Sending it again is safe. */
async function isSameContent(
  run: SomeRun,
  source: TreeItem,
  destination: TreeItem,
): Promise<'equal' | 'differs'> {
  await loadCrc64();
  const sides = {
    source: run.source,
    destination: run.destination,
    memory: run.memory,
    signal: run.tasks.signal,
  };
  const { result } = await compareContent(sides, source, destination, { byReading: false });
  return result === 'same' ? 'equal' : 'differs';
}
