import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, detectRenames, kindOfChange, RENAMES_MAX } from './diff.ts';
import { diffEntries } from './diff-entries.fixture.ts';
import { type BlobHash, comparePaths, type Entry, type FileEntry } from './entry.ts';

function file(path: string, content: string, more: Partial<FileEntry> = {}): FileEntry {
  const blob = content as BlobHash;
  const base = {
    kind: 'file',
    path,
    blob,
    sizeBytes: content.length,
    mtimeNs: 0n,
    executable: false,
  } as const;
  return { ...base, location: { in: 'object' }, ...more };
}

const link = (path: string, target: string): Entry => ({ kind: 'link', path, target });

function deleted(path: string, content: string): Change {
  return { path, before: file(path, content) };
}

function added(path: string, content: string): Change {
  return { path, after: file(path, content) };
}

function pairs(...changes: Change[]): string[] {
  return detectRenames(changes).renames.map(({ fromPath, toPath }) => `${fromPath} -> ${toPath}`);
}

describe('the kind of a change', () => {
  it.each<[string | undefined, Entry | undefined, Entry | undefined]>([
    ['added', undefined, file('a', '1')],
    ['deleted', file('a', '1'), undefined],
    ['modified', file('a', '1'), file('a', '2')],
    ['modified', file('a', '1'), file('a', '2', { executable: true })],
    ['modified', file('a', '1'), link('a', 'b')],
    ['modified', link('a', 'b'), file('a', 'b')],
    ['modified', link('a', 'b'), link('a', 'c')],
    ['mode', file('a', '1'), file('a', '1', { executable: true })],
    [undefined, file('a', '1'), file('a', '1', { mtimeNs: 5n })],
    [undefined, file('a', '1'), file('a', '1', { location: { in: 'nowhere' } })],
    [undefined, link('a', 'b'), link('a', 'b')],
    [undefined, { kind: 'folder', path: 'a/' }, { kind: 'folder', path: 'a/' }],
    [undefined, undefined, undefined],
  ])('is %s', (kind, before, after) => {
    expect(kindOfChange({ path: 'a', before, after })).toBe(kind);
  });

  it('exists for every change of a diff', () => {
    const before = [file('a', '1'), file('b', '1'), file('c', '1'), file('d', '1')];
    const after = [
      file('b', '2'),
      file('c', '1', { mtimeNs: 1n }),
      file('d', '1', { executable: true }),
      file('e', '3'),
    ];
    expect([...diffEntries(before, after)].map((change) => `${kindOfChange(change)} ${change.path}`)).toEqual(
      ['deleted a', 'modified b', 'mode d', 'added e'],
    );
  });
});

describe('renames', () => {
  it('pair a deleted file with an added one by content', () => {
    const other = added('new', 'other');
    const { renames, others } = detectRenames([deleted('a', 'same'), added('b', 'same'), other]);
    expect(renames).toMatchObject([
      { fromPath: 'a', toPath: 'b', before: { path: 'a' }, after: { path: 'b' } },
    ]);
    expect(others).toEqual([other]);
  });

  it('prefer the same name in another folder, then the first in order', () => {
    expect(pairs(deleted('a/x', '1'), deleted('a/y', '1'), added('b/a', '1'), added('b/x', '1'))).toEqual([
      'a/y -> b/a',
      'a/x -> b/x',
    ]);
    expect(pairs(deleted('a', '1'), deleted('b', '1'), added('c', '1'), added('d', '1'))).toEqual([
      'a -> c',
      'b -> d',
    ]);
  });

  it('use each file once: a second copy is an addition', () => {
    const { renames, others } = detectRenames([deleted('a', '1'), added('b', '1'), added('c', '1')]);
    expect(renames).toHaveLength(1);
    expect(others.map((change) => change.path)).toEqual(['c']);
  });

  it('never pair empty files, links, folders or modified files', () => {
    const changes: Change[] = [
      deleted('a', ''),
      added('b', ''),
      { path: 'c', before: link('c', 't') },
      { path: 'd', after: link('d', 't') },
      { path: 'e', before: file('e', '1'), after: file('e', '2') },
      added('f', '1'),
    ];
    expect(detectRenames(changes)).toEqual({ renames: [], others: changes });
  });

  it('are not detected beyond the bound', () => {
    const many = Array.from({ length: RENAMES_MAX + 1 }, (_, at) =>
      added(`n${String(at).padStart(7, '0')}`, '1'),
    );
    expect(detectRenames([deleted('a', '1'), ...many]).renames).toEqual([]);
    expect(detectRenames([deleted('a', '1'), ...many.slice(1)]).renames).toHaveLength(1);
  });

  it('pair each content as often as both sides have it, and lose or duplicate no change', () => {
    const change = fc.record({
      path: fc.string({ minLength: 1, maxLength: 3 }),
      content: fc.constantFrom('', '1', '2', '3'),
      isGone: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.uniqueArray(change, { selector: ({ path }) => path }), (list) => {
        const changes = list
          .map(({ path, content, isGone }) => (isGone ? deleted(path, content) : added(path, content)))
          .sort((one, other) => comparePaths(one.path, other.path));
        const { renames, others } = detectRenames(changes);
        const paths = [
          ...others.map(({ path }) => path),
          ...renames.flatMap(({ fromPath, toPath }) => [fromPath, toPath]),
        ];
        expect(paths.sort()).toEqual(changes.map(({ path }) => path).sort());
        for (const { before, after } of renames) expect(before.blob).toBe(after.blob);
        for (const content of ['1', '2', '3']) {
          const count = (isGone: boolean) =>
            list.filter((item) => item.content === content && item.isGone === isGone).length;
          expect(renames.filter(({ after }) => after.blob === content)).toHaveLength(
            Math.min(count(true), count(false)),
          );
        }
      }),
    );
  });
});
