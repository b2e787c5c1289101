/**
 * Checks once that the store has each object that a push sent, before a commit names it. The index gets the
 * object's row as soon as the store has answered, so that a killed push can resume from it. The row stays
 * unconfirmed until this check, at the end of the same push or at the start of the next one.
 */
import { findUnseen, notStored, type WrittenObject } from '../../query/existence/find-unseen.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { hashFromAnyObjectKey, hashFromPackKey } from '../../repository/keys.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import type { LinkedRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';

/** Keys in memory at once: enough that one page of a listing confirms many of them. */
const PAGE_ROWS = 10_000;

export interface ConfirmOptions {
  readonly session: Pick<Session, 'context' | 'index'>;
  readonly store: ObjectStore;
  readonly link: Pick<LinkedRepository, 'blobs'>;
  readonly limit: AdaptiveLimit;
}

/** @throws `remoteFailed` when the store lost something that it had reported as stored */
export async function confirmUploads(options: ConfirmOptions): Promise<void> {
  for (const lost of await findLostUploads(options)) throw notStored(options.store, lost);
}

/** @returns The objects that are not on the store. Their rows are removed from the index. */
export async function findLostUploads(options: ConfirmOptions): Promise<readonly WrittenObject[]> {
  const { limit, session, store } = options;
  const { blobs } = options.link;
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

function forget(blobs: LinkedRepository['blobs'], key: string): void {
  const [blob, pack] = [hashFromAnyObjectKey(key), hashFromPackKey(key)];
  if (blob) blobs.removeObject(blob);
  if (pack) blobs.removePack(pack);
}
