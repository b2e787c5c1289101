import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths } from '../../../model/entry.ts';
import { createWalkedFolders } from './open-folders.ts';

const name = fc.constantFrom('a', 'a-b', 'b', '\u00e4');
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join('/'));

describe('the folders of a walk', () => {
  it('are found from each item in them, however the walk is cut into batches (property)', () => {
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 40 }), fc.infiniteStream(fc.nat(5)), (files, cuts) => {
        const folders = new Set(['']);
        for (const file of files)
          for (let slash = file.indexOf('/'); slash > 0; slash = file.indexOf('/', slash + 1))
            folders.add(file.slice(0, slash + 1));
        // A file and a folder may have the same name here: their paths differ.
        const walk = [...folders, ...files].sort(comparePaths);
        const met = createWalkedFolders();
        for (const item of walk) {
          if (cuts.next().value === 0) met.beginBatch();
          if (item === '' || item.endsWith('/'))
            met.meet({ path: item, source: undefined, destination: undefined, isForeign: false });
          const above = item.slice(0, item.lastIndexOf('/', item.length - 2) + 1);
          expect(met.holderOf(item)?.path).toBe(above);
        }
      }),
      { numRuns: 200 },
    );
  });
});
