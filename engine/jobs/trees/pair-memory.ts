/**
 * Remembers for a pair of places which states of an item are equal on both sides. Listings have no times, so
 * this saves a HEAD for each file of a second run. It lies in the user's cache; losing it costs time, never
 * data.
 */
import type { JobContext } from '../../api/jobs/jobs.ts';
import {
  createPairReader,
  type KnownPair,
  type PairProof,
  type PairReader,
} from '../../index/known-pairs.ts';
import type { PairSide } from '../../index/object-times.ts';
import { sweepTreeIndexes } from '../../index/sweep-tree-indexes.ts';
import { openTreeIndex, type TreeIndex } from '../../index/tree-index.ts';
import type { Recalled } from '../../model/tree-decision.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import { createSyncedBatches, type SyncedBatches } from '../session/synced-batches.ts';
import { userCacheFolder } from '../session/user-remotes.ts';
import type { Pair } from './move/mover.ts';
import { optionalIndex } from './optional-index.ts';

/** Rows that a killed run may lose; the next run compares those items again. */
const ROWS_AT_ONCE = 200;
const UNUSED_MS = 180 * 24 * 60 * 60 * 1000;

const RECALLED = {
  content: 'equal',
  time: 'equalByTime',
  contentAlone: 'equalContent',
} as const satisfies Record<PairProof, Recalled>;

export interface TreeKnowledge extends Disposable {
  readonly index: TreeIndex;
  /**
   * An earlier run's knowledge of two states (`itemState`). Fast if the paths of successive calls ascend.
   */
  recall(path: string, pair: Pair): Recalled;
  /**
   * Notes that both states are equal now, and what proved it. Notes nothing if a state has no token.
   * @param movedBytes Size of the content, if it was just written.
   */
  note(path: string, pair: Pair, proof: PairProof, movedBytes?: number): void;
  /**
   * From now on a note is saved only after `sync` has synced the files.
   * @param onFailure Gets the error of a sync in the background.
   */
  keepSynced(sync: () => Promise<void>, onFailure: (error: unknown) => void): void;
  /** Syncs and saves all notes. Throws what `sync` throws. */
  settle(): Promise<void>;
  /** The time of an object that an earlier run requested, as long as the listing shows the same upload. */
  recallTime(side: PairSide, item: TreeItem): TreeItem | undefined;
  noteTimes(side: PairSide, items: readonly TreeItem[]): void;
  forget(paths: readonly string[]): void;
  close(): void;
}

/**
 * A text for the state of an item. An object's state includes the second of its upload, because its store may
 * give it another time under the same etag, as versitygw does.
 */
export function itemState({ isFile, kind, modifiedMs, token }: TreeItem): string {
  const isObject = kind === 'object' && !isFile && token !== '';
  return isObject ? `${token}${UPLOADED}${Math.floor(modifiedMs / 1000)}` : token;
}

const UPLOADED = ' @';

/** An object that this run wrote is remembered without its second, which then matches any. */
function seenAs(known: string, now: string): 'same' | 'sameContent' | 'other' {
  const uploaded = now.lastIndexOf(UPLOADED);
  if (known === now || (uploaded >= 0 && known === now.slice(0, uploaded))) return 'same';
  if (uploaded < 0 || !known.startsWith(now.slice(0, uploaded + UPLOADED.length))) return 'other';
  return 'sameContent';
}

export interface KnowledgeOptions {
  /** Identities of the source and the destination. */
  readonly pair: readonly [string, string];
  /** Compare again instead of trusting the memory; the results are still remembered. */
  readonly noIndex: boolean;
  /** Keep what the run itself needs until it ends, and remember nothing. */
  readonly isTemporary?: boolean;
  readonly nowMs: number;
}

export function openKnowledge(context: JobContext, options: KnowledgeOptions): TreeKnowledge {
  const folder = `${userCacheFolder(context)}/trees`;
  const {
    index: file,
    rebuiltBecause,
    temporaryBecause,
  } = openTreeIndex({
    folder,
    pair: options.pair,
    isTemporary: options.isTemporary ?? false,
  });
  if (rebuiltBecause !== undefined) {
    const message = `The memory of this pair of places was damaged and starts empty (${rebuiltBecause}).`;
    context.emit({ type: 'warning', warning: 'indexRebuilt', message });
  }
  const reportTemporary = (because: string) => {
    const message = `Dray cannot remember this pair of places, so the next run compares everything again: ${because}`;
    context.emit({ type: 'warning', warning: 'indexTemporary', message });
  };
  if (temporaryBecause !== undefined) reportTemporary(temporaryBecause);
  const index = optionalIndex(file, ({ message }) => reportTemporary(message));
  const reader: PairReader | undefined = options.noIndex ? undefined : createPairReader(index);
  let rows: KnownPair[] = [];
  const flush = () => {
    if (rows.length === 0) return;
    index.put(rows);
    rows = [];
  };
  let synced: SyncedBatches<KnownPair> | undefined;
  return {
    index,
    recall(path, { sourceToken, destinationToken }) {
      const known = reader?.known(path);
      if (!known || sourceToken === '' || destinationToken === '') return 'unknown';
      const seen = [seenAs(known.tokens[0], sourceToken), seenAs(known.tokens[1], destinationToken)];
      if (seen.includes('other')) return 'unknown';
      if (!seen.includes('sameContent')) return RECALLED[known.proof];
      return known.proof === 'time' ? 'unknown' : 'equalContent';
    },
    keepSynced(sync, onFailure) {
      synced = createSyncedBatches({
        sync: async (writtenBytes) => {
          if (writtenBytes > 0) await sync();
        },
        keep: (known) => index.put(known),
        onFailure,
      });
    },
    async settle() {
      if (synced) await synced.flush();
      else flush();
    },
    note(path, { sourceToken, destinationToken }, proof, movedBytes = 0) {
      if (options.isTemporary || sourceToken === '' || destinationToken === '') return;
      const known: KnownPair = { path, tokens: [sourceToken, destinationToken], proof };
      if (synced) return synced.add(known, movedBytes);
      rows.push(known);
      if (rows.length >= ROWS_AT_ONCE) flush();
    },
    recallTime(side, item) {
      const known = options.noIndex || item.token === '' ? undefined : index.objectTime(side, item);
      if (!known) return undefined;
      const { mtimeNs } = known;
      return { ...item, wasAsked: true, ...(mtimeNs === undefined ? {} : { mtimeNs }) };
    },
    noteTimes(side, items) {
      const times = items.filter(({ token }) => token !== '');
      if (times.length > 0)
        index.putObjectTimes(
          side,
          times.map(({ modifiedMs, mtimeNs, path, token }) => ({ path, token, modifiedMs, mtimeNs })),
        );
    },
    forget: (paths) => index.remove(paths),
    [Symbol.dispose]() {
      this.close();
    },
    close() {
      try {
        // These files may not be synced, so their notes are dropped.
        if (!synced) flush();
      } finally {
        index.close();
        if (!options.isTemporary) sweepTreeIndexes(folder, options.nowMs - UNUSED_MS);
      }
    },
  };
}
