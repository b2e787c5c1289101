import { describe, expect, it } from 'vitest';
import { UnderWay } from './files-under-way.ts';

describe('the files under way in a report', () => {
  it('are four at most: first those that have moved, then large ones, then in the order of their start', () => {
    const files = new UnderWay();
    for (const [path, sizeBytes] of [
      ['small', 1],
      ['large', 900],
      ['moved', 5],
      ['larger', 1000],
      ['moved too', 50],
      ['as large', 1000],
    ] as const)
      files.begin(path, sizeBytes);
    const names = () => files.read().map(({ path }) => path);
    expect(names()).toEqual(['larger', 'as large', 'large', 'moved too']);
    files.add('moved', 2);
    files.add('moved too', 3);
    expect(names()).toEqual(['moved too', 'moved', 'larger', 'as large']);
    files.end('moved too');
    expect(names()).toEqual(['moved', 'larger', 'as large', 'large']);
  });

  it('have no more bytes done than they had at first', () => {
    const files = new UnderWay();
    files.begin('grows', 10);
    files.add('grows', 12);
    expect(files.read()).toEqual([{ path: 'grows', bytesDone: 10, sizeBytes: 10 }]);
  });
});
