/**
 * Looks once at what a push has sent, before a commit names it. A row of the index is written as soon as the store has answered, because a killed
 * push goes on from it, and is marked as unconfirmed until it was seen here: at the end of the same push, or at the start of the next one.
 */
import type { BlobTable } from '../index/blob-table.ts';
import { findUnseen, type WrittenObject } from '../query/find-unseen.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { hashFromObjectKey, hashFromPackKey } from '../repository/keys.ts';
import type { AdaptiveLimit } from '../transfer/adaptive-limit.ts';
import type { Session } from './session.ts';

/** Held in memory at once, and enough for a listing to show many of them. */
const PAGE_ROWS = 10_000;

export interface ConfirmOptions {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly blobs: BlobTable;
  readonly limit: AdaptiveLimit;
}

/** @returns what is not on the store. The index knows of none of it any more. */
export async function confirmUploads(options: ConfirmOptions): Promise<readonly WrittenObject[]> {
  const { blobs, limit, session, store } = options;
  const { signal } = session.context;
  const lost: WrittenObject[] = [];
  for (;;) {
    const page = blobs.pageOfUnconfirmed(PAGE_ROWS);
    const last = page.at(-1);
    if (!last) return lost;
    const unseen = await findUnseen(store, page, { limit, signal });
    session.index.transaction(() => {
      for (const { key } of unseen) forget(blobs, key);
      blobs.confirmUpTo(last.key);
    });
    lost.push(...unseen);
  }
}

function forget(blobs: BlobTable, key: string): void {
  const [blob, pack] = [hashFromObjectKey(key), hashFromPackKey(key)];
  if (blob) blobs.removeObject(blob);
  if (pack) blobs.removePack(pack);
}
