/** Whole jobs on disks that lack or refuse what others have. Each disk is a FUSE mount with faults. */
import { fork } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyIndex, type Index, openIndex } from '../../engine/index/open-index.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { openFileStore } from '../../engine/remotes/file/file-store.ts';
import type { DiskFaults } from './disk-faults.ts';
import { findWhyNoOddDisks, mountOddDisk, type OddDisk } from './odd-disk.ts';
import { jobBeside } from './odd-jobs.ts';

const whyNot = findWhyNoOddDisks();
if (whyNot !== undefined)
  console.warn(`The tests of odd disks are skipped: no FUSE disk can be mounted here (${whyNot}).`);

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const jobIn = (folder: string) => jobBeside(sandbox, folder);

/** Without the times, which the disk's process rounds. */
const contentOf = (folder: string) => describeTree(folder).map((line) => line.replace(/ \d{12,} /, ' '));

/** Two workspaces and their repository on one disk: pushes, merges, a pull that overwrites an edit. */
async function workTogether(disk: OddDisk): Promise<void> {
  const folder = createSandbox(disk.path);
  const [work, copy, store] = ['work', 'copy', 'store'].map((name) => folder.path(name)) as [
    string,
    string,
    string,
  ];
  folder.write('work/a', 'first');
  folder.write('work/sub/b', 'second');
  await initWorkspace(jobIn(work), { remoteUrl: store });
  expect(await push(jobIn(work), {})).toMatchObject({ failed: 0, result: 'pushed' });
  expect(await push(jobIn(work), {})).toMatchObject({ result: 'nothingToPush' });
  expect(await cloneWorkspace(jobIn(folder.folder), { url: store, directory: copy })).toMatchObject({
    failed: 0,
  });
  writeFileSync(join(work, 'a'), 'changed there');
  writeFileSync(join(copy, 'sub/b'), 'changed here');
  expect(await push(jobIn(work), {})).toMatchObject({ result: 'pushed' });
  expect(await push(jobIn(copy), {})).toMatchObject({ mergedWith: expect.any(String) });
  writeFileSync(join(copy, 'a'), 'an edit that loses');
  await pull(jobIn(work), {});
  const pulled = await pull(jobIn(copy), { conflicts: 'theirs' });
  expect(pulled).toMatchObject({ failed: 0, kept: { files: 1 } });
  expect(contentOf(copy)).toEqual(contentOf(work));
  expect(await status(jobIn(copy), {})).toMatchObject({ changes: { added: 0, modified: 0, deleted: 0 } });
  expect(readFileSync(join(copy, 'a'), 'utf8')).toBe('changed there');
}

async function onDisk(faults: DiskFaults, work: (disk: OddDisk) => Promise<void>): Promise<void> {
  await using disk = await mountOddDisk(faults);
  await work(disk);
}

describe.skipIf(whyNot !== undefined)('A disk whose files cannot get a second name', () => {
  it.each(['EXDEV', 'EPERM', 'EACCES'])('holds a repository and its workspaces (%s)', async (links) => {
    await onDisk({ links }, workTogether);
  });

  it('lets one of many writers make a key, and loses no compare-and-swap', async () => {
    const faults = { links: 'EXDEV', renameNoReplace: 'EINVAL' } as const;
    await onDisk(faults, async ({ path }) => {
      const stores = await Promise.all(Array.from({ length: 8 }, () => openFileStore({ root: path })));
      const put = { condition: { absent: true } } as const;
      const outcomes = await Promise.all(
        stores.map((store, index) => store.put('folder/new', new Uint8Array([index]), put)),
      );
      expect(outcomes.filter(({ written }) => written)).toHaveLength(1);
      const { bytes } = (await stores[0]!.read('folder/new', { maxBytes: 1 }))!;
      expect(outcomes[bytes[0]!]).toMatchObject({ written: true });
      await Promise.all(stores.map((store) => store.close()));

      const writer = fileURLToPath(
        new URL('../../engine/remotes/file/counting-writer.fixture.ts', import.meta.url),
      );
      const codes = await Promise.all(
        Array.from({ length: 3 }, () => {
          const child = fork(writer, [path, '8'], { execArgv: [] });
          return new Promise((resolve) => child.once('exit', resolve));
        }),
      );
      expect(codes).toEqual([0, 0, 0]);
      expect(readFileSync(join(path, 'counter'), 'utf8')).toBe('24');
    });
  });
});

describe.skipIf(whyNot !== undefined)('A disk without memory that processes share', () => {
  it('holds workspaces, and what copies remember', async () => {
    await onDisk({ noSharedMemory: true }, async (disk) => {
      await workTogether(disk);
      sandbox.write('from/a', 'content');
      utimesSync(sandbox.path('from/a'), 1_000_000_000, 1_000_000_000);
      const environment = { DRAY_CACHE: join(disk.path, 'cache') };
      const job = testContext(sandbox.folder, { environment });
      const request = { source: { place: 'from' }, destination: { place: 'to' } };
      expect(await copyTree(job, request)).toMatchObject({ failed: 0, copiedFiles: 1 });
      expect(await copyTree(job, request)).toMatchObject({ failed: 0, copiedFiles: 0 });
      expect(eventsOf(job, 'warning')).toEqual([]);
      expect(readdirSync(join(disk.path, 'cache/trees')).filter((name) => name.endsWith('.db'))).toHaveLength(
        1,
      );
    });
  });

  it('takes over an index that was written elsewhere, with what only its write-ahead log has', async () => {
    await onDisk({ noSharedMemory: true }, async ({ backing, path }) => {
      const elsewhere = sandbox.path('index.db');
      const { index } = openIndex(elsewhere);
      index.settings.cut = 'known';
      for (const suffix of ['', '-wal']) copyFileSync(elsewhere + suffix, join(backing, `index.db${suffix}`));
      index.close();
      const here = openIndex(join(path, 'index.db'));
      expect(here.isNew).toBe(false);
      expect(here.index.settings.cut).toBe('known');
      // Another process can read it meanwhile.
      copyIndex(join(path, 'index.db'), sandbox.path('copy.db'));
      here.index.close();
      const copy = openIndex(sandbox.path('copy.db'));
      expect(copy.index.settings.cut).toBe('known');
      copy.index.close();
    });
  });

  it('keeps what two processes write to one index in turn', async () => {
    await onDisk({ noSharedMemory: true }, async ({ path }) => {
      const opened = [1, 2].map(() => openIndex(join(path, 'index.db')).index);
      const [one, other] = opened as [Index, Index];
      one.settings.cut = 'first';
      other.settings.base = 'second';
      one.settings.unconfirmedPush = 'third';
      for (const { settings } of opened) {
        const { base, cut, unconfirmedPush } = settings;
        expect({ base, cut, unconfirmedPush }).toEqual({
          base: 'second',
          cut: 'first',
          unconfirmedPush: 'third',
        });
      }
      for (const index of opened) index.close();
    });
  });
});
