/**
 * Wraps the memory of two places for a run that must not fail because of it. The cache folder may be full,
 * its file damaged, or locked by another process. After the first such failure the run uses the memory no
 * more.
 */
import { DrayError, type ErrorCode } from '../../api/error.ts';
import type { TreeIndex } from '../../index/tree-index.ts';

/**
 * Failures of the index's file. Lists of a run (`spill`, `spilledPaths`, `sorter`) are not a cache and must
 * be complete.
 */
const ONLY_THE_CACHE: ReadonlySet<ErrorCode> = new Set(['io', 'diskFull', 'locked', 'damaged']);

/** @param onFailure Called once. */
export function optionalIndex(index: TreeIndex, onFailure: (error: DrayError) => void): TreeIndex {
  let isOff = false;
  const attempt = <T>(work: () => T, otherwise: T): T => {
    if (isOff) return otherwise;
    try {
      return work();
    } catch (error) {
      if (!(error instanceof DrayError) || !ONLY_THE_CACHE.has(error.code)) throw error;
      isOff = true;
      onFailure(error);
      return otherwise;
    }
  };
  return {
    find: (path) => attempt(() => index.find(path), undefined),
    page: (after, rowsMax) => attempt(() => index.page(after, rowsMax), []),
    put: (rows) => attempt(() => index.put(rows), undefined),
    remove: (paths) => attempt(() => index.remove(paths), undefined),
    uploads: {
      all: () => index.uploads.all(),
      load: (key) => attempt(() => index.uploads.load(key), undefined),
      save: (key, upload) => attempt(() => index.uploads.save(key, upload), undefined),
      forget: (key) => attempt(() => index.uploads.forget(key), undefined),
    },
    objectTime: (side, state) => attempt(() => index.objectTime(side, state), undefined),
    putObjectTimes: (side, times) => attempt(() => index.putObjectTimes(side, times), undefined),
    blocks: (key) => attempt(() => index.blocks(key), undefined),
    putBlocks: (key, blocks) => attempt(() => index.putBlocks(key, blocks), undefined),
    spill: () => index.spill(),
    sorter: () => index.sorter(),
    spilledPaths: () => index.spilledPaths(),
    close: () => index.close(),
  };
}
