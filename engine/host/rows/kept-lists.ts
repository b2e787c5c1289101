/**
 * The lists of rows that windows show. A list is dropped when its port closes, or when the port opens another
 * list of the same subject and no longer uses this one.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';

/** The port that owns the list. */
export interface PortOwner {
  readonly closed: AbortSignal;
}

export interface KeptLists<L> {
  /**
   * Returns the list's id.
   * @param subject Such as a workspace and a direction. Default: none.
   * @param using The list that the port shows until it has this one. The subject's other lists are dropped.
   */
  keep(owner: PortOwner, list: L, subject?: string, using?: string): string;
  /** @throws `notFound` if the list was dropped. */
  find(id: string): L;
  drop(id: string): void;
}

export interface KeptListsOptions<L> {
  /** The most lists of the engine. The least recently used one is dropped first. */
  readonly most: number;
  /** The message of the error for a dropped list. */
  readonly gone: string;
  /** Called for each dropped list. */
  readonly onDrop?: (list: L) => void;
}

interface Kept<L> {
  readonly list: L;
  readonly owner: PortOwner;
  readonly subject: string;
}

export function createKeptLists<L>({ gone, most, onDrop }: KeptListsOptions<L>): KeptLists<L> {
  const kept = new Map<string, Kept<L>>();
  const known = new WeakSet<PortOwner>();
  const drop = (id: string) => {
    const found = kept.get(id);
    if (kept.delete(id) && found) onDrop?.(found.list);
  };
  const dropAll = (isMeant: (one: Kept<L>, id: string) => boolean) => {
    for (const [id, one] of kept) if (isMeant(one, id)) drop(id);
  };
  return {
    keep(owner, list, given, using) {
      const id = randomUUID();
      const subject = given ?? id;
      dropAll((one, known) => one.owner === owner && one.subject === subject && known !== using);
      kept.set(id, { list, owner, subject });
      if (!known.has(owner))
        owner.closed.addEventListener('abort', () => dropAll((one) => one.owner === owner));
      known.add(owner);
      if (owner.closed.aborted) drop(id);
      const [oldest] = kept.keys();
      if (kept.size > most) drop(oldest!);
      return id;
    },
    find(id) {
      const found = kept.get(id);
      if (!found) throw new DrayError('notFound', gone, { data: { list: id } });
      kept.delete(id);
      kept.set(id, found);
      return found.list;
    },
    drop,
  };
}
