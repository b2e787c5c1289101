import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSetMtime } from '../../../files/disk/set-mtime.ts';
import { areOneInPlace, askFileSystem, caseFoldingSeen, mayBeOne, probe } from './same-name-probe.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(`${tmpdir()}/dray-names-`);
});
afterEach(() => rmSync(root, { recursive: true }));

const isLinux = process.platform === 'linux';
const isMac = process.platform === 'darwin';

describe('whether two names are the same', () => {
  it('is tested with exactly these two, and the folder keeps its time and gets no other file', async () => {
    utimesSync(root, 1_000_000_000, 1_000_000_000.25);
    const { mtimeNs } = statSync(root, { bigint: true });
    const areOne = probe(root, await loadSetMtime());
    expect(areOne('Makefile', 'makefile')).toBe(!isLinux);
    expect(areOne('\u00e9', 'e\u0301')).toBe(isMac);
    expect(areOne('same', 'same')).toBe(true);
    expect(statSync(root, { bigint: true }).mtimeNs).toBe(mtimeNs);
    expect(readdirSync(root)).toEqual([]);
  });

  it("leaves another run's files in the temporary folder", async () => {
    mkdirSync(`${root}/.dray-tmp`);
    writeFileSync(`${root}/.dray-tmp/other`, '');
    expect(probe(root, await loadSetMtime())('same', 'same')).toBe(true);
    expect(readdirSync(`${root}/.dray-tmp`)).toEqual(['other']);
  });

  it('is no when nothing can be written', async () => {
    expect(probe(`${root}/absent`, await loadSetMtime())('same', 'same')).toBe(false);
  });

  it('is answered by an existing file, unless that may be a second link', () => {
    for (const name of ['one', 'two', 'three']) writeFileSync(`${root}/${name}`, '');
    linkSync(`${root}/three`, `${root}/four`);
    mkdirSync(`${root}/folder`);
    const inPlace = (one: string, other: string) => areOneInPlace(`${root}/${one}`, `${root}/${other}`);
    expect(inPlace('one', 'one')).toBe(true);
    expect(inPlace('folder', 'folder')).toBe(true);
    expect(inPlace('one', 'two')).toBe(process.platform === 'win32' ? false : undefined);
    expect(inPlace('one', 'absent')).toBe(false);
    expect(inPlace('absent', 'one')).toBe(false);
    expect(inPlace('absent', 'gone')).toBeUndefined();
    expect(inPlace('three', 'four')).toBeUndefined();
  });

  it('is answered by existing names around, also above a folder that does not exist yet', () => {
    expect(caseFoldingSeen(root)).toBe(!isLinux);
    expect(caseFoldingSeen(`${root}/1/2`)).toBe(!isLinux);
  });

  it('is not tested on the file systems of Linux on which all names differ', async () => {
    const side = { kind: 'local', root, text: root, pathOf: (path: string) => path } as const;
    for (const mayWrite of [false, true]) {
      const areOne = await askFileSystem(side, { mayWrite });
      expect(areOne?.('Data/', 'data/')).toBe(isLinux ? undefined : true);
    }
  });

  it.each([
    ['Makefile', 'makefile', { case: true }],
    ['\u03c2', '\u03a3', { case: true }],
    ['\u00e9', 'e\u0301', { form: true }],
    ['\u00c9', 'e\u0301', { case: true, form: true }],
    ['strasse', 'stra\u00dfe', { case: true, form: true }],
  ])('of %s and %s depends on what the file system ignores', (one, other, needed) => {
    for (const [foldsCase, foldsForm] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      const all = foldsCase && foldsForm;
      const folding = { case: () => foldsCase, form: () => foldsForm, all: () => all };
      const { case: needsCase = false, form: needsForm = false }: { case?: boolean; form?: boolean } = needed;
      expect(mayBeOne(folding, one, other)).toBe((!needsCase || foldsCase) && (!needsForm || foldsForm));
    }
  });
});
