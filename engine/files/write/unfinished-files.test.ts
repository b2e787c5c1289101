import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTreeWriter } from './tree-writer.ts';
import type { FileMeta, LargeFile, TreeWriter } from './tree-writer-types.ts';
import { sweepUnfinishedFiles } from './unfinished-files.ts';

const META: FileMeta = { path: 'file', sizeBytes: 6, mtimeNs: 1n, executable: false };
const HOUR_MS = 60 * 60 * 1000;
const deadPid = spawnSync(process.execPath, ['-e', '']).pid;

let root: string;
let folder: string;
let writers: TreeWriter[];
beforeEach(() => {
  root = mkdtempSync(`${tmpdir()}/dray-unfinished-`);
  folder = `${root}/.dray-tmp`;
  writers = [];
});
afterEach(async () => {
  await Promise.all(writers.map((writer) => writer.close()));
  rmSync(root, { recursive: true });
});

function open(signal: AbortSignal = new AbortController().signal): TreeWriter {
  const writer = openTreeWriter({ root, temporaryFolder: folder, isTemporaryFolderOwn: true, signal });
  writers.push(writer);
  return writer;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const contentOf = async (file: LargeFile) => Buffer.from(await file.read(0, new Uint8Array(6))).toString();

/** Writes and notes the first half. */
async function begin(writer: TreeWriter, content = 'etag'): Promise<LargeFile> {
  const file = await writer.openLarge(META, { content });
  await file.write(0, bytesOf('abc'));
  writeFileSync(file.notesPath!, 'half');
  return file;
}

const kept = () => readdirSync(folder).filter((name) => name.startsWith('unfinished-'));

/** Makes the files look as if their maker had been killed. */
function killMaker(pid: number | undefined = deadPid): void {
  for (const name of readdirSync(folder))
    renameSync(`${folder}/${name}`, `${folder}/${name.replace(`-${process.pid}-`, `-${pid}-`)}`);
}

describe('a large file that outlives its run', () => {
  it.each(['was closed', 'was stopped', 'left it', 'was killed'])(
    'resumes when the writer %s',
    async (end) => {
      const stop = new AbortController();
      const writer = open(stop.signal);
      const left = await begin(writer);
      if (end === 'left it') await left.leave();
      if (end === 'was stopped') stop.abort();
      if (end === 'was killed') killMaker();
      else await writer.close();
      const file = await open().openLarge(META, { content: 'etag' });
      expect(readFileSync(file.notesPath!, 'utf8')).toBe('half');
      expect(await contentOf(file)).toBe('abc\0\0\0');
      file.accept(0, 3);
      await file.write(3, bytesOf('def'));
      await file.commit();
      expect(readFileSync(`${root}/file`, 'utf8')).toBe('abcdef');
      await Promise.all(writers.map((each) => each.close()));
      expect(readdirSync(root)).toEqual(['file']);
    },
  );

  it('is not committed with bytes that were not accepted', async () => {
    const writer = open();
    await begin(writer);
    await writer.close();
    const file = await open().openLarge(META, { content: 'etag' });
    await file.write(3, bytesOf('def'));
    await expect(file.commit()).rejects.toMatchObject({ code: 'damaged' });
    expect(existsSync(`${root}/file`)).toBe(false);
  });

  it.each(['another content', 'another size', 'no notes', 'a link'])(
    'starts again for %s',
    async (change) => {
      const writer = open();
      const left = await begin(writer);
      await writer.close();
      const part = left.notesPath!.replace('.notes', '.part');
      if (change === 'another size') truncateSync(part, 5);
      if (change === 'no notes') rmSync(left.notesPath!);
      if (change === 'a link') {
        renameSync(part, `${root}/elsewhere`);
        symlinkSync(`${root}/elsewhere`, part);
      }
      const content = change === 'another content' ? 'etag2' : 'etag';
      const file = await open().openLarge(META, { content });
      expect(await contentOf(file)).toBe('\0'.repeat(6));
      expect(existsSync(file.notesPath!)).toBe(false);
    },
  );

  it('is not taken over while its writer lives; a second writer starts its own', async () => {
    const first = await begin(open());
    killMaker(process.ppid);
    const other = await open().openLarge(META, { content: 'etag' });
    expect(await contentOf(other)).toBe('\0'.repeat(6));
    expect(await contentOf(first)).toBe('abc\0\0\0');
    const mine = await begin(open(), 'mine');
    const beside = await open().openLarge(META, { content: 'mine' });
    expect(await contentOf(beside)).toBe('\0'.repeat(6));
    expect(await contentOf(mine)).toBe('abc\0\0\0');
  });

  it('is removed when it is discarded or committed', async () => {
    const writer = open();
    await (await begin(writer)).discard();
    const file = await begin(writer);
    await file.write(3, bytesOf('def'));
    await file.commit();
    await file.leave();
    expect(kept()).toEqual([]);
  });

  it('is removed after a week without use', async () => {
    const writer = open();
    await begin(writer);
    sweepUnfinishedFiles(folder, Date.now() + 24 * 8 * HOUR_MS);
    expect(kept()).toHaveLength(2);
    await writer.close();
    writeFileSync(`${folder}/unfinished-notes`, '');
    sweepUnfinishedFiles(folder, Date.now() + 24 * 6 * HOUR_MS);
    expect(kept()).toHaveLength(3);
    sweepUnfinishedFiles(folder, Date.now() + 24 * 8 * HOUR_MS);
    expect(kept()).toEqual(['unfinished-notes']);
  });
});
