import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchFolder } from './watch-folder.ts';

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

async function start(root = folder) {
  const seen = new Set<string>();
  let reports = 0;
  let changed = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<boolean>();
  await watchFolder({
    root,
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
  it('reports changes together, also in new folders, and ignores the files that Dray writes', async () => {
    const watched = await start();
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

  it('calls onLost when another folder takes the path, and watches the new folder', async () => {
    const root = join(folder, 'root');
    mkdirSync(root);
    const watched = await start(root);
    renameSync(root, join(folder, 'old'));
    mkdirSync(root);
    expect(await watched.lost).toBe(true);
    writeFileSync(join(root, 'fresh'), '1');
    await watched.until('fresh');
  });

  it('calls onLost(false) for a folder that does not exist', async () => {
    expect(await (await start(join(folder, 'none'))).lost).toBe(false);
  });

  it('reports nothing after its signal fires', async () => {
    const watched = await start();
    stopping.abort();
    writeFileSync(join(folder, 'a'), '1');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(watched.reports()).toBe(0);
  });
});
