import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, type watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TreeWatch, type WatchEnd, type WatchTreeOptions, watchTree } from './watch-tree.ts';

let root: string;
let watching: TreeWatch | undefined;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-watch-'));
  write('.drayignore', 'scratch/\n*.log\n');
  for (const path of ['a.txt', 'deep/er/b.txt', 'scratch/x', '.dray/index.db']) write(path, path);
});
afterEach(() => {
  watching?.close();
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

async function start(options: Partial<WatchTreeOptions> = {}) {
  const seen = new Set<string | null>();
  const ends: WatchEnd[] = [];
  let next = Promise.withResolvers<void>();
  watching = watchTree({
    root,
    isWorkspace: true,
    onEvent(path) {
      seen.add(path);
      next.resolve();
      next = Promise.withResolvers();
    },
    onEnd: (why) => ends.push(why),
    ...options,
  });
  await watching.ready;
  return {
    ends,
    seen,
    until: async (path: string) => {
      while (!seen.has(path)) await next.promise;
    },
  };
}

describe.skipIf(process.platform !== 'linux')('watchTree', () => {
  it('reports changes in every folder, also in new and moved ones', async () => {
    const watched = await start();
    write('deep/er/b.txt', 'edited');
    await watched.until('deep/er/b.txt');
    write('new/folder/c.txt', 'made before its folder was watched, or after');
    await watched.until('new/folder/c.txt');
    renameSync(join(root, 'deep'), join(root, 'moved'));
    await watched.until('moved/er');
    write('moved/er/late.txt', 'made where the folder is now');
    await watched.until('moved/er/late.txt');
    rmSync(join(root, 'moved'), { recursive: true });
    await watched.until('moved');
    expect(watched.ends).toEqual([]);
  });

  it('watches a folder that replaced another one', async () => {
    const watched = await start();
    renameSync(join(root, 'deep'), join(root, 'old'));
    mkdirSync(join(root, 'deep'));
    await watched.until('deep');
    write('deep/fresh', 'in the new one');
    await watched.until('deep/fresh');
  });

  it("skips ignored folders, Dray's own, and nested workspaces", async () => {
    write('inner/.dray/config.json', '{}');
    write('inner/file', 'of another workspace');
    const { fake, listeners } = createFakeWatch();
    const watched = await start({ watch: fake });
    expect([...listeners.keys()].sort()).toEqual(['', '/deep/', '/deep/er/', '/inner/']);
    for (const name of ['.dray', 'noise.log', '.dray-tmp', 'a.txt']) listeners.get('')!('change', name);
    expect([...watched.seen]).toEqual(['a.txt']);
  });

  it("skips only Dray's own files in a folder that is no workspace", async () => {
    write('inner/.dray/config.json', '{}');
    const { fake, listeners } = createFakeWatch();
    const watched = await start({ isWorkspace: false, watch: fake });
    expect([...listeners.keys()].sort()).toEqual(['', '/deep/', '/deep/er/', '/inner/', '/scratch/']);
    for (const name of ['.dray', 'noise.log', '.dray-tmp']) listeners.get('')!('change', name);
    expect([...watched.seen]).toEqual(['noise.log']);
  });

  it('ends when there are too many folders, and at the system limit of watches', async () => {
    expect((await start({ foldersMax: 2 })).ends).toEqual(['tooMany']);
    const noSpace = (() => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    }) as unknown as typeof watch;
    expect((await start({ watch: noSpace })).ends).toEqual(['limit']);
    expect((await start({ root: join(root, 'none') })).ends).toEqual(['failed']);
  });

  it('ends when a part of the tree cannot be watched', async () => {
    // A path beyond the system's limit (4,096 bytes) can only be made step by step.
    const name = 'n'.repeat(250);
    const step = `require('fs').mkdirSync('${name}'); process.chdir('${name}');`;
    const steps = `for (let at = 0; at < 18; at += 1) { ${step} }`;
    execFileSync(process.execPath, ['-e', steps], { cwd: root });
    try {
      expect((await start()).ends).toEqual(['failed']);
    } finally {
      execFileSync('rm', ['-rf', join(root, name)]);
    }
  });
});

/** Records the folders that are watched, relative to the root, and their listeners. */
function createFakeWatch() {
  const listeners = new Map<string, (event: string, name: string) => void>();
  const fake = (path: string, _options: object, listener: (event: string, name: string) => void) => {
    listeners.set(path.slice(root.length), listener);
    return { on() {}, close() {} };
  };
  return { fake: fake as unknown as typeof watch, listeners };
}
