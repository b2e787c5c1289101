/** Commits that the index has. It is a cache: one that is damaged there is dropped and read again. */
import { isDamage } from '../../../base/read-checked.ts';
import type { Index } from '../../../index/open-index.ts';
import type { CommitHash } from '../../../model/entry.ts';
import { type Commit, decodeCommit } from '../../../repository/commit.ts';

export interface CachedCommit {
  readonly commit: Commit;
  /** As they are stored. */
  readonly bytes: Uint8Array;
}

export function findCachedCommit(
  { settings }: Pick<Index, 'settings'>,
  hash: CommitHash,
): CachedCommit | undefined {
  const bytes = settings.cachedCommit(hash);
  if (!bytes) return undefined;
  try {
    return { commit: decodeCommit(hash, bytes), bytes };
  } catch (error) {
    if (!isDamage(error)) throw error;
    settings.dropCommit(hash);
    return undefined;
  }
}
