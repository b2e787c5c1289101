import { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { comparePaths } from '../../model/entry.ts';
import { fileToken, type TreeItem } from '../../model/tree-item.ts';
import { type LeftOut, type LocalTreeOptions, scanLocalTree } from './local-tree.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-local-tree-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function plant(path: string, content = path): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

async function scan(options: Partial<LocalTreeOptions> = {}) {
  const problems: LeftOut[] = [];
  const items: TreeItem[] = [];
  const batches = scanLocalTree({
    root,
    nowMs: Date.now(),
    signal: new AbortController().signal,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  for await (const batch of batches) items.push(...batch);
  return { items, problems, paths: items.map((item) => item.path) };
}

describe('a local tree', () => {
  it('returns files as items whose token comes from lstat, and no empty folders', async () => {
    plant('a/file', '12345');
    mkdirSync(join(root, 'empty'));
    utimesSync(join(root, 'a/file'), 1_700_000_000, 1_700_000_000.25);
    const { ctimeMs, ino, mtimeMs, size } = lstatSync(join(root, 'a/file'));
    const token = fileToken({ sizeBytes: size, mtimeMs, ctimeMs, inode: ino });
    expect((await scan()).items).toEqual([
      { path: 'a/file', kind: 'file', sizeBytes: 5, token, modifiedMs: 1_700_000_000_250 },
    ]);
  });

  it('has no token for a file as young as the scan, or from the future', async () => {
    for (const path of ['future', 'old', 'young']) plant(path);
    const nowMs = 1_700_000_000_015;
    utimesSync(join(root, 'young'), 1, (nowMs - 10) / 1000);
    utimesSync(join(root, 'future'), 1, nowMs / 1000 + 60);
    utimesSync(join(root, 'old'), 1, (nowMs - 60) / 1000);
    expect((await scan({ nowMs })).items.map((item) => item.token !== '')).toEqual([false, true, false]);
  });

  it('leaves out what the filter excludes, including links', async () => {
    plant('a.bin');
    plant('b.txt');
    symlinkSync('a.bin', join(root, 'c.bin'));
    symlinkSync('a.bin', join(root, 'd.txt'));
    const { paths, problems } = await scan({ includes: (item) => item.path.endsWith('.txt') });
    expect(paths).toEqual(['b.txt']);
    expect(problems.map(({ path, problem }) => [path, problem])).toEqual([['d.txt', 'link']]);
  });

  it.runIf(process.platform === 'linux')(
    'reports a link whose target is not text, where targets are sent as text (needs Linux)',
    async () => {
      plant('a');
      symlinkSync('caf\u00e9', join(root, 'good'));
      for (const name of ['bad', 'out']) symlinkSync(Buffer.from('caf\xe9', 'latin1'), join(root, name));
      const includes = (item: TreeItem) => item.path !== 'out';
      const { items, problems } = await scan({ special: true, includes });
      expect(items.map(({ path, special }) => [path, special])).toEqual([
        ['a', undefined],
        ['good', { kind: 'link', target: 'caf\u00e9' }],
      ]);
      expect(problems.map(({ path, problem }) => [path, problem])).toEqual([['bad', 'notUtf8']]);
      expect((await scan({ links: true })).items.map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([
        ['a', 1],
        ['bad.rclonelink', 4],
        ['good.rclonelink', 5],
        ['out.rclonelink', 4],
      ]);
    },
  );

  it('returns links on request, under their own names, in order', async () => {
    for (const path of ['a', 'a-1', 'a.s', 'b/c', 'z']) plant(path);
    symlinkSync('elsewhere', join(root, 'a.'));
    symlinkSync('b', join(root, 'b-link'));
    symlinkSync('x', join(root, 'zz'));
    const { items, problems } = await scan({ links: true });
    expect(items.map((item) => `${item.path} ${item.sizeBytes}`)).toEqual([
      'a 1',
      'a-1 3',
      'a..rclonelink 9',
      'a.s 3',
      'b-link.rclonelink 1',
      'b/c 3',
      'z 1',
      'zz.rclonelink 1',
    ]);
    expect(problems).toEqual([]);
  });

  it('leaves out and reports a file with the name of a link object', async () => {
    for (const path of ['a.rclonelink', 'b.rclonelink']) plant(path);
    symlinkSync('somewhere', join(root, 'a'));
    const { items, problems } = await scan({ links: true });
    expect(items.map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([['a.rclonelink', 9]]);
    expect(problems.map(({ path, problem }) => [path, problem])).toEqual([
      ['a.rclonelink', 'linkName'],
      ['b.rclonelink', 'linkName'],
    ]);
    expect((await scan()).paths).toEqual(['a.rclonelink', 'b.rclonelink']);
  });

  it('ascends strictly with any links, in batches of any size (property)', async () => {
    const name = fc.string({
      unit: fc.constantFrom('a', '-', '.', '/', 'r', '~', '\u00e9'),
      minLength: 1,
      maxLength: 6,
    });
    const tree = fc.uniqueArray(fc.record({ name, isLink: fc.boolean() }), {
      maxLength: 25,
      selector: (one) => one.name,
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 8 }), async (entries, batchSize) => {
        run += 1;
        const here = join(root, `${run}`);
        mkdirSync(here);
        for (const { isLink, name: path } of entries) {
          const isOdd = path.split('/').some((part) => part === '' || part === '.' || part === '..');
          if (isOdd) continue;
          try {
            mkdirSync(dirname(join(here, path)), { recursive: true });
            if (isLink) symlinkSync('x', join(here, path));
            else writeFileSync(join(here, path), '');
          } catch {
            // A file where a folder would have to be, or the other way round: not part of this tree then.
          }
        }
        const { paths } = await scan({ root: here, links: true, batchSize });
        const all = await scan({ root: here, links: true });
        expect(paths).toEqual(all.paths);
        expect(paths).toEqual(paths.toSorted(comparePaths));
        expect(new Set(paths).size).toBe(paths.length);
      }),
      { numRuns: 60 },
    );
  });

  it('stops between two batches, and yields to other work there', async () => {
    for (let at = 0; at < 10; at += 1) plant(`file-${at}`);
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    const batches = scanLocalTree({ root, nowMs: 0, batchSize: 2, signal: stop.signal, onProblem: () => {} });
    const seen: number[] = [];
    const all = (async () => {
      for await (const batch of batches) seen.push(batch.length);
    })();
    await expect(all).rejects.toMatchObject({ code: 'aborted' });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(5);
  });

  it('fails when the root is not a folder', async () => {
    plant('file');
    await expect(scan({ root: join(root, 'file') })).rejects.toMatchObject({ code: 'notFound' });
  });
});
