import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../base/run-budget.fixture.ts';
import { type Change, isSameEntry } from './diff.ts';
import { diffEntries } from './diff-entries.fixture.ts';
import { type BlobHash, comparePaths, type Entry } from './entry.ts';
import { type Merge, type MergeConflict, mergeChanges, mergePath, resolveMerge } from './merge.ts';

function entry(path: string, content: string): Entry {
  if (path.endsWith('/')) return { kind: 'folder', path };
  if (content.startsWith('-> ')) return { kind: 'link', path, target: content };
  const blob = content.replace('+x', '') as BlobHash;
  const executable = content.endsWith('+x');
  return { kind: 'file', path, sizeBytes: 1, mtimeNs: 0n, executable, blob, location: { in: 'object' } };
}

/**
 * Sorted by path. Written as `path=content`, or as the path alone for an empty folder (and for content `1`).
 */
type Tree = readonly Entry[];

function tree(...lines: string[]): Tree {
  const entries = lines.map((line) => entry(line.split('=')[0] as string, line.split('=')[1] ?? '1'));
  return entries.sort((one, other) => comparePaths(one.path, other.path));
}

function merge(base: Tree, ours: Tree, theirs: Tree): Merge {
  return mergeChanges(diffEntries(base, ours), diffEntries(base, theirs));
}

/** Asserts that each change finds the entry that it expects. */
function apply(to: Tree, changes: readonly Change[]): Tree {
  const entries = new Map(to.map((one) => [one.path, one]));
  for (const { path, before, after } of changes) {
    expect(entries.get(path)).toEqual(before);
    if (after) entries.set(path, after);
    else entries.delete(path);
  }
  return [...entries.values()].sort((one, other) => comparePaths(one.path, other.path));
}

function isFree(path: string, taken: readonly string[]): boolean {
  const asFolder = path.endsWith('/') ? path : `${path}/`;
  return taken.every((other) => {
    const otherAsFolder = other.endsWith('/') ? other : `${other}/`;
    return !asFolder.startsWith(otherAsFolder) && !otherAsFolder.startsWith(asFolder);
  });
}

function expectValid(entries: Tree): void {
  const paths = entries.map(({ path }) => path);
  for (const path of paths)
    expect(
      isFree(
        path,
        paths.filter((other) => other !== path),
      ),
    ).toBe(true);
}

const NAMES = [
  'a',
  'a-',
  'b',
  'd',
  'd/',
  'd/x',
  'd/y',
  'd/e',
  'd/e/',
  'd/e/x',
  'd/e/y',
  'd-',
  'd-/x',
  'd.x',
  'a/',
  'a/x',
  'a/b/x',
  'a/b/',
];
const line = fc.record({
  path: fc.constantFrom(...NAMES),
  content: fc.constantFrom('1', '2', '1+x', '-> 1'),
});

/** Keeps the entries that are compatible with those before. */
function fitting(entries: readonly Entry[]): Tree {
  const kept: Entry[] = [];
  for (const one of entries) {
    const paths = kept.map(({ path }) => path);
    if (isFree(one.path, paths)) kept.push(one);
  }
  return kept.sort((one, other) => comparePaths(one.path, other.path));
}

const lines = fc
  .array(line, { maxLength: 6 })
  .map((list) => list.map(({ path, content }) => entry(path, content)));
const edit = fc.record({
  first: lines,
  keeps: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  last: lines,
});
/** A base and two states made from it by deletions and additions. */
const states = fc
  .record({ base: lines.map(fitting), ours: edit, theirs: edit })
  .map(({ base, ours, theirs }) => {
    const edited = ({ first, keeps, last }: typeof ours) =>
      fitting([
        ...first.slice(0, 3),
        ...base.filter((_, at) => keeps[at % keeps.length]),
        ...last.slice(0, 2),
      ]);
    return { base, ours: edited(ours), theirs: edited(theirs) };
  });

function swapped(conflicts: readonly MergeConflict[]): MergeConflict[] {
  return conflicts.map(({ path, ours, theirs }) => ({ path, ours: theirs, theirs: ours }));
}

describe('the merge of one path', () => {
  const one = entry('a', '1');
  const two = entry('a', '2');
  const three = entry('a', '3');
  it.each<[string, Entry | undefined, Entry | undefined, Entry | undefined]>([
    ['same', one, one, one],
    ['same', one, two, two],
    ['same', undefined, one, one],
    ['same', one, undefined, undefined],
    ['takeTheirs', one, one, two],
    ['takeTheirs', one, one, undefined],
    ['takeTheirs', undefined, undefined, one],
    ['keepOurs', one, two, one],
    ['keepOurs', one, undefined, one],
    ['keepOurs', undefined, one, undefined],
    ['conflict', one, two, three],
    ['conflict', one, undefined, two],
    ['conflict', one, two, undefined],
    ['conflict', undefined, one, two],
    ['conflict', one, entry('a', '1+x'), two],
    ['conflict', one, entry('a', '-> x'), two],
  ])('is %s', (decision, base, ours, theirs) => {
    expect(mergePath({ base, ours, theirs })).toBe(decision);
  });
});

describe('the merge of two sides', () => {
  it('takes their changes and keeps ours', () => {
    const base = tree('a', 'b', 'c', 'd');
    const merged = merge(base, tree('a=2', 'b', 'c', 'd', 'mine'), tree('a', 'b=2', 'd', 'yours'));
    expect(merged.conflicts).toEqual([]);
    expect(merged.takeTheirs.map(({ path }) => path)).toEqual(['b', 'c', 'yours']);
  });

  it('names the changes of both sides in a conflict', () => {
    const { takeTheirs, conflicts } = merge(tree('a', 'b'), tree('a=2', 'b'), tree('a=3', 'b=2'));
    expect(takeTheirs.map(({ path }) => path)).toEqual(['b']);
    expect(conflicts).toMatchObject([
      {
        path: 'a',
        ours: [{ before: { blob: '1' }, after: { blob: '2' } }],
        theirs: [{ after: { blob: '3' } }],
      },
    ]);
  });

  it('is a conflict when one side adds a file and the other adds entries in a folder of that name', () => {
    const { takeTheirs, conflicts } = merge(tree(), tree('a', 'a-b'), tree('a/x', 'a/y/z', 'a.txt'));
    expect(takeTheirs.map(({ path }) => path)).toEqual(['a.txt']);
    expect(conflicts.map(({ path, ours, theirs }) => [path, ours.length, theirs.length])).toEqual([
      ['a', 1, 2],
    ]);
  });

  it('is a conflict when one side replaces a folder by a file and the other adds to the folder', () => {
    const { takeTheirs, conflicts } = merge(tree('a/x'), tree('a/x', 'a/y'), tree('a'));
    expect(takeTheirs.map(({ path }) => path)).toEqual(['a/x']);
    expect(conflicts.map(({ path }) => path)).toEqual(['a']);
  });

  it('replaces a file by a folder when the other side did not change the file', () => {
    const merged = merge(tree('a'), tree('a', 'b'), tree('a/x'));
    expect(merged.conflicts).toEqual([]);
    expect(apply(tree('a', 'b'), resolveMerge(merged, 'ours'))).toEqual(tree('a/x', 'b'));
  });

  it('drops an empty-folder entry when the other side adds something to the folder', () => {
    const base = tree('z');
    const mine = merge(base, tree('z', 'd/'), tree('z', 'd/x'));
    expect(mine.conflicts).toEqual([]);
    expect(apply(tree('z', 'd/'), mine.takeTheirs)).toEqual(tree('z', 'd/x'));
    const yours = merge(base, tree('z', 'd/x'), tree('z', 'd/'));
    expect(yours).toEqual({ takeTheirs: [], conflicts: [] });
  });

  it('includes an empty folder in the conflict about its former content', () => {
    const merged = merge(tree('d/x'), tree('d/'), tree('d/x=2'));
    expect(merged.conflicts.map(({ path }) => path)).toEqual(['d/x']);
    expect(apply(tree('d/'), resolveMerge(merged, 'theirs'))).toEqual(tree('d/x=2'));
    expect(apply(tree('d/'), resolveMerge(merged, 'ours'))).toEqual(tree('d/'));
  });

  it('does not count a changed time as a change on either side', () => {
    const touched = tree('a', 'b').map((one) => ({ ...one, mtimeNs: 7n }) as Entry);
    const changes = touched.map((after, at) => ({ path: after.path, before: tree('a', 'b')[at], after }));
    expect(mergeChanges(changes, diffEntries(tree('a', 'b'), tree('b=2'))).conflicts).toEqual([]);
    expect(mergeChanges([], changes)).toEqual({ takeTheirs: [], conflicts: [] });
  });
});

describe('for any two sides of any base, a merge', () => {
  it('gives a valid tree, whoever wins, and each change finds the entry that it expects', () => {
    fc.assert(
      fc.property(states, ({ base, ours, theirs }) => {
        const merged = merge(base, ours, theirs);
        expectValid(apply(ours, resolveMerge(merged, 'ours')));
        expectValid(apply(ours, resolveMerge(merged, 'theirs')));
      }),
      { numRuns: runBudget({ short: 200, long: 2000 }) },
    );
  });

  it('gives a valid tree when each conflict is decided separately', () => {
    fc.assert(
      fc.property(states, fc.infiniteStream(fc.boolean()), ({ base, ours, theirs }, coins) => {
        const merged = merge(base, ours, theirs);
        expectValid(
          apply(
            ours,
            resolveMerge(merged, () => (coins.next().value ? 'ours' : 'theirs')),
          ),
        );
      }),
      { numRuns: runBudget({ short: 200, long: 2000 }) },
    );
  });

  it('is the same from either side', () => {
    fc.assert(
      fc.property(states, ({ base, ours, theirs }) => {
        const here = merge(base, ours, theirs);
        const there = merge(base, theirs, ours);
        expect(there.conflicts).toEqual(swapped(here.conflicts));
        for (const [winner, loser] of [
          ['ours', 'theirs'],
          ['theirs', 'ours'],
        ] as const) {
          expect(apply(ours, resolveMerge(here, winner))).toEqual(apply(theirs, resolveMerge(there, loser)));
        }
      }),
      { numRuns: runBudget({ short: 200, long: 2000 }) },
    );
  });

  it('loses nothing: each path is as the one side that changed it left it, or part of a conflict', () => {
    fc.assert(
      fc.property(states, ({ base, ours, theirs }) => {
        const merged = merge(base, ours, theirs);
        const result = apply(ours, resolveMerge(merged, 'ours'));
        const disputed = new Set(
          merged.conflicts.flatMap((one) => [...one.ours, ...one.theirs]).map(({ path }) => path),
        );
        const at = (entries: Tree, path: string) => entries.find((one) => one.path === path);
        for (const path of NAMES) {
          if (path.endsWith('/') || disputed.has(path)) continue;
          const sides = { base: at(base, path), ours: at(ours, path), theirs: at(theirs, path) };
          const decision = mergePath(sides);
          expect(decision).not.toBe('conflict');
          expect(at(result, path)).toEqual(decision === 'takeTheirs' ? sides.theirs : sides.ours);
        }
      }),
      { numRuns: runBudget({ short: 200, long: 1000 }) },
    );
  });

  it('names each change of a file in one conflict', () => {
    fc.assert(
      fc.property(states, ({ base, ours, theirs }) => {
        const { conflicts } = merge(base, ours, theirs);
        for (const side of ['ours', 'theirs'] as const) {
          const paths = conflicts.flatMap((conflict) => conflict[side].map(({ path }) => path));
          const files = paths.filter((path) => !path.endsWith('/'));
          expect(files).toEqual([...new Set(files)]);
        }
      }),
      { numRuns: runBudget({ short: 200, long: 2000 }) },
    );
  });

  it('of a side with itself changes nothing, and with an unchanged side gives the other side', () => {
    fc.assert(
      fc.property(states, ({ base, ours }) => {
        expect(merge(base, ours, ours)).toEqual({ takeTheirs: [], conflicts: [] });
        expect(merge(base, ours, base)).toEqual({ takeTheirs: [], conflicts: [] });
        expect(merge(base, base, ours)).toEqual({ takeTheirs: [...diffEntries(base, ours)], conflicts: [] });
      }),
    );
  });

  it('never conflicts where the sides changed different folders', () => {
    const under = (folder: string, entries: Tree) =>
      entries.map((one) => ({ ...one, path: `${folder}/${one.path}` }));
    fc.assert(
      fc.property(states, states, (left, right) => {
        const base = [...under('l', left.base), ...under('r', right.base)];
        const ours = [...under('l', left.ours), ...under('r', right.base)];
        const theirs = [...under('l', left.base), ...under('r', right.theirs)];
        const merged = merge(base, ours, theirs);
        expect(merged.conflicts).toEqual([]);
        expect(apply(ours, merged.takeTheirs)).toEqual([
          ...under('l', left.ours),
          ...under('r', right.theirs),
        ]);
      }),
    );
  });

  it('has a conflict only where both sides changed a path or one lies above the other', () => {
    fc.assert(
      fc.property(states, ({ base, ours, theirs }) => {
        for (const conflict of merge(base, ours, theirs).conflicts) {
          expect(conflict.ours.length).toBeGreaterThan(0);
          expect(conflict.theirs.length).toBeGreaterThan(0);
          const isOnePath = conflict.ours.some(({ path }) =>
            conflict.theirs.some((other) => other.path === path),
          );
          const isNested = [...conflict.ours, ...conflict.theirs].every(({ path }) =>
            `${path}/`.startsWith(conflict.path),
          );
          expect(isOnePath || isNested).toBe(true);
          for (const { before, after } of [...conflict.ours, ...conflict.theirs]) {
            expect(before && after && isSameEntry(before, after)).not.toBe(true);
          }
        }
      }),
      { numRuns: runBudget({ short: 200, long: 1000 }) },
    );
  });
});

describe('an empty folder against a file of the other side', () => {
  it('gives way when both sides removed its content', () => {
    const base = tree('d/e/x');
    const { takeTheirs, conflicts } = merge(base, tree('d/e/'), tree('d=2'));
    expect(conflicts).toEqual([]);
    expect(apply(tree('d/e/'), takeTheirs)).toEqual(tree('d=2'));
    const mirrored = merge(base, tree('d=2'), tree('d/e/'));
    expect(mirrored).toEqual({ takeTheirs: [], conflicts: [] });
  });

  it('is a conflict when the folder is new', () => {
    expect(merge(tree(), tree('d/e/'), tree('d=2')).conflicts.map(({ path }) => path)).toEqual(['d']);
    expect(merge(tree('d/x'), tree('d/e/'), tree('d=2')).conflicts.map(({ path }) => path)).toEqual(['d']);
  });
});
