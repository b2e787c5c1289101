import { isDamage } from '../../base/read-checked.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { isPresentOrRemoved } from '../../repository/collection/gone-ref.ts';
import { readLastRecord, type SeenRef } from '../../repository/collection/ref-record.ts';
import { etagOfDamaged, readAnyRef, writeAnyRef } from '../../repository/refs.ts';
import type { Session } from '../session/open-workspace.ts';

/**
 * Lets a ref go that is lost or cannot be read: it becomes a removed one, so collections go on without what
 * it led to. Only the record of a round tells a lost ref from one that never was.
 * @param name `heads/<branch>` or `tags/<tag>`.
 * @returns The ref as it was recorded. Undefined if it is not lost.
 */
export async function removeLostRef(
  { context: { signal } }: Session,
  store: ObjectStore,
  name: string,
): Promise<SeenRef | undefined> {
  const { refs, stored } = await readLastRecord(store, { signal });
  const recorded = refs.find((ref) => ref.name === name);
  if (!stored || !recorded) return undefined;
  const current = await readAnyRef(store, name, { signal }).catch(async (error: unknown) => {
    const etag = isDamage(error) ? await etagOfDamaged(store, name, { signal }) : undefined;
    if (etag === undefined) throw error;
    return { etag };
  });
  if (current && 'state' in current && isPresentOrRemoved(current)) return undefined;
  const { commit } = recorded;
  const { repository, round: epoch } = stored.state;
  const removed = { commit, epoch, repository, collects: true, state: 'removed' } as const;
  const expected = current ? { etag: current.etag } : ({ absent: true } as const);
  const { written } = await writeAnyRef(store, name, removed, expected, { signal });
  return written ? recorded : undefined;
}
