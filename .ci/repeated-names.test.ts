import { expect, it } from 'vitest';
import { findRepeatedNames } from './repeated-names.ts';

const find = (files: Record<string, string>) =>
  findRepeatedNames(new Map(Object.entries(files))).map(({ file, line, what }) => `${file}:${line}: ${what}`);

it('two exports of one name are an offence', () => {
  const files = {
    'engine/a.ts': 'export interface Listing {}\nexport function findJob() {}\n',
    'app/b.ts': '\nexport const findJob = () => 1;\ninterface Listing {}\n',
  };
  expect(find(files)).toEqual(['app/b.ts:2: exports findJob, which is something else in engine/a.ts']);
});

it('single words, tests, fixtures, the window and the benchmarks may share names', () => {
  const source = 'export const findJob = 1;\n';
  const files = {
    'engine/a.ts': `${source}export const get = 1;\n`,
    'engine/b.ts': 'export const get = 2;\n',
    'engine/a.test.ts': source,
    'engine/a.fixture.ts': source,
    'renderer/a.ts': source,
    'bench/a.ts': source,
  };
  expect(find(files)).toEqual([]);
});
