import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScanOptions, scanWorkspace } from './scan.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-plain-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function plant(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), path);
  }
}

function scan(options: Partial<ScanOptions> = {}): { paths: string[]; problems: string[] } {
  const batches = [...scanWorkspace({ root, ignore: false, isPlain: true, ...options })];
  return {
    paths: batches.flatMap((batch) => batch.entries.map((entry) => entry.path)),
    problems: batches.flatMap((batch) => batch.problems.map((problem) => problem.path)),
  };
}

describe('the scan of a plain tree', () => {
  it('leaves out workspace folders at any depth, under any spelling', () => {
    plant('.dray/config', 'a/.dray/config', 'a/.DRAY/config', 'a/b/.Dray', 'a/file', 'a/.drayed', 'dray');
    expect(scan()).toEqual({ paths: ['a/.drayed', 'a/file', 'dray'], problems: [] });
  });

  it('walks through workspaces, and treats ignore files as files', () => {
    plant('data/.dray/config', 'data/.drayignore', 'data/kept');
    writeFileSync(join(root, 'data/.drayignore'), '*');
    expect(scan().paths).toEqual(['data/.drayignore', 'data/kept']);
  });

  it('leaves out folders of unfinished files, including those of copies into a subfolder', () => {
    plant(
      '.dray-tmp/part',
      '.dray-tmpx',
      'a/.dray-tmp/part',
      'a/b',
      'c/.dray-tmp',
      'a/.b.0123456789ab.dray-part',
    );
    expect(scan().paths).toEqual(['.dray-tmpx', 'a/b']);
  });

  it('asks once for each folder, by its path with a slash, whether to enter it', () => {
    plant('a/b/c', 'a/d/e', 'f/g', 'h');
    const asked: string[] = [];
    const enter = (folder: string) => {
      asked.push(folder);
      return folder !== 'a/b/' && folder !== 'f/';
    };
    expect(scan({ enter }).paths).toEqual(['a/d/e', 'h']);
    expect(asked).toEqual(['a/', 'a/b/', 'a/d/', 'f/']);
  });

  it.each([
    ['removed', () => rmSync(root, { recursive: true })],
    ['unmounted, which leaves an empty folder', () => emptyRoot()],
  ])('fails when its root is %s during the scan', (_what, happens) => {
    plant('a/1', 'b/1', 'c/1');
    const batches = scanWorkspace({ root, ignore: false, isPlain: true, batchSize: 1 });
    expect(batches.next().done).toBe(false);
    happens();
    expect(() => [...batches]).toThrow(
      expect.objectContaining({ code: 'io', data: expect.objectContaining({ reason: 'vanished' }) }),
    );
  });

  it('skips files and folders that vanish during the scan', () => {
    plant('a/1', 'b/1', 'c', 'd');
    const batches = scanWorkspace({ root, ignore: false, isPlain: true, batchSize: 1 });
    expect(batches.next().done).toBe(false);
    for (const name of ['b', 'c']) rmSync(join(root, name), { recursive: true });
    expect([...batches].flatMap(({ entries }) => entries.map(({ path }) => path))).toEqual(['a/1', 'd']);
  });
});

function emptyRoot(): void {
  rmSync(root, { recursive: true });
  mkdirSync(root);
}
