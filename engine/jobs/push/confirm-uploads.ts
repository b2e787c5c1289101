/**
 * Checks once that the store has each object that a push sent, before a commit names it. The index gets the
 * object's row as soon as the store has answered, so that a killed push can resume from it. The row stays
 * unconfirmed until this check, at the end of the same push or at the start of the next one.
 */
import type { BlobTable } from '../../index/blob-table.ts';
import { findUnseen, type WrittenObject } from '../../query/existence/find-unseen.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { hashFromObjectKey, hashFromPackKey } from '../../repository/keys.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import type { Session } from '../session/open-workspace.ts';

/** Keys in memory at once: enough that one page of a listing confirms many of them. */
const PAGE_ROWS = 10_000;

export interface ConfirmOptions {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly blobs: BlobTable;
  readonly limit: AdaptiveLimit;
}

/** @returns The objects that are not on the store. Their rows are removed from the index. */
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
