import { describe, expect, it } from 'vitest';
import { localLocation, remoteRoot } from '../places.ts';
import { copyOrdersOf, desktopEntries } from './desktop-entries.ts';

describe('A drop on the desktop app', () => {
  it('is copied by path, a folder into a folder of its name', () => {
    const into = { root: remoteRoot({ name: 'lab', url: 's3://bucket', of: 'user' }), folder: 'raw/' };
    const entries = [
      { path: '/home/ada/a.txt', isFolder: false },
      { path: '/home/ada/runs 1', isFolder: true },
    ];
    expect(copyOrdersOf(entries, into)).toEqual([
      { kind: 'copy', source: '/home/ada/a.txt', destination: 'lab:raw/' },
      { kind: 'copy', source: '/home/ada/runs 1/', destination: 'lab:raw/runs 1/' },
    ]);
    const onWindows = [{ path: 'D:\\data\\runs', isFolder: true }];
    expect(copyOrdersOf(onWindows, localLocation('C:\\Users\\ada'))).toEqual([
      { kind: 'copy', source: 'D:\\data\\runs/', destination: 'C:/Users/ada/runs/' },
    ]);
  });

  it('becomes one transfer for many files of a folder, and handles backslashes', () => {
    const into = localLocation('/home/ada');
    const files = Array.from({ length: 40 }, (_, at) => ({ path: `/data/run-${at}.csv`, isFolder: false }));
    const orders = copyOrdersOf([...files, { path: '/data/a\\b', isFolder: true }], into);
    expect(orders).toEqual([
      {
        kind: 'copy',
        source: '/data/',
        destination: '/home/ada/',
        names: files.map(({ path }) => path.slice('/data/'.length)),
      },
      { kind: 'copy', source: '/data/a\\b/', destination: '/home/ada/a\\b/' },
    ]);
    const onWindows = files.map((_, at) => ({ path: `D:\\data\\run-${at}.csv`, isFolder: false }));
    expect(copyOrdersOf(onWindows, into)).toMatchObject([{ source: 'D:\\data\\' }]);
  });

  it('has no paths in a browser, nor for an item that is not a file on disk', () => {
    const item = (name: string, isDirectory: boolean) =>
      ({
        kind: 'file',
        getAsFile: () => new File([], name),
        webkitGetAsEntry: () => ({ isDirectory }),
      }) as unknown as DataTransferItem;
    const dropped = (...items: readonly DataTransferItem[]) => ({ items }) as unknown as DataTransfer;
    const pathOf = ({ name }: File) => (name === 'virtual' ? '' : `/tmp/${name}`);
    expect(desktopEntries(dropped(item('a', false)), undefined)).toBeUndefined();
    expect(desktopEntries(dropped(item('a', false), item('virtual', false)), pathOf)).toBeUndefined();
    expect(desktopEntries(dropped(item('a', false), item('b', true)), pathOf)).toEqual([
      { path: '/tmp/a', isFolder: false },
      { path: '/tmp/b', isFolder: true },
    ]);
  });
});
