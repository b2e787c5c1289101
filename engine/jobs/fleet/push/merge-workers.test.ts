import { describe, expect, it } from 'vitest';
import type { BlobHash, Entry, PackHash } from '../../../model/entry.ts';
import { type MergeProblem, mergeWorkers } from './merge-workers.ts';

const file = (path: string, content = path, pack = 'p'): Entry => ({
  ...{ kind: 'file', path, sizeBytes: content.length, mtimeNs: 1n, executable: false },
  blob: content as BlobHash,
  location: { in: 'pack', pack: pack as PackHash, offset: 0 },
});
const folder = (path: string): Entry => ({ kind: 'folder', path });
const link = (path: string, target: string): Entry => ({ kind: 'link', path, target });

/** Each worker's parts. */
async function merge(workers: Readonly<Record<string, readonly (readonly Entry[])[]>>) {
  const problems: MergeProblem[] = [];
  const merged: Entry[] = [];
  const sources = Object.entries(workers).map(([worker, parts]) => ({ worker, batches: inOrder(parts) }));
  for await (const batch of mergeWorkers(sources, (problem) => problems.push(problem))) merged.push(...batch);
  return { merged, problems, paths: merged.map(({ path }) => path) };
}

async function* inOrder(parts: readonly (readonly Entry[])[]): AsyncGenerator<readonly Entry[]> {
  yield* parts;
}

describe('the merge of what workers have stored', () => {
  it('is in order, whatever the borders of the parts, and with parts and workers that have nothing', async () => {
    const { paths, problems } = await merge({
      a: [[file('b')], [], [file('d'), file('f')]],
      empty: [[]],
      none: [],
      c: [[file('a')], [file('c'), file('e')], [], [file('g')]],
    });
    expect(paths).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(problems).toEqual([]);
    expect((await merge({})).merged).toEqual([]);
  });

  it('keeps the first of equal files, wherever each worker has packed it', async () => {
    const { merged, problems } = await merge({
      a: [[file('x', 'same', 'of a'), link('y', 'to')]],
      b: [[file('x', 'same', 'of b'), link('y', 'to')]],
    });
    expect(merged).toEqual([file('x', 'same', 'of a'), link('y', 'to')]);
    expect(problems).toEqual([]);
  });

  it.each([
    ['other content', file('x', 'one'), file('x', 'two')],
    ['another mode', file('x'), { ...file('x'), executable: true } as Entry],
    ['another kind', file('x'), link('x', 'x')],
    ['another target', link('x', 'a'), link('x', 'b')],
  ])('names both workers when one path has %s', async (_, one, other) => {
    const { problems } = await merge({ a: [[one]], between: [[file('w')]], b: [[other]] });
    expect(problems).toEqual([
      { path: 'x', workers: ['a', 'b'], message: 'The workers "a" and "b" have different files at x.' },
    ]);
  });

  it('names both workers when one has a file where the other has a folder', async () => {
    const { problems } = await merge({
      a: [[file('x'), file('x.txt'), file('z')]],
      b: [[file('x-y'), file('x/deep/y')]],
      c: [[folder('z/')]],
    });
    expect(problems).toMatchObject([
      { path: 'x/deep/y', workers: ['a', 'b'] },
      { path: 'z/', workers: ['a', 'c'] },
    ]);
  });

  it('drops an empty folder in which another worker has something', async () => {
    const { paths, problems } = await merge({
      a: [[folder('both/'), folder('d/'), folder('e/')]],
      b: [[folder('both/'), file('d/x')]],
    });
    expect(paths).toEqual(['both/', 'd/x', 'e/']);
    expect(problems).toEqual([]);
  });

  it('equals one sorted list, for thousands of entries in random parts', async () => {
    let seed = 7;
    const draw = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const all = Array.from({ length: 3_000 }, (_, at) => file(`${String(at).padStart(5, '0')}`));
    const names = ['a', 'b', 'c', 'd'];
    const own = names.map(() => [[]] as Entry[][]);
    for (const entry of all) {
      const copies = 1 + (draw(10) === 0 ? 1 : 0);
      const first = draw(names.length);
      for (let copy = 0; copy < copies; copy += 1) {
        const parts = own[(first + copy) % names.length]!;
        if (draw(50) === 0) parts.push([]);
        parts.at(-1)!.push(entry);
      }
    }
    const { merged, problems } = await merge(Object.fromEntries(names.map((name, at) => [name, own[at]!])));
    expect(merged).toEqual(all);
    expect(problems).toEqual([]);
  });
});
