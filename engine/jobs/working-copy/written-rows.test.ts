import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { type Index, openIndex } from '../../index/open-index.ts';
import { EMPTY_BLOB, type FileEntry } from '../../model/entry.ts';
import { createSandbox, type Sandbox } from '../session/job.fixture.ts';
import { createWrittenRows } from './written-rows.ts';

let sandbox: Sandbox;
let index: Index;
beforeEach(() => {
  sandbox = createSandbox();
  index = openIndex(sandbox.path('index.db')).index;
});
afterEach(() => {
  index.close();
  sandbox[Symbol.dispose]();
});

const NOW_MS = 1_750_000_001_500;

const entryAt = (path: string, mtimeMs: number, sizeBytes = 0): FileEntry => ({
  kind: 'file',
  path,
  sizeBytes,
  mtimeNs: BigInt(Math.round(mtimeMs)) * 1_000_000n,
  executable: false,
  blob: EMPTY_BLOB,
  location: { in: 'nowhere' },
});
const statAt = (mtimeMs: number) => ({ sizeBytes: 0, mtimeMs, ctimeMs: NOW_MS, inode: 7 });
const LONG_AGO_MS = NOW_MS - 60_000;

function openRows(sync: () => Promise<void>, onFailure: (error: unknown) => void = () => {}) {
  const { id } = index.repositories.bind('00000000-0000-4000-8000-000000000000');
  const link = { blobs: index.blobsOf(id) };
  const clock = { ...systemClock, nowMs: () => NOW_MS };
  return createWrittenRows({ session: { clock, index }, link, writer: { sync }, onFailure });
}

describe('The row of a file that was just written', () => {
  it.each([
    ['long ago', LONG_AGO_MS - 0.25, 7],
    ['just now', NOW_MS - 10.25, -1],
    ['within this second, in case the file system counts whole seconds', NOW_MS - 500, -1],
    ['in an earlier second', NOW_MS - 2_500, 7],
  ])(
    'does not count as proof for the next scan where a later edit could have the same time (%s)',
    async (_, mtimeMs, inode) => {
      const rows = openRows(async () => {});
      rows.add(entryAt('a', mtimeMs), statAt(mtimeMs));
      await rows.finish();
      expect(index.files.knownStat('a')?.inode).toBe(inode);
    },
  );

  it('is not written before the file is synced', async () => {
    const synced = Promise.withResolvers<void>();
    const rows = openRows(() => synced.promise);
    rows.add(entryAt('a', LONG_AGO_MS), statAt(LONG_AGO_MS));
    const finished = rows.finish();
    await Promise.resolve();
    expect(index.files.knownStat('a')).toBeUndefined();
    synced.resolve();
    await finished;
    expect(index.files.knownStat('a')).toBeDefined();
  });

  it('is never written when the sync fails', async () => {
    const rows = openRows(async () => {
      throw new DrayError('io', 'The disk is broken.');
    });
    rows.add(entryAt('a', LONG_AGO_MS), statAt(LONG_AGO_MS));
    await expect(rows.finish()).rejects.toMatchObject({ code: 'io' });
    await expect(rows.finish()).rejects.toMatchObject({ code: 'io' });
    expect(index.files.knownStat('a')).toBeUndefined();
  });

  it.each([
    { what: '16,384 files', files: 16_384, sizeBytes: 0 },
    { what: 'a GiB', files: 4, sizeBytes: 256 * 1024 ** 2 },
  ])('waits for one sync for each $what, and one for the rest', async ({ files, sizeBytes }) => {
    let syncs = 0;
    const rows = openRows(async () => {
      syncs += 1;
    });
    for (let at = 0; at <= 2 * files; at += 1)
      rows.add(entryAt(`f${at}`, LONG_AGO_MS, sizeBytes), statAt(LONG_AGO_MS));
    await rows.finish();
    expect(syncs).toBe(3);
    expect(index.files.knownStat(`f${2 * files}`)).toBeDefined();
  });
});
