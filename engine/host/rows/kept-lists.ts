/**
 * The lists of rows that windows show: one for each port and subject. A new one replaces the old one, and all
 * go with their port.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';

/** The port that owns the list. */
export interface PortOwner {
  readonly closed: AbortSignal;
}

export interface KeptLists<L> {
  /** Returns the list's id. @param subject Such as a workspace and a direction. */
  keep(owner: PortOwner, subject: string, list: L): string;
  /** @throws `notFound` if it was replaced or closed. */
  find(id: string): L;
  drop(id: string): void;
}

export interface KeptListsOptions<L> {
  /** Per engine. The least recently used list goes first. */
  readonly most: number;
  readonly gone: string;
  /** Called for a list that nobody can find any more. */
  readonly onDrop?: (list: L) => void;
}

export function createKeptLists<L>({ gone, most, onDrop }: KeptListsOptions<L>): KeptLists<L> {
  const lists = new Map<string, L>();
  const drop = (id: string) => {
    const list = lists.get(id);
    if (lists.delete(id)) onDrop?.(list!);
  };
  /** The newest list by owner and subject. */
  const newest = new WeakMap<PortOwner, Map<string, string>>();

  const subjectsOf = (owner: PortOwner) => {
    const known = newest.get(owner);
    if (known) return known;
    const subjects = new Map<string, string>();
    newest.set(owner, subjects);
    owner.closed.addEventListener('abort', () => {
      for (const id of subjects.values()) drop(id);
    });
    return subjects;
  };

  return {
    keep(owner, subject, list) {
      const subjects = subjectsOf(owner);
      drop(subjects.get(subject) ?? '');
      const id = randomUUID();
      subjects.set(subject, id);
      lists.set(id, list);
      if (owner.closed.aborted) drop(id);
      const [oldest] = lists.keys();
      if (lists.size > most) drop(oldest!);
      return id;
    },
    find(id) {
      const list = lists.get(id);
      if (list === undefined) throw new DrayError('notFound', gone, { data: { list: id } });
      lists.delete(id);
      lists.set(id, list);
      return list;
    },
    drop,
  };
}
