import type * as fs from 'node:fs';
import {
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { copyAside, keepAside } from './keep-aside.ts';

/** How a copy is opened to set its time; undefined: as ever. */
let openCopy: ((actual: typeof fs, path: string) => number) | undefined;
vi.mock('node:fs', async (importActual) => {
  const actual = await importActual<typeof fs>();
  const openSync: typeof fs.openSync = (path, ...rest) =>
    openCopy ? openCopy(actual, String(path)) : actual.openSync(path, ...rest);
  return { ...actual, openSync, default: { ...actual, openSync } };
});

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-aside-'));
});
afterEach(() => {
  openCopy = undefined;
  rmSync(root, { recursive: true });
});

/** Linux: include/uapi/asm-generic/fcntl.h. */
const O_PATH = process.platform === 'linux' ? 0o10000000 : constants.O_RDONLY;

const at = (name: string) => join(root, name);
const mtimeOf = (name: string) => lstatSync(at(name), { bigint: true }).mtimeNs;

describe('What is kept aside', () => {
  it('is the file itself under a second name, and stays when the first is taken away', async () => {
    writeFileSync(at('file'), 'content');
    await keepAside(at('file'), at('kept'));
    expect(lstatSync(at('kept')).ino).toBe(lstatSync(at('file')).ino);
    rmSync(at('file'));
    expect(readFileSync(at('kept'), 'utf8')).toBe('content');
    await expect(keepAside(at('file'), at('nothing'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each(['file', 'folder', 'nothing'])('is the link itself, whatever it leads to: a %s', async (target) => {
    writeFileSync(at('file'), 'content');
    mkdirSync(at('folder'));
    symlinkSync(target, at('link'));
    await keepAside(at('link'), at('kept'));
    expect(readlinkSync(at('kept'))).toBe(target);
  });

  it.runIf(process.platform === 'linux')(
    'is a link with every byte of its target (needs Linux)',
    async () => {
      const target = Buffer.from('caf\xe9', 'latin1');
      symlinkSync(target, at('link'));
      await keepAside(at('link'), at('kept'));
      expect(readlinkSync(at('kept'), 'buffer')).toEqual(target);
    },
  );

  it('on another file system is a copy, with its mode and its time to the nanosecond', async () => {
    writeFileSync(at('file'), 'content');
    utimesSync(at('file'), 1_500_000_000.123_456_7, 1_500_000_000.123_456_7);
    chmodSync(at('file'), 0o440);
    const mtimeNs = mtimeOf('file');
    await copyAside({ from: at('file'), to: at('kept'), mtimeNs });
    expect(mtimeOf('kept')).toBe(mtimeNs);
    expect(lstatSync(at('kept')).mode & 0o777).toBe(0o440);
    expect(readFileSync(at('kept'), 'utf8')).toBe('content');
  });

  it.each([
    {
      what: 'cannot be opened',
      open: () => {
        throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
      },
    },
    // A descriptor for the path alone.
    { what: 'takes no time', open: (actual: typeof fs, path: string) => actual.openSync(path, O_PATH) },
  ])('is kept all the same where the copy $what', async ({ open }) => {
    writeFileSync(at('file'), 'content');
    openCopy = open;
    await copyAside({ from: at('file'), to: at('kept'), mtimeNs: 1n });
    expect(readFileSync(at('kept'), 'utf8')).toBe('content');
  });
});
