import { describe, expect, it } from 'vitest';
import type { KnownContent } from '../../index/md5-table.ts';
import type { BlobHash } from '../../model/entry.ts';
import { createContents } from './bring-contents.ts';
import type { ImportProblem } from './import-problem.ts';

interface Named {
  readonly path: string;
  readonly name: string;
  readonly place?: string;
}

function contentsOf(options: {
  readonly known: {
    find(id: string): KnownContent | undefined;
    add(id: string, content: KnownContent): void;
  };
  bring(file: Named): Promise<KnownContent>;
}) {
  return createContents<Named>({
    ...options,
    repository: { has: () => true },
    writer: { holds: () => false },
    signal: new AbortController().signal,
    onFile: () => {},
    idOf: ({ name }) => name,
    attemptOf: ({ name, place = '' }) => `${name} ${place}`,
    problemOf: ({ path }, error): ImportProblem => ({ path, code: 'notFound', message: String(error) }),
    sameProblem: ({ path }, problem) => ({ ...problem, path }),
  });
}

const content = (sizeBytes: number): KnownContent => ({ hash: 'h' as BlobHash, sizeBytes });

describe('contents that are brought', () => {
  it('are read once, although only the last names are in memory', async () => {
    const known = new Map<string, KnownContent>();
    let reads = 0;
    let finds = 0;
    const contents = contentsOf({
      known: {
        find: (id) => {
          finds += 1;
          return known.get(id);
        },
        add: (id, found) => known.set(id, found),
      },
      bring: async () => content(++reads),
    });
    const files = Array.from({ length: 250_000 }, (_, at) => ({ path: `${at}`, name: `${at}` }));
    expect(await contents.bring(files)).toEqual([]);
    expect(finds).toBe(files.length);
    expect(await contents.bring(files.slice(-100_000))).toEqual([]);
    expect(finds).toBe(files.length);
    // These names were dropped, and the table knows them.
    expect(await contents.bring(files.slice(0, 50_000))).toEqual([]);
    expect(finds).toBe(files.length + 50_000);
    expect(reads).toBe(files.length);
  });

  it('are looked for at each place, and one that has them serves all files', async () => {
    const known = new Map<string, KnownContent>();
    const contents = contentsOf({
      known: { find: (id) => known.get(id), add: (id, found) => known.set(id, found) },
      bring: async ({ place }) => {
        if (place === 'there') return content(1);
        throw new Error('not here');
      },
    });
    const [first, second] = ['here', 'there'].map((place) => ({ path: place, name: 'n', place }));
    expect(await contents.bring([first!])).toMatchObject([{ path: 'here' }]);
    expect(await contents.bring([first!, second!])).toEqual([]);
    expect(contents.find(first!)).toEqual(content(1));
  });
});
