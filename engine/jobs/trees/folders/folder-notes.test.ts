import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSpills, type Spills } from '../../../index/tree-spill.ts';
import { comparePaths } from '../../../model/entry.ts';
import { createSandbox, type Sandbox } from '../../session/job.fixture.ts';
import { createFolderNotes } from './folder-notes.ts';

let sandbox: Sandbox;
let spills: Spills;
beforeEach(() => {
  sandbox = createSandbox();
  spills = createSpills(sandbox.folder);
});
afterEach(() => {
  spills[Symbol.dispose]();
  sandbox[Symbol.dispose]();
});

const name = fc.stringMatching(/^[a-c\u00e4\u{1f600}\uffff-]{1,2}$/u);
const path = fc.array(name, { maxLength: 4 }).map((names) => names.map((part) => `${part}/`).join(''));

describe('noted folders', () => {
  it('come once each, with their last note, children before parents, in memory and on disk (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(path, fc.boolean()), { maxLength: 60 }),
        fc.integer({ min: 1, max: 80 }),
        (noted, heldMax) => {
          const notes = createFolderNotes(() => spills.paths(), { heldMax });
          for (const [folder, isReported] of noted) notes.add(folder, isReported);
          const expected = [...new Map(noted)]
            .sort(([left], [right]) => comparePaths(right, left))
            .map(([folder, isReported]) => ({ path: folder, isReported }));
          expect([...notes.descending()].flat()).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('come in pages without losing any', () => {
    const paths = Array.from({ length: 2_345 }, (_, at) => `${String(at).padStart(5, '0')}/`);
    const notes = createFolderNotes(() => spills.paths(), { heldMax: 100 });
    for (const each of paths) notes.add(each, false);
    const pages = [...notes.descending()];
    expect(Math.max(...pages.map(({ length }) => length))).toBe(500);
    expect(pages.flat().map((folder) => folder.path)).toEqual(paths.toReversed());
  });
});
