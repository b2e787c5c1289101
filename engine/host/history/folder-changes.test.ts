import { describe, expect, it } from 'vitest';
import type { ChangeRow } from '../../api/host/changes.ts';
import { createFolderSums } from './folder-changes.ts';

const row = (change: ChangeRow['change'], path: string, sizeBytes = 10): ChangeRow => ({
  change,
  path,
  kind: 'file',
  sizeBytes,
});

describe('the sums of changes by folder', () => {
  it('count all below each folder of the level, and list what lies in it', () => {
    const sums = createFolderSums('a/');
    for (const one of [
      row('added', 'a/b/1.txt'),
      row('modified', 'a/b/c/2.txt', 5),
      row('mode', 'a/b/c/3.txt'),
      row('deleted', 'a/d/4.txt'),
      row('renamed', 'a/d/5.txt'),
      row('added', 'a/own.txt'),
      row('added', 'ab/other.txt'),
    ])
      sums.add(one);
    const none = { added: 0, modified: 0, deleted: 0, renamed: 0, other: 0, bytes: 0 };
    expect(sums.answer).toEqual({
      folders: [
        { ...none, name: 'b/', added: 1, modified: 1, other: 1, bytes: 15 },
        { ...none, name: 'd/', deleted: 1, renamed: 1 },
      ],
      rows: [row('added', 'a/own.txt')],
      isCut: false,
    });
  });

  it('say when there are more folders or files than they list', () => {
    const folders = createFolderSums('');
    for (let at = 0; at < 1_001; at += 1) folders.add(row('added', `${at}/x`));
    folders.add(row('added', '0/y'));
    expect(folders.answer.folders).toHaveLength(1_000);
    expect(folders.answer.folders[0]?.added).toBe(2);
    expect(folders.answer.isCut).toBe(true);
    const files = createFolderSums('');
    for (let at = 0; at < 501; at += 1) files.add(row('added', `${at}`));
    expect(files.answer).toMatchObject({ isCut: true, rows: { length: 500 } });
  });

  it('of 100,000 changes are those that a count by hand gives', () => {
    const changes = ['added', 'modified', 'deleted', 'renamed', 'mode'] as const;
    const sums = createFolderSums('top/');
    const expected = new Map<string, Record<string, number>>();
    for (let at = 0; at < 100_000; at += 1) {
      const change = changes[(at * 7 + (at % 13)) % changes.length]!;
      const name = `${(at * 31) % 900}/`;
      // Folders that begin like this one are not in it.
      sums.add(row(change, at % 10 === 0 ? `top-${name}${at}` : `top/${name}deep/${at}`));
      if (at % 10 === 0) continue;
      const sum = expected.get(name) ?? { added: 0, modified: 0, deleted: 0, renamed: 0, other: 0 };
      sum[change === 'mode' ? 'other' : change]! += 1;
      expected.set(name, sum);
    }
    const { folders, isCut } = sums.answer;
    expect(isCut).toBe(false);
    expect(new Map(folders.map(({ name, bytes, ...sum }) => [name, sum]))).toEqual(expected);
  });
});
