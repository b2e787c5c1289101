/**
 * Folders beside `.dray` where the file system's ids are of little use. `DRAY~1` is its short name, and `ids`
 * defines the ids.
 */
import type * as fs from 'node:fs';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFolders } from './writer-folders.ts';

let ids: (name: string) => bigint;
vi.mock('node:fs', async (importActual) => {
  const actual = await importActual<typeof fs>();
  const lstatSync = (path: string, options?: fs.StatSyncOptions) => {
    const long = path.replace(/DRAY~1$/, '.dray');
    const stats = actual.lstatSync(long, options);
    if (!stats) return undefined;
    const ino = ids(long.slice(long.lastIndexOf('/') + 1));
    return Object.assign(stats, { ino: options?.bigint ? ino : Number(ino) });
  };
  return { ...actual, lstatSync, default: { ...actual, lstatSync } };
});

let root: string;
beforeEach(() => {
  root = mkdtempSync(`${tmpdir()}/dray-ids-`);
  for (const folder of ['.dray', 'sub/.dray']) mkdirSync(`${root}/${folder}`, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const NEIGHBOURS = 2n ** 53n;

describe('a folder beside .dray', () => {
  it.each([
    { what: 'there are none', idOf: () => 0n },
    { what: 'they do not fit', idOf: () => -1n },
    { what: 'they are one as numbers', idOf: (name: string) => NEIGHBOURS + (name === '.dray' ? 1n : 0n) },
  ])('is distinguished from it where of ids $what', ({ idOf }) => {
    ids = idOf;
    const folders = openFolders(root);
    for (const parent of ['', 'sub/']) {
      for (const name of ['dray', 'old~', 'Dray~2/below']) {
        folders.make(parent + name);
        expect(folders.exists(parent + name)).toBe(true);
      }
      const refused = expect.objectContaining({ code: 'unsafePath' });
      expect(() => folders.make(`${parent}DRAY~1`)).toThrow(refused);
      expect(() => folders.make(`${parent}DRAY~1/below`)).toThrow(refused);
    }
  });
});
