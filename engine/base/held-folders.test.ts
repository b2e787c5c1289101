import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countHeldBelow } from './held-folders.fixture.ts';
import { CAN_HOLD_FOLDERS, createHeldFolders, type HeldFolder, type HeldFolders } from './held-folders.ts';

let root: string;
let folders: HeldFolders;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'dray-held-')));
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'a/b/file'), 'content');
});
afterEach(() => {
  folders.close();
  rmSync(root, { recursive: true });
});

const ways = [
  { way: 'by descriptor', canHold: true, runs: CAN_HOLD_FOLDERS },
  { way: 'by a check before each use', canHold: false, runs: process.platform !== 'win32' },
];

describe.each(ways)('a folder reached $way', ({ canHold, runs }) => {
  beforeEach(() => {
    folders = createHeldFolders(root, canHold);
  });
  /** Runs the asynchronous and the synchronous call. */
  const held = async <T>(folder: string, use: (held: HeldFolder) => T): Promise<T> => {
    const results = [await folders.hold(folder), folders.holdSync(folder)].map((one) => {
      try {
        return use(one);
      } finally {
        one.release();
      }
    });
    expect(results[1]).toEqual(results[0]);
    return results[0]!;
  };

  it.runIf(runs)('reaches its files, as do the root and a subfolder', async () => {
    expect(await held('a/b', ({ at }) => readFileSync(at('file'), 'utf8'))).toBe('content');
    expect(await held('', ({ at }) => readdirSync(at('')))).toEqual(['a']);
    folders = folders.below('a');
    expect(await held('b', ({ at }) => readFileSync(at('file'), 'utf8'))).toBe('content');
    expect(await held('', ({ at }) => readdirSync(at('')))).toEqual(['b']);
  });

  it.runIf(runs)('is refused when a part of its path is a link, before and after its first use', async () => {
    await held('a/b', () => {});
    renameSync(join(root, 'a'), join(root, 'moved'));
    symlinkSync('moved', join(root, 'a'));
    const refused = { code: 'unsafePath', data: { path: join(root, 'a'), reason: 'link' } };
    for (const folder of ['a', 'a/b']) {
      await expect(folders.hold(folder)).rejects.toMatchObject(refused);
      expect(() => folders.holdSync(folder)).toThrow(expect.objectContaining(refused));
    }
    expect(await held('moved/b', ({ at }) => readFileSync(at('file'), 'utf8'))).toBe('content');
  });

  it.runIf(runs)('is the folder that lies there now, after another replaced it', async () => {
    await held('a/b', () => {});
    renameSync(join(root, 'a'), join(root, 'old'));
    mkdirSync(join(root, 'a/b'), { recursive: true });
    writeFileSync(join(root, 'a/b/file'), 'new');
    expect(await held('a/b', ({ at }) => readFileSync(at('file'), 'utf8'))).toBe('new');
    rmSync(join(root, 'a'), { recursive: true });
    await expect(folders.hold('a/b')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.runIf(runs)('is created with its parents, and the caller gets each folder with a new name', async () => {
    const made: string[] = [];
    const onMake = (folder: string) => made.push(folder);
    (await folders.hold('a/c/d', { onMake })).release();
    (await folders.below('a').hold('e/f', { onMake })).release();
    expect(made).toEqual(['a', 'a/c', '', 'e']);
    expect(lstatSync(join(root, 'a/c/d')).isDirectory()).toBe(true);
    await expect(folders.hold('a/b/file/x', { onMake })).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.runIf(runs)('is refused when the root itself has become a link', async () => {
    await held('a/b', () => {});
    renameSync(root, `${root}-moved`);
    symlinkSync(`${root}-moved`, root);
    try {
      await expect(folders.hold('a/b')).rejects.toMatchObject({ code: 'unsafePath' });
    } finally {
      rmSync(root);
      renameSync(`${root}-moved`, root);
    }
  });
});

it.runIf(CAN_HOLD_FOLDERS)('a held folder stays the same after a link replaces it', async () => {
  folders = createHeldFolders(root);
  const held = await folders.hold('a/b');
  renameSync(join(root, 'a'), join(root, 'moved'));
  symlinkSync('/etc', join(root, 'a'));
  writeFileSync(held.at('new'), 'x');
  expect(readdirSync(join(root, 'moved/b')).sort()).toEqual(['file', 'new']);
  held.release();
});

it.runIf(CAN_HOLD_FOLDERS)(
  'closes idle descriptors at once, and each other one when its last user releases it',
  async () => {
    folders = createHeldFolders(root);
    const [first, second] = await Promise.all([folders.hold('a/b'), folders.hold('a/b')]);
    expect(countHeldBelow(root)).toBe(3);
    first.release();
    folders.close();
    expect(countHeldBelow(root)).toBe(1);
    second.release();
    folders.close();
    expect(countHeldBelow(root)).toBe(0);
  },
);
