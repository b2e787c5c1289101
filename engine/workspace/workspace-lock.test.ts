import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, systemClock } from '../base/clock.ts';
import type { ProcessLife } from '../base/process-life.ts';
import { type LockHolder, lockWorkspace } from './workspace-lock.ts';

let folder: string;
let path: string;
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-lock-'));
  path = join(folder, '.dray/lock');
  mkdirSync(join(folder, '.dray'));
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(folder, { recursive: true });
});

/** A clock that advances only in `sleep`, so that a wait ends at once. */
function patientClock(): Clock {
  let elapsedMs = 0;
  return {
    ...systemClock,
    monotonicMs: () => elapsedMs,
    sleep: async (pauseMs) => {
      elapsedMs += pauseMs;
    },
  };
}

function lock(
  options: {
    readonly patienceMs?: number;
    readonly onWait?: (holder: LockHolder | undefined) => void;
    readonly clock?: Clock;
  } = {},
) {
  const { clock = patientClock(), patienceMs = 1000, onWait = () => {} } = options;
  const signal = new AbortController().signal;
  return lockWorkspace({ path, command: 'push', clock, signal, patienceMs, onWait });
}

function hold(holder: Partial<LockHolder>): void {
  const since = new Date().toISOString();
  writeFileSync(
    path,
    JSON.stringify({ pid: process.pid, host: hostname(), command: 'pull', since, ...holder }),
  );
}

function liveProcess(): number {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child);
  return child.pid!;
}

async function ownLife(): Promise<ProcessLife> {
  const held = await lock();
  const { life } = JSON.parse(readFileSync(path, 'utf8')) as LockHolder;
  held.release();
  return life!;
}

/** The id of a process that has ended and was reaped. */
const deadProcess = (): number => spawnSync(process.execPath, ['-e', '']).pid;

describe('the lock of a workspace', () => {
  it('names its holder, and any number of releases removes it once', async () => {
    const held = await lock();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      pid: process.pid,
      host: hostname(),
      command: 'push',
    });
    held.release();
    const other = await lock();
    held.release();
    expect(existsSync(path)).toBe(true);
    other.release();
    expect(readdirSync(join(folder, '.dray'))).toEqual([]);
  });

  it.each([
    ['a live process', () => ({ pid: liveProcess() })],
    ['this process', () => ({})],
    ['another machine', () => ({ pid: deadProcess(), host: 'elsewhere' })],
  ])('held by %s makes a waiter wait and then name the holder', async (_, holder) => {
    hold(holder());
    const before = readFileSync(path, 'utf8');
    const waits: (LockHolder | undefined)[] = [];
    const failure = await lock({ onWait: (seen) => waits.push(seen) }).catch((error: unknown) => error);
    const { pid, host } = JSON.parse(before);
    expect(waits).toEqual([JSON.parse(before)]);
    expect(failure).toMatchObject({ code: 'locked', data: { path, holder: { pid } } });
    expect((failure as Error).message).toContain(`"dray pull" (process ${pid} on ${host}`);
    expect((failure as Error).message).toContain(`delete ${path}`);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it.each([
    ['a process that has ended', () => ({ pid: deadProcess() })],
    [
      "an earlier process with this one's id, as in a container",
      () => ({ since: '2020-01-01T00:00:00.000Z' }),
    ],
  ])('of %s is taken over without waiting', async (_, holder) => {
    hold(holder());
    const held = await lock({ onWait: () => expect.unreachable('nobody to wait for') });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid, command: 'push' });
    held.release();
    expect(readdirSync(join(folder, '.dray'))).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'of a process whose id was reused is taken over without waiting (Linux only)',
    async () => {
      const held = await lock();
      const { life } = JSON.parse(readFileSync(path, 'utf8'));
      held.release();
      for (const pid of [process.pid, liveProcess()]) {
        hold({ pid, life: { ...life, startTicks: '1' } });
        (await lock({ onWait: () => expect.unreachable('nobody to wait for') })).release();
      }
    },
  );

  it.runIf(process.platform === 'linux')(
    'of a terminated thread of this process is taken over when it was not touched for long (Linux only)',
    async () => {
      hold({ pid: process.pid, life: await ownLife() });
      await expect(lock({ patienceMs: 10_000 })).rejects.toMatchObject({ code: 'locked' });
      utimesSync(path, 1, 1);
      (await lock({ patienceMs: 10_000 })).release();
    },
  );

  it.runIf(process.platform === 'linux')(
    'of an earlier boot is taken over even if its process id is in use (Linux only)',
    async () => {
      const life = await ownLife();
      for (const pid of [process.pid, liveProcess()]) {
        hold({ pid, life: { ...life, numbering: 'another-boot pid:[1]' } });
        utimesSync(path, 1, 1);
        (await lock({ onWait: () => expect.unreachable('nobody to wait for') })).release();
      }
    },
  );

  describe.runIf(process.platform === 'linux')(
    'of another container or machine with the same host name (Linux only)',
    () => {
      /** Its process id means nothing here: it may be unused, reused, or that of this process. */
      async function holdElsewhere(pid: number, ageMs: number, boot?: string): Promise<void> {
        const { numbering, startTicks } = await ownLife();
        const since = '2020-01-01T00:00:00.000Z';
        const life = { numbering: `${boot ?? numbering.split(' ')[0]} pid:[1]`, startTicks };
        hold({ pid, since, life });
        const touched = new Date(Date.now() - ageMs);
        utimesSync(path, touched, touched);
      }

      it.each([
        ['a container, whose process id is unused here', deadProcess, 60_000, undefined],
        ['a container, whose process id is that of this process', () => process.pid, 60_000, undefined],
        ['a machine, whose process id is unused here', deadProcess, 0, 'another-boot'],
      ])('is kept while its holder touches it: of %s', async (_, pid, ageMs, boot) => {
        await holdElsewhere(pid(), ageMs, boot);
        await expect(lock({ patienceMs: 10_000 })).rejects.toMatchObject({ code: 'locked' });
      });

      it('is kept when it is old only because the machine slept or its clock was set', async () => {
        await holdElsewhere(deadProcess(), 3_600_000);
        const now = new Date();
        const waiting = lock({ patienceMs: 10_000, onWait: () => utimesSync(path, now, now) });
        await expect(waiting).rejects.toMatchObject({ code: 'locked' });
      });

      it('is taken over when it was not touched for long, nor while another process waited', async () => {
        await holdElsewhere(liveProcess(), 3_600_000);
        let sleptMs = 0;
        const clock = patientClock();
        const sleep: Clock['sleep'] = async (pauseMs, signal) => {
          sleptMs += pauseMs;
          await clock.sleep(pauseMs, signal);
        };
        const held = await lock({ patienceMs: 0, clock: { ...clock, sleep } });
        expect(sleptMs).toBeGreaterThanOrEqual(6_000);
        expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
        held.release();
      });

      it('is not released by a stopped holder after another process took it over', async () => {
        let shiftMs = 0;
        const clock = { ...patientClock(), nowMs: () => Date.now() + shiftMs };
        const stopped = await lock({ clock });
        hold({ command: 'status' });
        shiftMs = 600_000;
        stopped.release();
        expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ command: 'status' });
      });
    },
  );

  it.runIf(process.platform === 'linux')('is touched only while it is held (Linux only)', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    try {
      const held = await lock();
      utimesSync(path, 1, 1);
      vi.advanceTimersByTime(600_000);
      expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(10_000);
      held.release();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it.runIf(process.platform === 'linux')(
    'is kept through a sleep and a clock change that make this process seem younger than it (Linux only)',
    async () => {
      const held = await lock();
      const hourMs = 3_600_000;
      for (const shiftMs of [hourMs, -hourMs]) {
        const clock = { ...patientClock(), nowMs: () => Date.now() + shiftMs };
        const signal = new AbortController().signal;
        const other = lockWorkspace({
          path,
          command: 'pull',
          clock,
          signal,
          patienceMs: 0,
          onWait: () => {},
        });
        await expect(other).rejects.toMatchObject({ code: 'locked' });
      }
      held.release();
    },
  );

  it('that a crash left empty is taken over once it is too old to be in creation', async () => {
    writeFileSync(path, '');
    await expect(lock()).rejects.toMatchObject({ code: 'locked' });
    utimesSync(path, 1, 1);
    (await lock()).release();
    expect(existsSync(path)).toBe(false);
  });

  it('is stopped on request while it waits', async () => {
    hold({});
    const stop = new AbortController();
    const waiting = lockWorkspace({
      path,
      command: 'push',
      clock: systemClock,
      signal: stop.signal,
      patienceMs: 60_000,
      onWait: () => stop.abort(),
    });
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  });
});
