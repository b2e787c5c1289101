import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createHeldFolders } from '../../base/held-folders.ts';
import { createFileRoot, type FileRoot } from './file-root.ts';
import { withKeyLock } from './key-lock.ts';

/** Each sleep takes a second of this clock's own time. */
function hastyClock(): Clock & { sleeps: number } {
  let nowMs = 0;
  return {
    sleeps: 0,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    random: () => 0.5,
    async sleep() {
      this.sleeps += 1;
      nowMs += 1000;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const name = createHash('sha256').update('key').digest('hex').slice(0, 32);
const namespace = existsSync('/proc/self/ns/pid') ? readlinkSync('/proc/self/ns/pid') : '';
const here = `${hostname()} ${namespace}`;

describe("A key's lock", () => {
  let root: FileRoot;
  let lock: string;
  beforeEach(async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'dray-key-lock-')));
    root = createFileRoot(createHeldFolders(folder), systemClock);
    (await root.area('locks')).release();
    lock = join(folder, '.dray-tmp/locks', name);
  });
  afterEach(() => rm(root.path, { recursive: true, force: true }));

  it('admits one writer at a time and is gone afterwards', async () => {
    let inside = 0;
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, writer) =>
        withKeyLock({ root, key: 'key', clock: systemClock }, async (held) => {
          inside += 1;
          expect(inside).toBe(1);
          await held.stillHeld();
          order.push(writer);
          inside -= 1;
        }),
      ),
    );
    expect(order).toHaveLength(20);
    expect(await readdir(join(root.path, '.dray-tmp/locks'))).toEqual([]);
  });

  it('is released when the work fails', async () => {
    const failing = withKeyLock({ root, key: 'key', clock: systemClock }, () =>
      Promise.reject(new Error('x')),
    );
    await expect(failing).rejects.toThrow('x');
    expect(existsSync(lock)).toBe(false);
  });

  it('of a dead process is taken over at once', async () => {
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    await writeFile(lock, JSON.stringify({ process: gone, host: here, id: 'theirs' }));
    const clock = hastyClock();
    expect(await withKeyLock({ root, key: 'key', clock }, async () => 'done')).toBe('done');
    expect(clock.sleeps).toBe(0);
    expect(await readdir(join(root.path, '.dray-tmp/locks'))).toEqual([]);
  });

  it('of a dead process is removed even if its key is not used again', async () => {
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    const other = lock.replace(/[^/]+$/, 'a'.repeat(32));
    const living = lock.replace(/[^/]+$/, 'b'.repeat(32));
    for (const path of [other, `${lock}.break`])
      await writeFile(path, JSON.stringify({ process: gone, host: here, id: 'theirs' }));
    await writeFile(living, JSON.stringify({ process: process.ppid, host: here, id: 'theirs' }));
    const next = createFileRoot(createHeldFolders(root.path), systemClock);
    await withKeyLock({ root: next, key: 'key', clock: systemClock }, async () => {});
    expect(await readdir(join(root.path, '.dray-tmp/locks'))).toEqual(['b'.repeat(32)]);
  });

  it('of another machine is taken over once it has not changed for 30 s of our own clock', async () => {
    for (const record of [
      JSON.stringify({ process: process.pid, host: 'elsewhere', id: 'theirs' }),
      '{"cut o',
    ]) {
      await writeFile(lock, record);
      const clock = hastyClock();
      expect(await withKeyLock({ root, key: 'key', clock }, async () => 'done')).toBe('done');
      expect(clock.sleeps).toBe(31);
    }
  });

  it('that others keep taking is awaited, and given up after two minutes', async () => {
    const clock = hastyClock();
    const { sleep } = clock;
    let taken = 0;
    clock.sleep = async () => {
      taken += 1;
      await writeFile(lock, JSON.stringify({ process: 1, host: 'elsewhere', id: `theirs ${taken}` }));
      await sleep.call(clock, 0);
    };
    await writeFile(lock, JSON.stringify({ process: 1, host: 'elsewhere', id: 'theirs' }));
    await expect(withKeyLock({ root, key: 'key', clock }, async () => 'done')).rejects.toMatchObject({
      code: 'remoteFailed',
      retry: 'backoff',
    });
  });

  it('fails a suspended holder that lost the lock, and leaves the new lock in place', async () => {
    const theirs = JSON.stringify({ process: 1, host: 'elsewhere', id: 'theirs' });
    const late = withKeyLock({ root, key: 'key', clock: systemClock }, async (held) => {
      await writeFile(lock, theirs);
      await held.stillHeld();
    });
    await expect(late).rejects.toMatchObject({ code: 'remoteFailed', retry: 'retry' });
    expect(existsSync(lock)).toBe(true);
  });

  it('stops waiting when the signal fires', async () => {
    await writeFile(lock, JSON.stringify({ process: process.pid, host: here, id: 'theirs' }));
    const signal = AbortSignal.timeout(50);
    const waiting = withKeyLock({ root, key: 'key', clock: systemClock, signal }, async () => 'done');
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});
