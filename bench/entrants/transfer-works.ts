/** The works that datasets and plain trees have in common, each with the room that it takes. */

import type { DatasetShape } from '../data/dataset.ts';
import { datasetHolding, uploadedHolding } from '../scenarios/holding.ts';
import { roomOf } from '../scenarios/room.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { ContenderName } from './contender.ts';
import { createMissing, openClone, openFirstPush, openSecondPush } from './transfer-entrants.ts';

/** What a scenario does, and what it takes. */
export type Work = Pick<Scenario, 'needs' | 'open'>;

export function firstPush(shape: DatasetShape, contenders: readonly ContenderName[]): Work {
  return {
    // One tool's at a time: what it stored, and what was fetched to be compared; of both DVC has its own copy and a cache.
    needs: { holdings: [datasetHolding(shape)], source: roomOf(shape, 4), store: roomOf(shape) },
    open: (bench, latencyMs) => openFirstPush(bench, { shape, contenders, latencyMs }),
  };
}

export function secondPush(shape: DatasetShape, contenders: readonly ContenderName[]): Work {
  const own = contenders.includes('dray') ? [datasetHolding(shape, 'dray')] : [];
  return {
    // What each stored, rclone in two ways; DVC's own copy and its cache.
    needs: {
      holdings: [datasetHolding(shape), ...own],
      source: roomOf(shape, 2),
      store: roomOf(shape, contenders.length + 1),
    },
    open: (bench, latencyMs) => openSecondPush(bench, { shape, contenders, latencyMs }),
  };
}

/** With a repository of its own. */
const VERSIONED: readonly ContenderName[] = ['dray', 'restic', 'dvc'];

export function clone(shape: DatasetShape, contenders: readonly ContenderName[]): Work {
  const versioned = contenders.filter((name) => VERSIONED.includes(name));
  const isAnyPlain = versioned.length < contenders.length;
  return {
    // What is fetched, one at a time, with a cache where it is DVC's; beside it DVC's own copy and its cache.
    needs: {
      holdings: [datasetHolding(shape), ...(isAnyPlain ? [uploadedHolding(shape)] : [])],
      source: roomOf(shape, 4),
      store: roomOf(shape, versioned.length),
    },
    open: (bench, latencyMs) => openClone(bench, { shape, contenders, latencyMs }),
  };
}

const SLOW = 'left out: it takes minutes for so many files; see the row of fewer';

/** The work without some who would do it too. */
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
