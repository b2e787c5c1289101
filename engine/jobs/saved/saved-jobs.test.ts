/** Saved jobs on disk, their runs and their schedule. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createSandbox, type Sandbox } from '../session/job.fixture.ts';
import { nextDueMs } from './due-time.ts';
import {
  addJob,
  folderOf,
  isJobRunning,
  listJobs,
  lockScheduler,
  readJob,
  readJobState,
  removeJob,
} from './job-folder.ts';
import { wasMounted } from './mounted-disk.ts';
import { openRunLog, readRunLog } from './run-log.ts';
import { beginRun } from './run-record.ts';
import { checkJobName, type JobRun, type RunStart, refuseSecrets, type SavedJob } from './saved-job.ts';
import { pauseSavedJob, saveJob } from './saved-jobs.ts';
import { runScheduler } from './scheduler.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let sandbox: Sandbox;
let folder: string;
beforeEach(() => {
  sandbox = createSandbox();
  folder = sandbox.path('jobs');
});
afterEach(() => sandbox[Symbol.dispose]());

function job(more: Partial<SavedJob> = {}): SavedJob {
  const plain = { name: 'photos', arguments: ['copy', 'a', 'b'], directory: '/', triggers: [] };
  return { ...plain, isPaused: false, sinceMs: 0, ...more };
}

const end = { exitCode: 0, isStopped: false, message: 'Copied 1 file.' };

describe('a run of a job', () => {
  it('is recorded before it starts, and never overlaps with another', async () => {
    addJob(folder, job());
    const run = await beginRun(folder, 'photos', { by: 'hand', clock: systemClock });
    expect(readJobState(folder, 'photos').runs[0]).toMatchObject({ result: 'running', by: 'hand' });
    expect(await isJobRunning(folder, 'photos')).toBe(true);
    const second = beginRun(folder, 'photos', { by: 'schedule', clock: systemClock });
    await expect(second).rejects.toMatchObject({ code: 'locked' });
    await expect(removeJob(folder, 'photos')).rejects.toMatchObject({ code: 'locked' });
    run.end(end);
    expect(readJobState(folder, 'photos').runs).toMatchObject([{ result: 'done', exitCode: 0 }]);
    expect(await isJobRunning(folder, 'photos')).toBe(false);
  });

  it('takes over from one whose process was killed, and records that one as failed', async () => {
    addJob(folder, job());
    const killed = {
      pid: 2 ** 22 + 1,
      host: (await import('node:os')).hostname(),
      command: 'job run',
      since: '',
    };
    const run: JobRun = { startedMs: 1, result: 'running', by: 'schedule' };
    writeFileSync(join(folder, 'photos', 'lock'), JSON.stringify(killed));
    writeFileSync(join(folder, 'photos', 'state.json'), JSON.stringify({ runs: [run] }));
    const next = await beginRun(folder, 'photos', { by: 'hand', clock: systemClock });
    next.end(end);
    expect(readJobState(folder, 'photos').runs.map(({ result }) => result)).toEqual(['done', 'failed']);
  });

  it('logs warnings and failed files, but not without end', async () => {
    addJob(folder, job());
    const run = await beginRun(folder, 'photos', { by: 'hand', clock: systemClock });
    run.note({ type: 'warning', warning: 'retrying', message: 'Again.' });
    for (let at = 0; at < 500; at += 1) {
      const error = { code: 'io', message: 'no', retry: 'no', data: {} } as const;
      run.note({ type: 'fileFailed', path: `f${at}`, error });
    }
    run.end({ ...end, exitCode: 4 });
    const lines = readRunLog(folderOf(folder, 'photos'), 1_000);
    expect(lines.map(({ kind }) => kind).slice(0, 3)).toEqual(['started', 'warning', 'error']);
    expect(lines.at(-1)!.text).toContain('failed, exit code 4');
    expect(lines.length).toBeLessThan(210);
  });

  it('keeps its files from other users', async () => {
    addJob(folder, job());
    (await beginRun(folder, 'photos', { by: 'hand', clock: systemClock })).end(end);
    const path = folderOf(folder, 'photos');
    for (const name of readdirSync(path)) expect(statSync(join(path, name)).mode & 0o077).toBe(0);
  });
});

describe('the log of a job', () => {
  it('has a bound, and keeps the newest lines over its rotation', () => {
    const log = openRunLog(sandbox.folder, systemClock);
    const text = 'x'.repeat(4_000);
    for (let at = 0; at < 700; at += 1) log.write('warning', `${at} ${text}`);
    const sizes = ['log.jsonl', 'log.1.jsonl'].map((name) => statSync(join(sandbox.folder, name)).size);
    for (const size of sizes) expect(size).toBeLessThan(1024 * 1024 + 8_192);
    const newest = readRunLog(sandbox.folder, 300);
    expect(newest).toHaveLength(300);
    expect(newest.at(-1)!.text).toMatch(/^699 /);
  });
});

describe('the time of the next run', () => {
  const nowMs = Date.UTC(2026, 5, 1, 12);
  const ran = (startedMs: number) => ({ runs: [{ startedMs, result: 'done', by: 'schedule' } as const] });
  const hourly = job({ triggers: [{ on: 'every', everyMs: HOUR_MS }], sinceMs: nowMs - 10 * HOUR_MS });

  it('counts from the last start, and is one time however many were missed', () => {
    expect(nextDueMs(hourly, ran(nowMs - MINUTE_MS), nowMs)).toBe(nowMs + 59 * MINUTE_MS);
    expect(nextDueMs(hourly, ran(nowMs - 5 * HOUR_MS), nowMs)).toBe(nowMs - 4 * HOUR_MS);
    expect(nextDueMs(hourly, { runs: [] }, nowMs)).toBe(nowMs - 9 * HOUR_MS);
  });

  it('is now after the clock was set back', () => {
    expect(nextDueMs(hourly, ran(nowMs + 100 * HOUR_MS), nowMs)).toBe(nowMs);
  });

  it('follows the last run when the job was added while the clock was wrong', () => {
    const early = { ...hourly, sinceMs: nowMs + 9_000 * HOUR_MS };
    expect(nextDueMs(early, { runs: [] }, nowMs)).toBe(nowMs);
    expect(nextDueMs(early, ran(nowMs - MINUTE_MS), nowMs)).toBe(nowMs + 59 * MINUTE_MS);
  });

  it('does not exist while the job is paused or waits for something else', () => {
    expect(nextDueMs({ ...hourly, isPaused: true }, { runs: [] }, nowMs)).toBeUndefined();
    expect(nextDueMs(job({ triggers: [{ on: 'login' }] }), { runs: [] }, nowMs)).toBeUndefined();
  });

  it('is the earliest of several', () => {
    const both = job({
      triggers: [
        { on: 'every', everyMs: 48 * HOUR_MS },
        { on: 'every', everyMs: HOUR_MS },
      ],
      sinceMs: nowMs,
    });
    expect(nextDueMs(both, { runs: [] }, nowMs)).toBe(nowMs + HOUR_MS);
  });
});

describe('a mount', () => {
  const none = { device: undefined, isRoot: false };
  const point = { device: '1:5', isRoot: false };
  const disk = { device: '9:2', isRoot: true };
  const inside = { device: '9:7', isRoot: false };

  it.each([
    ['a disk over its empty folder', point, disk, true],
    ['a path inside a disk', none, inside, true],
    ['the empty folder after the disk has gone', disk, point, false],
    ['the first look', undefined, disk, false],
    ['the same disk', disk, disk, false],
    ['nothing', disk, none, false],
  ])('is seen or not: %s', (_what, before, now, isMounted) => {
    expect(wasMounted(before, now)).toBe(isMounted);
  });
});

describe('saving a job', () => {
  it.each([
    ['s3://key:secret@host/bucket'],
    ['dray://token@host:7370/x'],
    ['--endpoint=https://user:password@host'],
    ['--token=abc'],
    ['--password'],
    ['https://host/x?X-Amz-Signature=abc'],
    ['dray://host:7370/x?token=abc'],
    ['AKIAIOSFODNN7EXAMPLE'],
    ['q7R+xT2mVw9/LbYk4ZpEa8DfHs1JgNcUo5iQ6B3K'],
    ['--metadata=k=q7R+xT2mVw9/LbYk4ZpEa8DfHs1JgNcUo5iQ6B3K'],
    ['nGwQqEYoiKpkP8kpDhZMwa4Y8pPABSRxrDbd7BQrmnA'],
    [`ghp_${'a1'.repeat(18)}`],
    ['xoxb-123456789012-abcdef'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc'],
    ['Authorization: Bearer abcdefgh12345'],
    ['-----BEGIN RSA PRIVATE KEY-----'],
  ])('refuses a secret without repeating it: %s', (text) => {
    let message = '';
    try {
      refuseSecrets(['copy', text]);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/^Word 2 of the command looks like a secret/);
    expect(message).not.toContain(text);
  });

  it('takes places, filters and token files', () => {
    refuseSecrets(['copy', 's3://bucket/a?endpoint=https://host', 'r2:photos', '--exclude', 'secret*']);
    refuseSecrets(['copy', 'a', 'dray://host:7370/x?token_file=/home/me/token', '--metadata', 'a=b']);
  });

  it('takes hashes, long names and long paths', () => {
    const hash = '9bad3c3f00d1e2a4b5c6d7e8f9a0b1c2d3e4f506';
    const path = 'Photos/2024/Summer/Greece/Day01/Abcdefgh';
    expect([hash.length, path.length]).toEqual([40, 40]);
    refuseSecrets(['copy', hash, hash.toUpperCase(), path, `--exclude=${path}`]);
    refuseSecrets(['push', '-m', 'MyVacationPhotosOf2024FromGreeceAndItaly123', 'basic documentation']);
    refuseSecrets(['copy', '2024-06-01_Holiday-in-Italy_with-Anna-and-B', 'a']);
  });

  it.each(['', 'A', '../a', '-a', 'a/b', 'con', 'nul.txt', 'a.', 'a b', 'x'.repeat(64)])(
    'refuses the name "%s"',
    (name) => {
      expect(() => checkJobName(name)).toThrow(/name of a job/);
    },
  );

  it('refuses a name that is taken, and does not catch up what a paused job missed', async () => {
    const environment = { DRAY_CONFIG: sandbox.path('config.json') };
    const context = { environment, emit: () => {} };
    const definition = { name: 'a', arguments: ['push'], directory: '/', triggers: [] };
    await saveJob(context, definition);
    await expect(saveJob(context, definition)).rejects.toThrow(/exists/);
    const path = sandbox.path('jobs/a/job.json');
    const since = () => (JSON.parse(readFileSync(path, 'utf8')) as SavedJob).sinceMs;
    const before = { ...JSON.parse(readFileSync(path, 'utf8')), sinceMs: 1 };
    writeFileSync(path, JSON.stringify(before));
    expect((await pauseSavedJob(context, 'a', true)).state).toBe('paused');
    expect(since()).toBe(1);
    expect((await pauseSavedJob(context, 'a', false)).state).toBe('idle');
    expect(since()).toBeGreaterThan(1);
  });
});

describe('the scheduler', () => {
  /** A clock that the test moves; a pause ends when it is moved. */
  function movedClock(startMs: number) {
    let nowMs = startMs;
    let moved = Promise.withResolvers<void>();
    const clock: Clock = {
      ...systemClock,
      nowMs: () => nowMs,
      sleep: (_pauseMs, signal) =>
        Promise.race([
          moved.promise,
          new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
        ]),
    };
    const move = (byMs: number) => {
      nowMs += byMs;
      const last = moved;
      moved = Promise.withResolvers();
      last.resolve();
    };
    return { clock, move };
  }

  function start(clock: Clock, isLogin = false, exitCodes: number[] = []) {
    const stopping = new AbortController();
    const runs: string[] = [];
    let began = Promise.withResolvers<void>();
    const problems: unknown[] = [];
    const run = async (name: string, by: RunStart) => {
      const record = await beginRun(folder, name, { by, clock });
      record.end({ ...end, exitCode: exitCodes.shift() ?? 0 });
      runs.push(`${name} ${by}`);
      began.resolve();
      began = Promise.withResolvers();
      return 0;
    };
    const onProblem = (error: unknown) => problems.push(error);
    const ended = runScheduler({ folder, clock, signal: stopping.signal, run, isLogin, onProblem });
    const until = async (count: number) => {
      while (runs.length < count) await began.promise;
    };
    const stop = async () => {
      stopping.abort();
      await ended;
    };
    return { problems, runs, stop, until };
  }

  it('catches up once what was missed, and then keeps to the schedule', async () => {
    const startMs = Date.UTC(2026, 0, 1);
    addJob(folder, job({ triggers: [{ on: 'every', everyMs: HOUR_MS }], sinceMs: startMs - 9 * HOUR_MS }));
    addJob(folder, job({ name: 'paused', isPaused: true, triggers: [{ on: 'every', everyMs: HOUR_MS }] }));
    addJob(
      folder,
      job({ name: 'later', triggers: [{ on: 'every', everyMs: 9 * HOUR_MS }], sinceMs: startMs }),
    );
    const { clock, move } = movedClock(startMs);
    const { problems, runs, stop, until } = start(clock);
    await until(1);
    move(59 * MINUTE_MS);
    await new Promise(setImmediate);
    expect(runs).toEqual(['photos schedule']);
    move(2 * MINUTE_MS);
    await until(2);
    // Asleep for a day: each job that was due runs once.
    move(24 * HOUR_MS);
    await until(4);
    await stop();
    expect(runs.slice(2).sort()).toEqual(['later schedule', 'photos schedule']);
    expect(problems).toEqual([]);
  });

  it('starts jobs of a login only then, and jobs on change at once and after each change', async () => {
    const watched = sandbox.path('watched');
    sandbox.write('watched/a', '1');
    addJob(folder, job({ name: 'login', triggers: [{ on: 'login' }] }));
    addJob(folder, job({ name: 'change', triggers: [{ on: 'change', folder: watched, settleMs: 20 }] }));
    const first = start(systemClock);
    await first.until(1);
    sandbox.write('watched/b', '2');
    await first.until(2);
    await first.stop();
    expect(first.runs).toEqual(['change change', 'change change']);
    const second = start(systemClock, true);
    await second.until(2);
    await second.stop();
    expect(second.runs.sort()).toEqual(['change change', 'login login']);
  });

  it('continues when the files of one job are damaged, and says so once', async () => {
    addJob(folder, job({ triggers: [{ on: 'every', everyMs: MINUTE_MS }] }));
    for (const name of ['bad', 'worse']) addJob(folder, job({ name }));
    writeFileSync(join(folder, 'bad', 'job.json'), 'no');
    writeFileSync(join(folder, 'photos', 'state.json'), 'no');
    mkdirSync(join(folder, 'A copy'));
    const { clock, move } = movedClock(Date.UTC(2026, 0, 1));
    const { problems, runs, stop, until } = start(clock);
    await until(1);
    move(2 * MINUTE_MS);
    await until(2);
    await stop();
    expect(runs).toEqual(['photos schedule', 'photos schedule']);
    expect(problems).toHaveLength(1);
    expect(String(problems[0])).toContain(join('bad', 'job.json'));
  });

  it('takes the name of a job from its folder, so that a copied folder is another job', () => {
    addJob(folder, job());
    cpSync(join(folder, 'photos'), join(folder, 'copy'), { recursive: true });
    expect(listJobs(folder).map(({ name }) => name)).toEqual(['copy', 'photos']);
  });

  it.skipIf(process.platform === 'win32')('does not run a file that others can write', () => {
    addJob(folder, job());
    chmodSync(join(folder, 'photos', 'job.json'), 0o666);
    expect(() => readJob(folder, 'photos')).toThrow(/changed by other users/);
    expect(listJobs(folder)).toEqual([]);
  });

  it('tries a failed run on change again, after longer and longer pauses', async () => {
    sandbox.write('watched/a', '1');
    const trigger = { on: 'change', folder: sandbox.path('watched'), settleMs: 20 } as const;
    addJob(folder, job({ triggers: [trigger] }));
    const { clock, move } = movedClock(Date.UTC(2026, 0, 1));
    const { runs, stop, until } = start(clock, false, [1, 1, 0]);
    await until(1);
    await new Promise(setImmediate);
    move(MINUTE_MS);
    await until(2);
    await new Promise(setImmediate);
    move(MINUTE_MS);
    await new Promise(setImmediate);
    expect(runs).toHaveLength(2);
    move(MINUTE_MS);
    await until(3);
    await new Promise(setImmediate);
    move(HOUR_MS);
    await new Promise(setImmediate);
    await stop();
    expect(runs).toEqual(['photos change', 'photos change', 'photos change']);
  });

  it('does not forget a change while a person runs the job', async () => {
    sandbox.write('watched/a', '1');
    const trigger = { on: 'change', folder: sandbox.path('watched'), settleMs: 20 } as const;
    addJob(folder, job({ triggers: [trigger] }));
    const { clock, move } = movedClock(Date.UTC(2026, 0, 1));
    const hand = await beginRun(folder, 'photos', { by: 'hand', clock });
    const { problems, runs, stop, until } = start(clock);
    while (problems.length === 0) await new Promise(setImmediate);
    hand.end(end);
    move(2 * MINUTE_MS);
    await until(1);
    await stop();
    expect(runs).toEqual(['photos change']);
  });

  it('runs in one process at a time', async () => {
    const lock = await lockScheduler(folder, 'job serve');
    await expect(lockScheduler(folder, 'job serve')).rejects.toMatchObject({ code: 'locked' });
    lock.release();
    (await lockScheduler(folder, 'job serve')).release();
  });
});
