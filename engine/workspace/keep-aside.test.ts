import {
  chmodSync,
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyAside, keepAside } from './keep-aside.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-aside-'));
});
afterEach(() => rmSync(root, { recursive: true }));

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
});
