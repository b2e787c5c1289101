import { mkdirSync, renameSync, rmSync, type watch } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../jobs/session/job.fixture.ts';
import { type FolderWatch, type FolderWatchOptions, watchFolder } from './folder-watch.ts';

let sandbox: Sandbox;
let watching: FolderWatch | undefined;
beforeEach(() => {
  sandbox = createSandbox();
  sandbox.write('work/.drayignore', 'scratch/\n*.log\n');
  for (const path of ['a.txt', 'deep/er/b.txt', 'scratch/x', '.dray/index.db'])
    sandbox.write(`work/${path}`, path);
});
afterEach(() => {
  watching?.close();
  sandbox[Symbol.dispose]();
});

/** A promise for the next change after each call. */
async function start(options: Partial<FolderWatchOptions> = {}) {
  let next = Promise.withResolvers<string>();
  const tell = (what: string) => next.resolve(what);
  watching = watchFolder(sandbox.path('work'), { onChange: () => tell('changed'), onEnd: tell, ...options });
  await watching.ready;
  return () => {
    next = Promise.withResolvers();
    return next.promise;
  };
}

describe.skipIf(process.platform !== 'linux')('a watched folder', () => {
  it('tells changes of files in any folder, also in one that came later', async () => {
    const nextChange = await start();
    let change = nextChange();
    sandbox.write('work/deep/er/b.txt', 'edited');
    expect(await change).toBe('changed');
    change = nextChange();
    mkdirSync(sandbox.path('work/new/folder'), { recursive: true });
    expect(await change).toBe('changed');
    change = nextChange();
    sandbox.write('work/new/folder/c.txt', 'in a new folder');
    expect(await change).toBe('changed');
    change = nextChange();
    renameSync(sandbox.path('work/deep'), sandbox.path('work/moved'));
    expect(await change).toBe('changed');
    change = nextChange();
    sandbox.write('work/moved/er/b.txt', 'edited where it is now');
    expect(await change).toBe('changed');
    change = nextChange();
    rmSync(sandbox.path('work/moved'), { recursive: true });
    expect(await change).toBe('changed');
  });

  it('watches neither ignored folders, nor its own, nor a workspace below', async () => {
    sandbox.write('work/inner/.dray/config.json', '{}');
    sandbox.write('work/inner/file', 'of another workspace');
    const watched: string[] = [];
    const listeners = new Map<string, (event: string, name: string) => void>();
    const fake = ((path: string, _: object, listener: (event: string, name: string) => void) => {
      watched.push(path.slice(sandbox.path('work').length));
      listeners.set(path, listener);
      return { on() {}, close() {} };
    }) as unknown as typeof watch;
    const changes: string[] = [];
    await start({ watch: fake, onChange: () => changes.push('change') });
    expect(watched.sort()).toEqual(['', '/deep/', '/deep/er/', '/inner/']);
    const root = listeners.get(sandbox.path('work'))!;
    for (const name of ['.dray', 'noise.log', '.dray-tmp']) root('change', name);
    expect(changes).toEqual([]);
  });

  it('says so when there are too many folders, and when the system gives no more watches', async () => {
    const ends: string[] = [];
    await start({ foldersMax: 2, onEnd: (why) => ends.push(why) });
    const noSpace = (() => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    }) as unknown as typeof watch;
    await start({ watch: noSpace, onEnd: (why) => ends.push(why) });
    expect(ends).toEqual(['tooMany', 'limit']);
  });
});
