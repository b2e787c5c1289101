/** The works that datasets and plain trees share, each with the room that it takes. */

import type { DatasetShape } from '../data/dataset.ts';
import { datasetHolding, uploadedHolding } from '../scenarios/holding.ts';
import { roomOf } from '../scenarios/room.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { ContenderName } from './contender.ts';
import { createMissing, openClone, openFirstPush, openSecondPush } from './transfer-entrants.ts';

/** The work of a scenario, and its needs. */
export type Work = Pick<Scenario, 'needs' | 'open'>;

export function firstPush(shape: DatasetShape, contenders: readonly ContenderName[]): Work {
  return {
    // One tool at a time: its stored data, and the download for the comparison. DVC adds a copy and a cache
    // of both.
    needs: { holdings: [datasetHolding(shape)], source: roomOf(shape, 4), store: roomOf(shape) },
    open: (bench, latencyMs) => openFirstPush(bench, { shape, contenders, latencyMs }),
  };
}

export function secondPush(shape: DatasetShape, contenders: readonly ContenderName[]): Work {
  const own = contenders.includes('dray') ? [datasetHolding(shape, 'dray')] : [];
  return {
    // The stored data of each tool, of rclone in two ways, plus DVC's copy and cache.
    needs: {
      holdings: [datasetHolding(shape), ...own],
      source: roomOf(shape, 2),
      store: roomOf(shape, contenders.length + 1),
    },
    open: (bench, latencyMs) => openSecondPush(bench, { shape, contenders, latencyMs }),
  };
}

/** The tools with their own repository. */
const VERSIONED: readonly ContenderName[] = ['dray', 'restic', 'dvc'];

export function clone(shape: DatasetShape, contenders: readonly ContenderName[]): Work {
  const versioned = contenders.filter((name) => VERSIONED.includes(name));
  const isAnyPlain = versioned.length < contenders.length;
  return {
    // One download at a time, with a cache for DVC; besides, DVC's copy and cache.
    needs: {
      holdings: [datasetHolding(shape), ...(isAnyPlain ? [uploadedHolding(shape)] : [])],
      source: roomOf(shape, 4),
      store: roomOf(shape, versioned.length),
    },
    open: (bench, latencyMs) => openClone(bench, { shape, contenders, latencyMs }),
  };
}

const SLOW = 'left out: it takes minutes for so many files; see the row of fewer';

/** The work without some tools that could do it. */
export function leaveOutSlow({ needs, open }: Work, names: readonly ContenderName[]): Work {
  return {
    needs,
    open: async (bench, latencyMs) => {
      const field = await open(bench, latencyMs);
      const slow = names.filter((name) => bench.contenders.has(name));
      return [...field, ...slow.map((name) => createMissing(name, SLOW))];
    },
  };
}
