import { describe, expect, it } from 'vitest';
import { createFolderSync } from './folder-sync.ts';

describe('Syncs of a folder', () => {
  function setUp() {
    const begun: { readonly folder: string; readonly end: () => void; readonly fail: () => void }[] = [];
    const folders = createFolderSync(
      (folder) =>
        new Promise((resolve, reject) => {
          begun.push({ folder, end: resolve, fail: () => reject(new Error('no sync')) });
        }),
    );
    return { begun, folders };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('are shared by all waiting writers, but never one that began before their write', async () => {
    const { begun, folders } = setUp();
    const first = folders.sync('a');
    const later = [folders.sync('a'), folders.sync('a'), folders.sync('a')];
    const other = folders.sync('b');
    expect(begun.map((sync) => sync.folder)).toEqual(['a', 'b']);
    begun[0]!.end();
    await first;
    await turn();
    expect(begun.map((sync) => sync.folder)).toEqual(['a', 'b', 'a']);
    begun[1]!.end();
    begun[2]!.end();
    await Promise.all([...later, other]);
    const afresh = folders.sync('a');
    expect(begun).toHaveLength(4);
    begun[3]!.end();
    await afresh;
  });

  it('that fail report to the writers that waited for them and to no others', async () => {
    const { begun, folders } = setUp();
    const first = folders.sync('a');
    const second = folders.sync('a');
    begun[0]!.fail();
    await expect(first).rejects.toThrow('no sync');
    await turn();
    begun[1]!.end();
    await second;
  });
});
