/** Sources that cannot be read, or whose sizes are wrong: what each command does with the one file. */
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deltaFile } from '../../engine/jobs/delta/delta-file.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import type { DiskFaults } from './disk-faults.ts';
import { findWhyNoOddDisks, mountOddDisk, type OddDisk } from './odd-disk.ts';

const MIB = 1024 * 1024;
const whyNot = findWhyNoOddDisks();
if (whyNot !== undefined)
  console.warn(`The tests of odd disks are skipped: no FUSE disk can be mounted here (${whyNot}).`);

let sandbox: Sandbox;
let peer: PeerServer;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  peer = await serveForTest(sandbox.path('offered'));
});
afterEach(async () => {
  await peer.close();
  sandbox[Symbol.dispose]();
});

const jobIn = (folder: string) =>
  testContext(folder, {
    environment: { DRAY_AUTHOR: 'tester', DRAY_CACHE: sandbox.path('cache'), DRAY_TOKEN: TEST_TOKEN },
  });

function plant(disk: OddDisk, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(disk.backing, name), content);
    utimesSync(join(disk.backing, name), 1_600_000_000, 1_600_000_000);
  }
}

async function onDisk(faults: DiskFaults, work: (disk: OddDisk) => Promise<void>): Promise<void> {
  await using disk = await mountOddDisk(faults);
  await work(disk);
}

const MEDIUM = Buffer.alloc(MIB, 'medium');
const LARGE = Buffer.alloc(40 * MIB, 'large');
const FAILING = {
  opens: [{ name: 'shut', errno: 'EACCES' }],
  reads: [
    { name: 'broken', errno: 'EIO' },
    { name: 'full', errno: 'ENOSPC' },
    { name: 'medium', errno: 'EIO', from: 512 * 1024 },
    { name: 'large', errno: 'EIO', from: 24 * MIB },
  ],
};
const FILES = {
  ...{ broken: 'x', full: 'y', shut: 'z', good: 'good', other: 'other' },
  ...{ medium: MEDIUM, large: LARGE },
};
const BAD = ['broken', 'full', 'large', 'medium', 'shut'];

/** The job's failed files, each with an error that says that it could not be read. */
function unread(job: ReturnType<typeof jobIn>): string[] {
  return eventsOf(job, 'fileFailed').map(({ error, path }) => {
    expect(error).toMatchObject({ code: 'io' });
    expect(error.message).toMatch(/(?:could not|cannot) be read/);
    return path;
  });
}

describe.skipIf(whyNot !== undefined)('A source that cannot be read', () => {
  it('fails its own files alone, in a copy to a folder', async () => {
    await onDisk(FAILING, async (disk) => {
      plant(disk, FILES);
      const job = jobIn(sandbox.folder);
      const request = { source: { place: disk.path }, destination: { place: sandbox.path('to') } };
      expect(await copyTree(job, request)).toMatchObject({ copiedFiles: 2, failed: BAD.length });
      expect(unread(job).sort()).toEqual(BAD);
      expect(readdirSync(sandbox.path('to')).sort()).toEqual(['good', 'other']);
    });
  });

  it('fails its own files alone, in a copy to a peer and from one', async () => {
    await onDisk(FAILING, async (disk) => {
      plant(disk, FILES);
      const up = jobIn(sandbox.folder);
      const there = { place: plainPlace(peer.address.port) };
      const sent = await copyTree(up, { source: { place: disk.path }, destination: there });
      expect(sent).toMatchObject({ copiedFiles: 2, failed: BAD.length });
      expect(unread(up).sort()).toEqual(BAD);
      expect(
        readdirSync(sandbox.path('offered'))
          .filter((name) => !name.startsWith('.'))
          .sort(),
      ).toEqual(['good', 'other']);
      const serving = await serveForTest(disk.path, { onFailure: () => {} });
      try {
        const down = jobIn(sandbox.folder);
        const request = {
          source: { place: plainPlace(serving.address.port) },
          destination: { place: sandbox.path('to') },
        };
        expect(await copyTree(down, request)).toMatchObject({ copiedFiles: 2, failed: BAD.length });
        expect(
          eventsOf(down, 'fileFailed')
            .map(({ path }) => path)
            .sort(),
        ).toEqual(BAD);
        for (const { error } of eventsOf(down, 'fileFailed')) expect(error.code).toBe('io');
      } finally {
        await serving.close();
      }
    });
  });

  it('fails its own files alone, in a push', async () => {
    await onDisk(FAILING, async (disk) => {
      plant(disk, FILES);
      await initWorkspace(jobIn(disk.path), { remoteUrl: sandbox.path('store') });
      const job = jobIn(disk.path);
      expect(await push(job, {})).toMatchObject({ changes: { added: 2 }, failed: BAD.length });
      expect(unread(job).sort()).toEqual(BAD);
    });
  });
});

const STATED = { sizesOfZero: ['unsized'], sizesOf4096: ['page'] };

describe.skipIf(whyNot !== undefined)('A file whose size the file system does not know', () => {
  it('is read until its end by a copy, to a folder and to a peer, and not by size', async () => {
    await onDisk(STATED, async (disk) => {
      plant(disk, { unsized: MEDIUM, empty: '', page: 'short' });
      for (const place of [sandbox.path('to'), plainPlace(peer.address.port)]) {
        const job = jobIn(sandbox.folder);
        const request = { source: { place: disk.path }, destination: { place } };
        expect(await copyTree(job, request)).toMatchObject({ copiedFiles: 2, failed: 1 });
        const [failed] = eventsOf(job, 'fileFailed');
        expect(failed).toMatchObject({ path: 'page', error: { code: 'io', data: { reason: 'wrongSize' } } });
      }
      for (const folder of ['to', 'offered']) {
        expect(readFileSync(sandbox.path(folder, 'unsized')).equals(MEDIUM)).toBe(true);
        expect(readFileSync(sandbox.path(folder, 'empty'))).toHaveLength(0);
      }
    });
  });

  it('is an error by name where it cannot be stored: push, a peer that offers it, delta, check', async () => {
    await onDisk(STATED, async (disk) => {
      plant(disk, { unsized: 'content', good: 'good' });
      sandbox.write('to/unsized', '');
      sandbox.write('to/good', 'good');
      await initWorkspace(jobIn(disk.path), { remoteUrl: sandbox.path('store') });
      const pushed = jobIn(disk.path);
      expect(await push(pushed, {})).toMatchObject({ changes: { added: 1 }, failed: 1 });
      const serving = await serveForTest(disk.path, { onFailure: () => {} });
      const down = jobIn(sandbox.folder);
      const source = { place: plainPlace(serving.address.port) };
      await copyTree(down, { source, destination: { place: sandbox.path('down') } });
      await serving.close();
      expect(existsSync(sandbox.path('down/unsized'))).toBe(false);
      for (const job of [pushed, down]) {
        const failed = eventsOf(job, 'fileFailed').filter(({ path }) => path === 'unsized');
        expect(failed).toMatchObject([{ error: { data: { reason: 'wrongSize' } } }]);
      }
      const delta = deltaFile(jobIn(sandbox.folder), {
        source: { place: join(disk.path, 'unsized') },
        destination: { place: sandbox.path('delta') },
      });
      await expect(delta).rejects.toMatchObject({ data: { reason: 'wrongSize' } });
      const checked = jobIn(sandbox.folder);
      const sides = { source: { place: disk.path }, destination: { place: sandbox.path('to') } };
      const report = await checkTrees(checked, {
        ...sides,
        filters: [{ kind: 'exclude', pattern: '/.dray/**' }],
      } as never);
      expect(report).not.toMatchObject({ same: 2 });
    });
  });

  it('is copied whole out of /proc', async () => {
    const request = { source: { place: '/proc/version' }, destination: { place: sandbox.path('version') } };
    expect(await copyTree(jobIn(sandbox.folder), request)).toMatchObject({ failed: 0, copiedFiles: 1 });
    expect(readFileSync(sandbox.path('version'), 'utf8')).toBe(readFileSync('/proc/version', 'utf8'));
  });
});
