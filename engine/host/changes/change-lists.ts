/**
 * The lists of changes that windows show. One per port, workspace and direction: a new one replaces the old
 * one, and all go with their port.
 */
import { randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type { RowList } from './row-list.ts';

/** Per engine. The least recently used list goes first. */
const LISTS_MAX = 16;

/** The port that owns the list. */
export interface PortOwner {
  readonly closed: AbortSignal;
}

export interface ChangeLists {
  /** Returns the list's id. */
  keep(owner: PortOwner, place: string, rows: RowList): string;
  /** @throws `notFound` if it was replaced or closed. */
  find(id: string): RowList;
  drop(id: string): void;
}

export function createChangeLists(): ChangeLists {
  const lists = new Map<string, RowList>();
  /** The newest list by owner and place. */
  const newest = new WeakMap<PortOwner, Map<string, string>>();

  const placesOf = (owner: PortOwner) => {
    const known = newest.get(owner);
    if (known) return known;
    const places = new Map<string, string>();
    newest.set(owner, places);
    owner.closed.addEventListener('abort', () => {
      for (const id of places.values()) lists.delete(id);
    });
    return places;
  };

  return {
    keep(owner, place, rows) {
      const places = placesOf(owner);
      lists.delete(places.get(place) ?? '');
      const id = randomUUID();
      if (owner.closed.aborted) return id;
      places.set(place, id);
      lists.set(id, rows);
      const [oldest] = lists.keys();
      if (lists.size > LISTS_MAX) lists.delete(oldest!);
      return id;
    },
    find(id) {
      const rows = lists.get(id);
      if (!rows)
        throw new DrayError('notFound', 'This list of changes is gone. Open it again.', {
          data: { list: id },
        });
      lists.delete(id);
      lists.set(id, rows);
      return rows;
    },
    drop: (id) => void lists.delete(id),
  };
}
