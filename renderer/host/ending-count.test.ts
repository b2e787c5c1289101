import { describe, expect, it } from 'vitest';
import type { Transfer } from '../../engine/api/host/transfers.ts';
import { createEndingCount } from './ending-count.ts';

const ended = (id: string, endedMs: number, state: Transfer['state'] = 'done') =>
  ({ id, state, endedMs }) as Transfer;

describe('createEndingCount', () => {
  it('counts from the first list on, and counts each ending once', () => {
    const count = createEndingCount(0);
    expect(count([ended('a', 1), ended('b', 2)])).toBe(0);
    expect(count([ended('a', 1), ended('b', 2), ended('c', 3)])).toBe(1);
    expect(count([ended('a', 1), ended('b', 2), ended('c', 3)])).toBe(1);
    expect(count(undefined)).toBe(1);
  });

  it('counts transfers that ended after the page was opened and before the first list came', () => {
    const count = createEndingCount(10);
    expect(count(undefined)).toBe(0);
    expect(count([ended('a', 9), ended('b', 10)])).toBe(1);
    expect(count(undefined)).toBe(1);
    expect(count([ended('a', 9), ended('b', 10), ended('c', 11)])).toBe(2);
  });

  it('grows when each new ending pushes the oldest out of a full list', () => {
    const count = createEndingCount(0);
    const list = Array.from({ length: 100 }, (_, at) => ended(`t${at}`, at));
    count(list);
    for (let at = 100; at < 110; at += 1) {
      list.shift();
      list.push(ended(`t${at}`, at));
      expect(count(list)).toBe(at - 99);
    }
  });

  it('ignores a cleared list, and counts a transfer that runs again', () => {
    const count = createEndingCount(0);
    count([ended('a', 1, 'failed'), ended('b', 2)]);
    expect(count([ended('a', 1, 'failed')])).toBe(0);
    expect(count([])).toBe(0);
    expect(count([ended('a', 9, 'failed')])).toBe(1);
  });
});
