/**
 * Random lists of filter options and random trees, equal for equal seeds, to compare which files two programs
 * select.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';

export interface FilterList {
  /** Paths of files, relative to the root of the tree. */
  readonly tree: readonly string[];
  readonly options: readonly FilterOption[];
}

export interface FilterOption {
  readonly flag: (typeof FLAGS)[number];
  /** The lines of a file for flags that end in `-from`; otherwise a single value. */
  readonly values: readonly string[];
}

const FLAGS = [
  '--include',
  '--include-from',
  '--exclude',
  '--exclude-from',
  '--filter',
  '--filter-from',
] as const;

/** In some languages U+2028 and CR end lines; names must not depend on that. */
const NAMES = [
  'a',
  'b',
  'ab',
  'ba',
  'A',
  ' a',
  '.h',
  '1',
  'a-b',
  '\u00e9',
  'a\u2028b',
  'a\rb',
  'a.jpg',
  'b.jpg',
];
const PIECES = [
  ...[
    'a',
    'b',
    'a',
    'b',
    '1',
    '.jpg',
    '-',
    '\u00e9',
    '\u2028',
    ' ',
    '.h',
    '/',
    '/',
    '*',
    '*',
    '**',
    '**',
    '?',
  ],
  ...['{a,b}', '{a*,b/}', '{,b}', '{a,{b,1}}', '{*.jpg,1}', '[ab]', '[^a]', '[a-c]', '[[:alpha:]]'],
  ...[
    '[^[:digit:]x]',
    '[-a]',
    '[a-]',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\*',
    '\\.',
    '+',
    '(',
    ')',
    '|',
    '^',
    '$',
    ',',
  ],
];

const pattern = fc
  .tuple(
    fc.constantFrom('', '', '/'),
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 }),
    fc.constantFrom('', '', '', '/', '/**', '/*'),
  )
  // rclone removes spaces at the end of an option.
  .map((parts) => parts.flat().join('').replace(/\s+$/u, ''))
  .filter((text) => /[^/]/.test(text));
/** Dray refuses an include of a folder alone. */
const included = pattern.map((text) => text.replace(/\/$/, '/**'));
const rule = fc.oneof(
  { weight: 2, arbitrary: included.map((text) => `+ ${text}`) },
  { weight: 3, arbitrary: pattern.map((text) => `- ${text}`) },
  { weight: 1, arbitrary: fc.constant('!') },
);
const VALUES = { include: included, exclude: pattern, filter: rule } as const;

const option: fc.Arbitrary<FilterOption> = fc.constantFrom(...FLAGS).chain((flag) => {
  const value = VALUES[flag.split('-')[2] as keyof typeof VALUES];
  const values = flag.endsWith('-from') ? fc.array(value, { maxLength: 4 }) : fc.tuple(value);
  return values.map((lines) => ({ flag, values: lines }));
});

const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'));
const list = fc.record({
  tree: fc.uniqueArray(path, { minLength: 5, maxLength: 20 }).map(withoutClashes),
  options: fc.oneof(
    fc.array(option, { minLength: 1, maxLength: 5 }),
    // Only --filter keeps the order of rules, so people use it.
    fc
      .array(rule, { minLength: 1, maxLength: 6 })
      .map((rules) => rules.map((value) => ({ flag: '--filter' as const, values: [value] }))),
  ),
});

/** Removes paths of files where a folder must be. */
function withoutClashes(paths: readonly string[]): readonly string[] {
  return paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
}

export function sampleFilterLists(count: number, seed: number): readonly FilterList[] {
  return fc.sample(list, { numRuns: count, seed });
}

export function writeTree(root: string, { tree }: FilterList): void {
  for (const file of tree) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '');
  }
}

/** Returns the command line and writes its rule files to `folder`. */
export function toArguments({ options }: FilterList, folder: string): readonly string[] {
  return options.flatMap(({ flag, values }, at) => {
    if (!flag.endsWith('-from')) return [flag, values[0]!];
    const file = join(folder, `rules-${at}`);
    writeFileSync(file, values.map((value) => `${value}\n`).join(''));
    return [flag, file];
  });
}
