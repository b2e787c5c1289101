import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { comparePaths } from '../../model/entry.ts';
import {
  type ScanBatch,
  type ScannedEntry,
  type ScanOptions,
  type ScanProblem,
  scanWorkspace,
} from './scan.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-scan-'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** Writes a file at each path, or creates a folder where it ends in `/`. */
function plant(...paths: string[]): void {
  for (const path of paths) {
    if (path.endsWith('/')) mkdirSync(join(root, path), { recursive: true });
    else {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), path);
    }
  }
}

function scan(options: Partial<ScanOptions> = {}): { entries: ScannedEntry[]; problems: ScanProblem[] } {
  const batches = [...scanWorkspace({ root, ignore: true, ...options })];
  return {
    entries: batches.flatMap((batch) => batch.entries),
    problems: batches.flatMap((batch) => batch.problems),
  };
}

function scanPaths(options: Partial<ScanOptions> = {}): string[] {
  return scan(options).entries.map((entry) => entry.path);
}

describe('what a scan reports', () => {
  it('returns each file with the numbers of lstat', () => {
    plant('data/one.bin');
    chmodSync(join(root, 'data/one.bin'), 0o640);
    const { size, mtimeMs, ctimeMs, ino } = lstatSync(join(root, 'data/one.bin'));
    const expected = {
      sizeBytes: size,
      mtimeMs,
      ctimeMs,
      inode: ino,
      executable: false,
      mode: 0o640,
    };
    expect(scan()).toEqual({ entries: [{ path: 'data/one.bin', kind: 'file', ...expected }], problems: [] });
  });

  it('reads the executable bit of the owner', () => {
    plant('run.sh', 'read.txt');
    chmodSync(join(root, 'run.sh'), 0o744);
    expect(scan().entries.map((entry) => entry.executable)).toEqual([false, true]);
  });

  it('returns links as links, dangling, to a folder or circular, and never follows one', () => {
    plant('folder/file');
    symlinkSync('folder', join(root, 'to-folder'));
    symlinkSync('nowhere', join(root, 'dangling'));
    symlinkSync('..', join(root, 'folder/up'));
    expect(scan().entries.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'link dangling',
      'file folder/file',
      'link folder/up',
      'link to-folder',
    ]);
  });

  it('returns only an empty folder as an entry, whose path ends in a slash', () => {
    plant('empty/', 'filled/x', 'outer/inner/');
    expect(scan().entries.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'folder empty/',
      'file filled/x',
      'folder outer/inner/',
    ]);
  });

  it('returns nothing for an empty root', () => {
    expect([...scanWorkspace({ root, ignore: true })]).toEqual([]);
  });

  it('accepts a root with a slash at its end', () => {
    plant('a');
    expect(scanPaths({ root: `${root}/` })).toEqual(['a']);
  });

  it('refuses a root that is missing or a file with notFound', () => {
    plant('file');
    for (const name of ['absent', 'file']) {
      expect(() => scanPaths({ root: join(root, name) })).toThrow(
        expect.objectContaining({ code: 'notFound' }),
      );
    }
  });
});

describe('the order of a scan', () => {
  it('sorts a folder as if its name ended in a slash', () => {
    plant('a/x', 'a-b/x', 'a-', 'a.txt', 'a0', 'a!/x', 'b');
    expect(scanPaths()).toEqual(['a!/x', 'a-', 'a-b/x', 'a.txt', 'a/x', 'a0', 'b']);
  });

  it('is the byte order of the UTF-8 form where UTF-16 differs', () => {
    plant('\u{1f600}', '\uff41', 'z', '\u00e9');
    expect(scanPaths()).toEqual(['z', '\u00e9', '\uff41', '\u{1f600}']);
  });

  it('ascends strictly and is complete, whatever the names', () => {
    const name = fc.constantFrom(
      'a',
      'a-',
      'a-b',
      'a!',
      'a.b',
      'a0',
      'A',
      'ab',
      'b',
      ' ',
      'a\\b',
      '\u00e9',
      '\uff41',
      '\u{1f600}',
    );
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const options = { paths: fc.array(path, { maxLength: 25 }), batchSize: fc.integer({ min: 1, max: 7 }) };
    fc.assert(
      fc.property(fc.record(options), ({ paths, batchSize }) => {
        for (const planted of readdirSync(root)) rmSync(join(root, planted), { recursive: true });
        for (const planted of paths) {
          // The first use decides whether a name is a file or a folder.
          const isClash = paths.some(
            (other) => other.startsWith(`${planted}/`) || planted.startsWith(`${other}/`),
          );
          plant(isClash ? `${planted}/` : planted);
        }
        expect(scanPaths({ batchSize })).toEqual(walkPlainly('').sort(comparePaths));
      }),
      { numRuns: runBudget({ short: 15, long: 60 }) },
    );
  });
});

/** The expected result, by recursion and one sort. */
function walkPlainly(folder: string): string[] {
  const found = readdirSync(join(root, folder), { withFileTypes: true });
  if (found.length === 0 && folder !== '') return [folder];
  return found.flatMap((item) =>
    item.isDirectory() ? walkPlainly(`${folder}${item.name}/`) : [folder + item.name],
  );
}

describe('the batches of a scan', () => {
  it('end after the given number of names, even where all are ignored', () => {
    plant(...Array.from({ length: 100 }, (_, at) => `${at}.log`), 'kept');
    writeFileSync(join(root, '.drayignore'), '*.log\n');
    const batches: ScanBatch[] = [...scanWorkspace({ root, ignore: true, batchSize: 10 })];
    expect(batches.length).toBe(11);
    expect(batches.flatMap((batch) => batch.entries.map((entry) => entry.path))).toEqual([
      '.drayignore',
      'kept',
    ]);
  });

  it('read each part of the tree when its turn comes, and skip what vanished before', () => {
    plant('a', 'b', 'c/x', 'd');
    const batches = scanWorkspace({ root, ignore: true, batchSize: 1 });
    expect(batches.next().value?.entries.map((entry: ScannedEntry) => entry.path)).toEqual(['a']);
    rmSync(join(root, 'b'));
    rmSync(join(root, 'c'), { recursive: true });
    writeFileSync(join(root, 'c'), 'a file now');
    const rest = [...batches];
    expect(rest.flatMap((batch) => batch.entries.map((entry) => entry.path))).toEqual(['c', 'd']);
    expect(rest.flatMap((batch) => batch.problems)).toEqual([]);
  });

  it('skip a folder that vanished before its content was read', () => {
    plant('c/x', 'c-', 'd');
    const batches = scanWorkspace({ root, ignore: true, batchSize: 2 });
    expect(batches.next().value?.entries.map((entry: ScannedEntry) => entry.path)).toEqual(['c-']);
    rmSync(join(root, 'c'), { recursive: true });
    const rest = [...batches];
    expect(rest.flatMap((batch) => batch.entries.map((entry) => entry.path))).toEqual(['d']);
    expect(rest.flatMap((batch) => batch.problems)).toEqual([]);
  });
});

describe('what a scan leaves out', () => {
  it('leaves out the .dray folder at the root, and reports another spelling of it', () => {
    plant('.dray/index', '.Dray/x', 'a');
    const { entries, problems } = scan();
    expect(entries.map((entry) => entry.path)).toEqual(['a']);
    expect(problems).toMatchObject([{ path: '.Dray', problem: 'special' }]);
  });

  it('leaves out folders of unfinished files at any depth, but no file of that name', () => {
    plant('.dray-tmp/part', 'sub/.dray-tmp/part', 'sub/file', 'other/.dray-tmp', '.dray-tmpx');
    const { entries, problems } = scan();
    expect(entries.map(({ path }) => path)).toEqual(['.dray-tmpx', 'other/.dray-tmp', 'sub/file']);
    expect(problems).toMatchObject([
      { path: '.dray-tmp/', problem: 'unfinished' },
      { path: 'sub/.dray-tmp/', problem: 'unfinished' },
    ]);
  });

  it('leaves out the unfinished files of earlier versions', () => {
    plant(
      '.a.0123456789ab.dray-part',
      'a.0123456789ab.dray-tmp',
      'a.dray-part',
      'b/.c.txt.0123456789ab.dray-part',
    );
    const { entries, problems } = scan();
    expect(entries.map(({ path }) => path)).toEqual(['a.dray-part']);
    expect(problems.map(({ path, problem }) => [path, problem])).toEqual([
      ['.a.0123456789ab.dray-part', 'unfinished'],
      ['a.0123456789ab.dray-tmp', 'unfinished'],
      ['b/.c.txt.0123456789ab.dray-part', 'unfinished'],
    ]);
  });

  it('leaves out a nested workspace, and reports it', () => {
    plant('inner/.dray/index', 'inner/data', 'z');
    const { entries, problems } = scan();
    expect(entries.map((entry) => entry.path)).toEqual(['z']);
    expect(problems).toMatchObject([{ path: 'inner/', problem: 'nestedWorkspace' }]);
  });

  it('leaves out anything named like a workspace folder, and reports it', () => {
    plant('inner/.dray', 'other/.DRAY/config.json', 'other/.d\u200cray', 'other/.dray2', '.d\u200cray');
    const { entries, problems } = scan();
    expect(entries.map((entry) => entry.path)).toEqual(['other/.dray2']);
    expect(problems.map(({ path, problem }) => ({ path, problem }))).toEqual([
      { path: '.d\u200cray', problem: 'special' },
      { path: 'inner/.dray', problem: 'special' },
      { path: 'other/.DRAY', problem: 'special' },
      { path: 'other/.d\u200cray', problem: 'special' },
    ]);
  });

  it('reports pipes and continues', () => {
    plant('a', 'z');
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const { entries, problems } = scan();
    expect(entries.map((entry) => entry.path)).toEqual(['a', 'z']);
    expect(problems).toMatchObject([{ path: 'pipe', problem: 'special' }]);
  });

  it.runIf(process.platform === 'linux')(
    'reports names that are not UTF-8, and accepts a real U+FFFD',
    () => {
      plant('sub/\ufffd', 'sub/\u00e9');
      writeFileSync(Buffer.concat([Buffer.from(`${root}/sub/`), Buffer.from([0x66, 0xff])]), '');
      mkdirSync(join(root, 'other'));
      writeFileSync(Buffer.concat([Buffer.from(`${root}/other/`), Buffer.from([0xe9])]), '');
      const { entries, problems } = scan();
      expect(entries.map((entry) => entry.path)).toEqual(['sub/\u00e9', 'sub/\ufffd']);
      expect(problems.map(({ path, problem }) => ({ path, problem }))).toEqual([
        { path: 'other/\\xe9', problem: 'notUtf8' },
        { path: 'sub/f\\xff', problem: 'notUtf8' },
      ]);
    },
  );

  it.runIf(process.platform !== 'win32')('reports unreadable folders and files, and continues', () => {
    plant('closed/x', 'listed/x', 'open/x');
    chmodSync(root, 0o755);
    chmodSync(join(root, 'closed'), 0o000);
    chmodSync(join(root, 'listed'), 0o744);
    const { entries, problems } = withoutPrivilege(() => scan());
    chmodSync(join(root, 'closed'), 0o700);
    expect(entries.map((entry) => entry.path)).toEqual(['open/x']);
    expect(problems.map(({ path, problem }) => ({ path, problem }))).toEqual([
      { path: 'closed/', problem: 'unreadable' },
      { path: 'listed/x', problem: 'unreadable' },
    ]);
  });
});

/**
 * Root can read everything, so it drops its privilege for the test; other users own the folders and are
 * refused as well.
 */
function withoutPrivilege<T>(work: () => T): T {
  if (process.getuid?.() !== 0) {
    chmodSync(join(root, 'listed'), 0o400);
    try {
      return work();
    } finally {
      chmodSync(join(root, 'listed'), 0o700);
    }
  }
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

describe('ignore files in a scan', () => {
  it('are entries themselves, and apply only on request', () => {
    plant('a.log', 'b');
    writeFileSync(join(root, '.drayignore'), '*.log\n');
    expect(scanPaths()).toEqual(['.drayignore', 'b']);
    expect(scanPaths({ ignore: false })).toEqual(['.drayignore', 'a.log', 'b']);
  });

  it('keep an ignored folder from being entered, so nothing in it is a problem', () => {
    plant('skip/.dray/x', 'skip/y', 'z');
    writeFileSync(join(root, '.drayignore'), 'skip/\n');
    expect(scan()).toMatchObject({ entries: [{ path: '.drayignore' }, { path: 'z' }], problems: [] });
  });

  it('do not make a folder with only ignored content an empty folder', () => {
    plant('d/a.log');
    writeFileSync(join(root, '.drayignore'), '*.log\n');
    expect(scanPaths()).toEqual(['.drayignore']);
  });

  it('exclude their folder when they are too large, and stop the scan at the root', () => {
    plant('d/x', 'e');
    writeFileSync(join(root, 'd/.drayignore'), '#'.repeat(1024 * 1024 + 1));
    const { entries, problems } = scan();
    expect(entries.map((entry) => entry.path)).toEqual(['e']);
    expect(problems).toMatchObject([{ path: 'd/', problem: 'unreadable' }]);
    writeFileSync(join(root, '.drayignore'), '#'.repeat(1024 * 1024 + 1));
    expect(() => scan()).toThrow(expect.objectContaining({ code: 'io' }));
  });

  it('are not read through a link', () => {
    plant('a.log');
    const outside = mkdtempSync(join(tmpdir(), 'dray-scan-'));
    writeFileSync(join(outside, 'rules'), '*.log\n');
    symlinkSync(join(outside, 'rules'), join(root, '.drayignore'));
    expect(scanPaths()).toEqual(['.drayignore', 'a.log']);
    rmSync(outside, { recursive: true });
  });
});
