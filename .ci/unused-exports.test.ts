import { expect, it } from 'vitest';
import { findUnusedExports } from './unused-exports.ts';

const find = (files: Record<string, string>) =>
  findUnusedExports(new Map(Object.entries(files))).map(({ file, line, what }) => `${file}:${line}: ${what}`);

it('an export that no importing file names is an offence', () => {
  const files = {
    'a.ts': 'export const used = 1;\n\nexport function unused() {}\n',
    'b.ts': "import { used } from './a.ts';\nvoid used;\n",
    'c.ts': 'const unused = 2;\n',
  };
  expect(find(files)).toEqual(['a.ts:3: exports unused, which no other file uses']);
});

it('a dynamic import, a test and a type in a signature count as uses', () => {
  const files = {
    'a.ts':
      'export interface Options {}\nexport function late(options: Options) {}\nexport const tested = 1;\n',
    'b.ts': "void (await import('./a.ts')).late({});\n",
    'a.test.ts': "import { tested } from './a.ts';\nvoid tested;\n",
  };
  expect(find(files)).toEqual([]);
});
