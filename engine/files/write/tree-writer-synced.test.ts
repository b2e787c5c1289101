/** Which files of a tree are synced to disk when, and the mark that records unsynced ones. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTreeWriter } from './tree-writer.ts';
import type { TreeWriter } from './tree-writer-types.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'dray-synced-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const temporaryFolder = () => join(root, '.dray-tmp');
const open = (unsyncedNote?: string): TreeWriter =>
  openTreeWriter({
    root,
    temporaryFolder: temporaryFolder(),
    isTemporaryFolderOwn: true,
    threads: 0,
    signal: new AbortController().signal,
    ...(unsyncedNote === undefined ? {} : { unsyncedNote }),
  });

const marks = () => readdirSync(temporaryFolder()).filter((name) => name.startsWith('unsynced-'));
const CONTENT = Buffer.from('content');
const file = (path: string) => ({
  path,
  sizeBytes: CONTENT.length,
  mtimeNs: 1n,
  executable: false,
  offset: 0,
});

describe('a writer whose files must survive a power failure', () => {
  it('creates its mark before the first file and removes it when it closes', async () => {
    const writer = open('a note');
    await writer.writeMany(CONTENT, [file('a')]);
    expect(marks()).toHaveLength(1);
    await writer.sync();
    expect(marks(), 'more may come').toHaveLength(1);
    await writer.writeMany(CONTENT, [file('b')]);
    expect(marks(), 'one for all files').toHaveLength(1);
    await writer.close();
    expect(readdirSync(root)).toEqual(['a', 'b']);
  });

  it('creates its mark before a large file, and before one that the caller puts in place', async () => {
    for (const begin of [
      async (writer: TreeWriter) => (await writer.openLarge(file('large'))).discard(),
      async (writer: TreeWriter) => writer.newTemporary(),
    ]) {
      const writer = open('a note');
      await begin(writer);
      expect(marks()).toHaveLength(1);
      await writer.close();
      expect(readdirSync(root)).toEqual([]);
    }
  });

  it('creates none when no file is written', async () => {
    const writer = open('a note');
    writer.makeFolder('folder/');
    writer.writeLink('link', 'target');
    await writer.close();
    expect(readdirSync(root)).toEqual(['folder', 'link']);
  });

  it('creates none without a note', async () => {
    const writer = open();
    await writer.writeMany(CONTENT, [file('a')]);
    expect(marks()).toEqual([]);
    await writer.close();
  });
});
