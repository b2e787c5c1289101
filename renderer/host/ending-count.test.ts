import { describe, expect, it } from 'vitest';
import type { Transfer } from '../../engine/api/host.ts';
import { createEndingCount } from './ending-count.ts';

const ended = (id: string, endedMs: number, state: Transfer['state'] = 'done') =>
  ({ id, state, endedMs }) as Transfer;

describe('How often transfers have ended', () => {
  it('is counted from the first list on, each ending once', () => {
    const count = createEndingCount();
    expect(count(undefined)).toBe(0);
    expect(count([ended('a', 1), ended('b', 2)])).toBe(0);
    expect(count([ended('a', 1), ended('b', 2), ended('c', 3)])).toBe(1);
    expect(count([ended('a', 1), ended('b', 2), ended('c', 3)])).toBe(1);
    expect(count(undefined)).toBe(1);
  });

  it('grows also while the list, which is full, forgets the oldest for each that comes', () => {
    const count = createEndingCount();
    const list = Array.from({ length: 100 }, (_, at) => ended(`t${at}`, at));
    count(list);
    for (let at = 100; at < 110; at += 1) {
      list.shift();
      list.push(ended(`t${at}`, at));
      expect(count(list)).toBe(at - 99);
    }
  });

  it('does not change when the list is cleared, and does when one runs again', () => {
    const count = createEndingCount();
    count([ended('a', 1, 'failed'), ended('b', 2)]);
    expect(count([ended('a', 1, 'failed')])).toBe(0);
    expect(count([])).toBe(0);
    expect(count([ended('a', 9, 'failed')])).toBe(1);
  });
});
