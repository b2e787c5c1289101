import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget, type Permit } from './budget.ts';

/** Runs every promise that can continue. */
const settle = () => new Promise(setImmediate);

describe('a budget', () => {
  it('grants in order, so small requests do not overtake a large one', async () => {
    const budget = new Budget(10);
    const first = await budget.acquire(6);
    const order: string[] = [];
    const large = budget.acquire(8).then((permit) => {
      order.push('large');
      return permit;
    });
    const small = budget.acquire(1).then(() => order.push('small'));
    await settle();
    expect(order).toEqual([]);
    first.release();
    await Promise.all([large, small]);
    expect(order).toEqual(['large', 'small']);
  });

  it('grants a request above the limit when nothing else is out', async () => {
    const budget = new Budget(10);
    const small = await budget.acquire(1);
    let isGranted = false;
    const giant = budget.acquire(100).then((permit) => {
      isGranted = true;
      return permit;
    });
    await settle();
    expect(isGranted).toBe(false);
    small.release();
    (await giant).release();
    expect(budget.used).toBe(0);
  });

  it('counts a release once and ignores an aborted wait', async () => {
    const budget = new Budget(2);
    const permit = await budget.acquire(2);
    const stop = new AbortController();
    const waiting = budget.acquire(1, stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    permit.release();
    permit.release();
    expect(budget.used).toBe(0);
    await expect(budget.acquire(1, stop.signal)).rejects.toMatchObject({ code: 'aborted' });
  });

  it('wakes waiters when the limit grows', async () => {
    const budget = new Budget(1);
    await budget.acquire(1);
    const second = budget.acquire(1);
    budget.setLimit(2);
    await second;
    expect(budget.used).toBe(2);
  });

  it('never grants more than its limit, except to one oversized request, and ends empty', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 15 }), { maxLength: 40 }), async (wishes) => {
        const budget = new Budget(10);
        let out = 0;
        await Promise.all(
          wishes.map(async (units) => {
            const permit: Permit = await budget.acquire(units);
            out += 1;
            expect(budget.used <= 10 || out === 1).toBe(true);
            await settle();
            out -= 1;
            permit.release();
          }),
        );
        expect(budget.used).toBe(0);
      }),
    );
  });

  it('takes units synchronously only when nobody waits, and returns them by number', async () => {
    const budget = new Budget(2);
    expect(budget.takeNow(1)).toBe(true);
    expect(budget.takeNow(2)).toBe(false);
    const waiting = budget.acquire(2);
    expect(budget.takeNow(1)).toBe(false);
    budget.giveBack(1);
    await waiting;
    expect(budget.used).toBe(2);
    budget.giveBack(2);
    expect(budget.used).toBe(0);
  });
});
