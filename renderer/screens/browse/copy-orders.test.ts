import { describe, expect, it } from 'vitest';
import { copyOrders } from './copy-orders.ts';
import { localLocation, remoteRoot, versionOf } from './places.ts';

const from = localLocation('/data');
const into = { root: remoteRoot({ name: 'lab', url: 's3://bucket', of: 'user' }), folder: 'raw/' };

describe('A selection in a pane', () => {
  it('is copied one by one if it is small, a folder into a folder of its name', () => {
    expect(copyOrders({ from, paths: ['a.txt', 'runs/'], links: [] }, into)).toEqual([
      { kind: 'copy', source: '/data/a.txt', destination: 'lab:raw/' },
      { kind: 'copy', source: '/data/runs/', destination: 'lab:raw/runs/' },
    ]);
  });

  it('becomes few transfers if it is large; each fits into a message, and no entry is lost', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `${at}`.padStart(60, 'x'));
    const orders = copyOrders({ from, paths: ['runs/', ...names], links: [] }, into);
    expect(orders.length).toBe(5);
    const together = orders.slice(0, -1);
    for (const order of together) {
      expect(order).toMatchObject({ kind: 'copy', source: '/data/', destination: 'lab:raw/' });
      expect(JSON.stringify(order).length).toBeLessThan(200_000);
    }
    expect(together.flatMap((order) => ('names' in order ? order.names : []))).toEqual(names);
    expect(orders.at(-1)).toMatchObject({ source: '/data/runs/', destination: 'lab:raw/runs/' });
  });

  it('of a version keeps links as links, and the folders of what a search found', () => {
    const version = { root: versionOf('birds', 'v1'), folder: 'photos/' };
    const paths = ['2024/1.jpg', 'newest', 'herons/old/'];
    expect(copyOrders({ from: version, paths, links: ['newest'] }, into)).toEqual([
      {
        kind: 'copy',
        source: 'birds@v1:photos/',
        destination: 'lab:raw/',
        names: ['2024/1.jpg', 'newest'],
      },
      { kind: 'copy', source: 'birds@v1:photos/herons/old/', destination: 'lab:raw/herons/old/' },
    ]);
  });

  it('gets a transfer per link, because a link is only followed when named alone', () => {
    const names = Array.from({ length: 20 }, (_, at) => `${at}.txt`);
    const orders = copyOrders({ from, paths: ['latest', ...names], links: ['latest'] }, into);
    expect(orders).toEqual([
      { kind: 'copy', source: '/data/', destination: 'lab:raw/', names },
      { kind: 'copy', source: '/data/latest', destination: 'lab:raw/' },
    ]);
  });
});
