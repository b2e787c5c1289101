import { describe, expect, it } from 'vitest';
import { copyOrders } from './copy-orders.ts';
import { localLocation, remoteRoot } from './places.ts';

const from = localLocation('/data');
const into = { root: remoteRoot({ name: 'lab', url: 's3://bucket', of: 'user' }), folder: 'raw/' };

describe('What is chosen in a pane', () => {
  it('is copied one by one while it is little, a folder into a folder of its name', () => {
    expect(copyOrders(from, ['a.txt', 'runs/'], into)).toEqual([
      { kind: 'copy', source: '/data/a.txt', destination: 'lab:raw/' },
      { kind: 'copy', source: '/data/runs/', destination: 'lab:raw/runs/' },
    ]);
  });

  it('is few transfers when it is much, of which each fits into a message, and none is forgotten', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `${at}`.padStart(60, 'x'));
    const orders = copyOrders(from, ['runs/', ...names], into);
    expect(orders.length).toBe(5);
    const together = orders.slice(0, -1);
    for (const order of together) {
      expect(order).toMatchObject({ kind: 'copy', source: '/data/', destination: 'lab:raw/' });
      expect(JSON.stringify(order).length).toBeLessThan(200_000);
    }
    expect(together.flatMap((order) => ('names' in order ? order.names : []))).toEqual(names);
    expect(orders.at(-1)).toMatchObject({ source: '/data/runs/', destination: 'lab:raw/runs/' });
  });
});
