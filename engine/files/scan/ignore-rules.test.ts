import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countScans } from '../../base/count-scans.fixture.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { addIgnoreFile, type IgnoreRules, isIgnored } from './ignore-rules.ts';
import { scanWorkspace } from './scan.ts';

const FILES = [
  'a',
  'a.log',
  'build/out.bin',
  'build/keep/x.log',
  'data/a',
  'data/a.log',
  'data/build/out.bin',
  'data/raw/a.log',
  'data/raw/deep/er/x.csv',
  'data/raw/[x].csv',
  'data/wei rd!/x.log',
  'data/wei rd!/sub/a',
  '#hash',
  '!bang',
  'Upper.LOG',
  'trailing ',
];
const FOLDERS = ['', 'data/', 'data/raw/', 'data/wei rd!/', 'build/', 'build/keep/'];
const PATTERNS = [
  ...[
    '*.log',
    'a',
    '/a',
    'build',
    'build/',
    '/build/',
    'data/*',
    'data/**',
    '**/raw',
    '**/a.log',
    'raw/deep/',
    'deep/**/x.csv',
  ],
  ...[
    '*',
    '*/',
    '/*',
    '!*/',
    '!a',
    '!*.log',
    '!build/',
    '!raw/',
    '!/keep/',
    '!deep',
    '![[]x].csv',
    '\\[x\\].csv',
    '[a-c]',
    '[!a]',
  ],
  ...[
    '#hash',
    '\\#hash',
    '\\!bang',
    '!bang',
    'trailing ',
    'trailing\\ ',
    '  ',
    '',
    '?',
    'x.???',
    'wei rd!/',
    'wei*/',
    '!sub/',
    'sub',
  ],
  ...[
    'data/raw/*.csv',
    'a/**/b',
    '**',
    '/**',
    'UPPER.log',
    'er/',
    'data**/deep',
    'da**/x.csv',
    '/d**',
    '**a/*',
    'raw/',
    '[d]ata/**/',
    'data/ra[^a]',
    '[[:alpha:]]',
    '[]x]',
    '[b-a]',
    '[a',
    'a\\',
    '\\a',
    'raw//',
    '/',
    '!',
    'build\\/',
    '**\\/raw',
    '*/raw',
    '?ata/raw',
    'data?raw',
    'data[/]raw',
    'raw/**',
    '!raw/**',
    '!/raw/deep/',
  ],
];

let place: string;
let gitDirectory: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'dray-ignore-'));
  gitDirectory = join(place, 'git');
  execFileSync('git', ['init', '-q', '--bare', gitDirectory]);
});

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

/** Lines of the ignore file in each folder. */
type Rules = Readonly<Record<string, readonly string[]>>;

function plant(rules: Rules): string {
  const root = mkdtempSync(join(place, 'tree-'));
  for (const path of FILES) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  for (const [folder, lines] of Object.entries(rules)) {
    for (const name of ['.gitignore', '.drayignore'])
      writeFileSync(join(root, folder, name), `${lines.join('\n')}\n`);
  }
  return root;
}

function keptByGit(root: string): string[] {
  const base = [
    '--git-dir',
    gitDirectory,
    '--work-tree',
    root,
    '-c',
    'core.excludesFile=/dev/null',
    '-c',
    'core.bare=false',
  ];
  let ignored = '';
  try {
    const options = { cwd: root, input: FILES.join('\0'), encoding: 'utf8' } as const;
    ignored = execFileSync('git', [...base, 'check-ignore', '--no-index', '-z', '--stdin'], options);
  } catch (error) {
    // Exit code 1: nothing is ignored.
    if ((error as { status: number }).status !== 1) throw error;
  }
  const names = new Set(ignored.split('\0'));
  return FILES.filter((path) => !names.has(path)).sort();
}

function keptByScan(root: string): string[] {
  const entries = [...scanWorkspace({ root, ignore: true })].flatMap((batch) => batch.entries);
  const kept = entries.filter((entry) => entry.kind === 'file').map((entry) => entry.path);
  return kept.filter((path) => FILES.includes(path)).sort();
}

function expectAsGit(rules: Rules): void {
  const root = plant(rules);
  try {
    expect(keptByScan(root)).toEqual(keptByGit(root));
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe('ignore rules', () => {
  it.each(PATTERNS)('are those of git for the pattern "%s"', (pattern) => {
    expectAsGit({ '': [pattern] });
  });

  it.each<Rules>([
    { '': ['*.log'], 'data/': ['!a.log'] },
    { '': ['raw/'], 'data/': ['!raw/'] },
    { '': ['raw/'], 'data/': ['!raw/'], 'data/raw/': ['deep/'] },
    { '': ['raw', 'deep'], 'data/': ['!raw'], 'data/raw/': ['!deep'] },
    { '': ['wei*'], 'data/': ['!wei*', '*.log'], 'data/wei rd!/': ['!*.log', 'sub'] },
    { '': ['data/'], 'data/': ['!raw/'] },
    { '': ['*', '!*/', '!*.csv'] },
    { '': ['/data/raw/'], 'data/': ['!/raw/', '/raw/*.csv'] },
  ])('are those of git for nested files such as %j', (rules) => {
    expectAsGit(rules);
  });

  it('are those of git for any patterns in any folders', () => {
    const lines = fc.array(fc.constantFrom(...PATTERNS), { minLength: 1, maxLength: 4 });
    const rules = fc.dictionary(fc.constantFrom(...FOLDERS), lines, { minKeys: 1, maxKeys: 4 });
    fc.assert(fc.property(rules, expectAsGit), { numRuns: runBudget({ short: 12, long: 150 }) });
  });

  it('ignore nothing when there are none', () => {
    expect(isIgnored(undefined, 'a/b')).toBe(false);
  });

  it('distinguish a folder from a file by the slash at its end', () => {
    const rules = addIgnoreFile(undefined, '', 'build/\n');
    expect(isIgnored(rules, 'build/')).toBe(true);
    expect(isIgnored(rules, 'build')).toBe(false);
  });

  it('are relative to their own folder and override those above', () => {
    const above: IgnoreRules = addIgnoreFile(undefined, '', '*.log\n');
    const rules = addIgnoreFile(above, 'data/', '/only\n!keep.log\n');
    expect(isIgnored(rules, 'data/only')).toBe(true);
    expect(isIgnored(rules, 'data/sub/only')).toBe(false);
    expect(isIgnored(rules, 'data/keep.log')).toBe(false);
    expect(isIgnored(rules, 'data/other.log')).toBe(true);
  });

  it('begin after a byte order mark and end lines with or without a carriage return', () => {
    const rules = addIgnoreFile(undefined, '', '\ufeffa.log\r\nb.log\r\n');
    expect([isIgnored(rules, 'a.log'), isIgnored(rules, 'b.log')]).toEqual([true, true]);
  });

  it('take at most as many steps as the rule length times the path length', () => {
    const pieces = [
      '*',
      '*a',
      '**/',
      'a/**/',
      '?',
      '[a-b]',
      '[!b]',
      '[[:alpha:]]',
      '[[:a',
      '[a',
      '\\',
      ' ',
      '\\ ',
    ];
    for (const first of pieces)
      for (const second of pieces) {
        const text = `/**/${first.repeat(20)}${(second + first).repeat(10)}${second.repeat(20)}x`;
        const looks = (length: number) =>
          countScans(() => {
            const rules = addIgnoreFile(undefined, '', text);
            for (const path of ['a', 'a/', 'ab']) isIgnored(rules, `${path.repeat(length)}b`);
          });
        expect(looks(4_000), text).toBeLessThanOrEqual(2.2 * looks(2_000) + 600);
        expect(looks(100), text).toBeLessThanOrEqual(text.length * 'aa/ab'.length * 101);
      }
  });
});
