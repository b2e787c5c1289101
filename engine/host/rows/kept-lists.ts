/**
 * The lists of rows that windows show. A list is dropped when its port closes, or when the port opens a new
 * list of the same subject.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';

/** The port that owns the list. */
export interface PortOwner {
  readonly closed: AbortSignal;
}

export interface KeptLists<L> {
  /** Returns the list's id. @param subject Such as a workspace and a direction. Default: none. */
  keep(owner: PortOwner, list: L, subject?: string): string;
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
  const dropAll = (isMeant: (one: Kept<L>) => boolean) => {
    for (const [id, one] of kept) if (isMeant(one)) drop(id);
  };
  return {
    keep(owner, list, given) {
      const id = randomUUID();
      const subject = given ?? id;
      dropAll((one) => one.owner === owner && one.subject === subject);
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
