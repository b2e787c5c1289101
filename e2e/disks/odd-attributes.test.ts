/** Disks that keep no modes or no times, or times in steps of 2 s: the content is there, and stays. */
import { chmodSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { openFileStore } from '../../engine/remotes/file/file-store.ts';
import type { DiskFaults } from './disk-faults.ts';
import { findWhyNoOddDisks, mountOddDisk } from './odd-disk.ts';
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

const FAULTS: readonly (readonly [string, DiskFaults, refused: number])[] = [
  ['refuses modes', { chmod: 'EPERM' }, 1],
  ['has no modes', { chmod: 'ENOTSUP' }, 1],
  ['ignores modes', { chmod: 'ignored' }, 0],
  ['refuses times', { utimes: 'EPERM' }, 1],
  ['ignores times', { utimes: 'ignored' }, 0],
  ['has times in steps of 2 s', { timeStepS: 2 }, 0],
  ['refuses both', { chmod: 'EPERM', utimes: 'EPERM' }, 1],
];

/** Odd seconds, so that steps of 2 s change them. */
const OLD_S = 1_000_000_001;

function plant(): void {
  for (const [path, mode] of [
    ['from/a', 0o600],
    ['from/sub/b', 0o755],
    ['from/sub/deep/c', 0o644],
  ] as const) {
    chmodSync(sandbox.write(path, path), mode);
    utimesSync(sandbox.path(path), OLD_S, OLD_S);
  }
  for (const folder of ['from/sub/deep', 'from/sub', 'from']) utimesSync(sandbox.path(folder), OLD_S, OLD_S);
}

describe.skipIf(whyNot !== undefined)('A disk that', () => {
  it.each(FAULTS)(
    '%s gets the content, with one warning at most, and a second copy changes nothing',
    async (_name, faults, refused) => {
      await using disk = await mountOddDisk(faults);
      plant();
      const request = {
        source: { place: sandbox.path('from') },
        destination: { place: join(disk.path, 'to') },
      };
      const first = jobIn(sandbox.folder);
      expect(await copyTree(first, request)).toMatchObject({ copiedFiles: 3, failed: 0 });
      for (const path of ['a', 'sub/b', 'sub/deep/c'])
        expect(readFileSync(join(disk.path, 'to', path), 'utf8')).toBe(`from/${path}`);
      const refusals = eventsOf(first, 'warning').filter(({ warning }) => warning === 'attributesRefused');
      expect(refusals).toHaveLength(refused);
      for (let run = 2; run <= 3; run += 1) {
        const again = jobIn(sandbox.folder);
        const counts = { copiedFiles: 0, touchedFiles: 0, touchedFolders: 0, unchangedFiles: 3, failed: 0 };
        expect(await copyTree(again, request), `run ${run}`).toMatchObject({ ...counts, result: 'upToDate' });
        expect(eventsOf(again, 'change')).toEqual([]);
      }
    },
  );

  it.each(FAULTS)('%s holds a repository and a clone without changes of its own', async (_name, faults) => {
    await using disk = await mountOddDisk(faults);
    plant();
    const [work, store, copy] = [sandbox.path('from'), join(disk.path, 'store'), join(disk.path, 'copy')];
    await initWorkspace(jobIn(work), { remoteUrl: store });
    expect(await push(jobIn(work), {})).toMatchObject({ failed: 0, changes: { added: 3 } });
    expect(await cloneWorkspace(jobIn(disk.path), { url: store, directory: copy })).toMatchObject({
      failed: 0,
    });
    expect(await status(jobIn(copy), {})).toMatchObject({ changes: { added: 0, modified: 0, deleted: 0 } });
    expect(await push(jobIn(copy), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('has times in steps of 2 s never gives two contents of a key one etag', async () => {
    await using disk = await mountOddDisk({ timeStepS: 2 });
    const store = await openFileStore({ root: disk.path });
    const etags = new Set<string>();
    for (let turn = 0; turn < 8; turn += 1) {
      const outcome = await store.put('key', new Uint8Array([turn]));
      etags.add(outcome.written ? outcome.etag : 'not written');
    }
    expect(etags.size).toBe(8);
    await store.close();
  });
});
