import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchFolder } from './watch-folder.ts';
import { watchTree } from './watch-tree.ts';

let folder: string;
let stopping: AbortController;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-watch-'));
  stopping = new AbortController();
});
afterEach(() => {
  stopping.abort();
  rmSync(folder, { recursive: true, force: true });
});

function start(root = folder) {
  const seen = new Set<string>();
  let reports = 0;
  let changed = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<boolean>();
  watchFolder({
    root,
    ignores: (path) => path.startsWith('.dray'),
    settleMs: 50,
    onChange: (paths) => {
      reports += 1;
      for (const path of paths ?? []) seen.add(path);
      changed.resolve();
      changed = Promise.withResolvers();
    },
    onLost: (isWatched) => lost.resolve(isWatched),
    signal: stopping.signal,
  });
  const until = async (path: string) => {
    while (!seen.has(path)) await changed.promise;
  };
  return { lost: lost.promise, reports: () => reports, seen, until };
}

describe('watchFolder', () => {
  it('reports changes together, also in folders made later, and none of ignored paths', async () => {
    const watched = start();
    writeFileSync(join(folder, '.dray'), 'ignored');
    writeFileSync(join(folder, 'a'), '1');
    writeFileSync(join(folder, 'b'), '1');
    await watched.until('a');
    await watched.until('b');
    expect(watched.seen).not.toContain('.dray');
    mkdirSync(join(folder, 'new'));
    await watched.until('new');
    writeFileSync(join(folder, 'new', 'c'), '1');
    await watched.until('new/c');
  });

  it('says that it lost track when another folder takes the name, and watches that one', async () => {
    const root = join(folder, 'root');
    mkdirSync(root);
    const watched = start(root);
    renameSync(root, join(folder, 'old'));
    mkdirSync(root);
    expect(await watched.lost).toBe(true);
    writeFileSync(join(root, 'fresh'), '1');
    await watched.until('fresh');
  }, 30_000);

  it('watches a folder below that took the place of another one', async () => {
    mkdirSync(join(folder, 'data'));
    const watched = start();
    renameSync(join(folder, 'data'), join(folder, 'old'));
    mkdirSync(join(folder, 'data'));
    await watched.until('data');
    writeFileSync(join(folder, 'data', 'fresh'), '1');
    await watched.until('data/fresh');
  });

  it.runIf(process.platform === 'linux')(
    'fails when it cannot watch a part, and does not watch the rest',
    () => {
      // Longer than the longest path (4,096 bytes), as only steps into each folder can make it.
      const name = 'n'.repeat(250);
      const step = `require('fs').mkdirSync('${name}'); process.chdir('${name}');`;
      const steps = `for (let at = 0; at < 18; at += 1) { ${step} }`;
      execFileSync(process.execPath, ['-e', steps], { cwd: folder });
      try {
        const options = { ignores: () => false, onEvent: () => {}, onError: () => {} };
        expect(() => watchTree({ root: folder, ...options })).toThrow(/ENAMETOOLONG/);
      } finally {
        execFileSync('rm', ['-rf', join(folder, name)]);
      }
    },
  );

  it('says that a folder that is not there is not watched', async () => {
    expect(await start(join(folder, 'none')).lost).toBe(false);
  });

  it('reports nothing after it was stopped', async () => {
    const watched = start();
    stopping.abort();
    writeFileSync(join(folder, 'a'), '1');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(watched.reports()).toBe(0);
  });
});
