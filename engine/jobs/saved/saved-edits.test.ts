/** Saved jobs that are edited: what stays, what a change by somebody else meanwhile does. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createSandbox, type Sandbox } from '../session/job.fixture.ts';
import { findJob, folderOf, isJobRunning, readJob, readJobState } from './job-folder.ts';
import { readRunLog } from './run-log.ts';
import { beginRun } from './run-record.ts';
import { versionOf } from './saved-job.ts';
import { pauseSavedJob, removeSavedJob, renameSavedJob, saveJob, setNotices } from './saved-jobs.ts';

let sandbox: Sandbox;
let folder: string;
let context: Parameters<typeof saveJob>[0];
beforeEach(() => {
  sandbox = createSandbox();
  folder = sandbox.path('jobs');
  context = { environment: { DRAY_CONFIG: sandbox.path('config.json') }, emit: () => {} };
});
afterEach(() => sandbox[Symbol.dispose]());

const HOURLY = { on: 'every', everyMs: 3_600_000 } as const;
const night = { name: 'night', arguments: ['copy', 'a', 'b'], directory: '/', triggers: [HOURLY] };
const end = { exitCode: 0, isStopped: false, message: 'Copied 1 file.' };

describe('an edited job', () => {
  it('keeps its runs, its pause, its notices, and what its schedule counts from', async () => {
    await saveJob(context, night);
    await setNotices(context, 'night', { on: ['failure'], command: 'true' });
    await pauseSavedJob(context, 'night', true);
    (await beginRun(folder, 'night', { by: 'hand', clock: systemClock })).end(end);
    const before = readJob(folder, 'night');
    const state = readJobState(folder, 'night');

    const edited = { ...night, arguments: ['copy', 'a', 'c'] };
    const shown = await saveJob(context, edited, { isReplacing: true, version: versionOf(before) });
    expect(shown).toMatchObject({ state: 'paused', lastResult: 'done', arguments: ['copy', 'a', 'c'] });
    expect(readJob(folder, 'night')).toEqual({ ...before, arguments: ['copy', 'a', 'c'] });
    expect(readJobState(folder, 'night')).toEqual(state);
  });

  it('is not due for times that its new schedule did not have', async () => {
    await saveJob(context, { ...night, triggers: [] });
    const nowMs = Date.now();
    const daily = { on: 'cron', expression: '* * * * *' } as const;
    const { nextRun } = await saveJob(context, { ...night, triggers: [daily] }, { isReplacing: true });
    expect(Date.parse(nextRun!)).toBeGreaterThan(nowMs);
    expect(readJob(folder, 'night').sinceMs).toBeGreaterThanOrEqual(nowMs);
  });

  it('leaves a run under way as it began', async () => {
    await saveJob(context, night);
    const run = await beginRun(folder, 'night', { by: 'hand', clock: systemClock });
    await saveJob(context, { ...night, arguments: ['push'] }, { isReplacing: true });
    expect(run.job.arguments).toEqual(['copy', 'a', 'b']);
    const [under] = readJobState(folder, 'night').runs;
    expect(under?.version).not.toBe(versionOf(readJob(folder, 'night')));
    run.end(end);
    const next = await beginRun(folder, 'night', { by: 'hand', clock: systemClock });
    expect(next.job.arguments).toEqual(['push']);
    next.end(end);
  });

  it('is not overwritten when somebody changed or removed it meanwhile', async () => {
    await saveJob(context, night);
    const version = versionOf(readJob(folder, 'night'));
    await saveJob(context, { ...night, arguments: ['push'] }, { isReplacing: true });
    const late = () => saveJob(context, night, { isReplacing: true, version });
    await expect(late()).rejects.toMatchObject({ code: 'conflict' });
    expect(readJob(folder, 'night').arguments).toEqual(['push']);
    await removeSavedJob(context, 'night');
    await expect(late()).rejects.toMatchObject({ code: 'notFound' });
  });

  it('has another version after new notices, and the same one after a pause or a run', async () => {
    await saveJob(context, night);
    const version = () => versionOf(readJob(folder, 'night'));
    const first = version();
    await pauseSavedJob(context, 'night', true);
    (await beginRun(folder, 'night', { by: 'hand', clock: systemClock })).end(end);
    expect(version()).toBe(first);
    await setNotices(context, 'night', { on: ['failure'], command: 'true' });
    expect(version()).not.toBe(first);
    await saveJob(context, night, { isReplacing: true, notices: null });
    expect(version()).toBe(first);
  });

  it('takes all of several changes at one time', async () => {
    await saveJob(context, night);
    await Promise.all([
      pauseSavedJob(context, 'night', true),
      setNotices(context, 'night', { on: ['failure'], command: 'true' }),
      saveJob(context, { ...night, arguments: ['push'] }, { isReplacing: true }),
    ]);
    const all = { isPaused: true, arguments: ['push'], notices: { command: 'true' } };
    expect(readJob(folder, 'night')).toMatchObject(all);
    const twice = [1, 2].map(() => saveJob(context, { ...night, name: 'one' }));
    const ended = await Promise.allSettled(twice);
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a renamed job', () => {
  it('keeps its runs, its log, its pause and its notices, and can be edited in the same step', async () => {
    await saveJob(context, night);
    await setNotices(context, 'night', { on: ['failure'], command: 'true' });
    await pauseSavedJob(context, 'night', true);
    (await beginRun(folder, 'night', { by: 'hand', clock: systemClock })).end(end);
    const before = readJob(folder, 'night');
    const state = readJobState(folder, 'night');
    const log = readRunLog(folderOf(folder, 'night'), 10);
    const edited = { ...night, name: 'nightly', arguments: ['copy', 'a', 'c'] };
    const options = { isReplacing: true, version: versionOf(before), from: 'night' };
    const shown = await saveJob(context, edited, options);
    expect(shown).toMatchObject({ name: 'nightly', state: 'paused', lastResult: 'done' });
    expect(findJob(folder, 'night')).toBeUndefined();
    const renamed = readJob(folder, 'nightly');
    expect(renamed).toEqual({ ...before, name: 'nightly', arguments: ['copy', 'a', 'c'] });
    expect(readJobState(folder, 'nightly')).toEqual(state);
    expect(readRunLog(folderOf(folder, 'nightly'), 10)).toEqual(log);
    await renameSavedJob(context, 'nightly', 'again');
    (await beginRun(folder, 'again', { by: 'hand', clock: systemClock })).end(end);
    expect(readJobState(folder, 'again').runs).toHaveLength(2);
  });

  it('is refused the name of another job, and of a folder with the files of one', async () => {
    await saveJob(context, night);
    await saveJob(context, { ...night, name: 'other' });
    mkdirSync(folderOf(folder, 'rest'));
    writeFileSync(join(folderOf(folder, 'rest'), 'log.jsonl'), '');
    const edited = { ...night, name: 'other', arguments: ['push'] };
    const saved = saveJob(context, edited, { isReplacing: true, from: 'night' });
    await expect(saved).rejects.toThrow('There is a job "other" already.');
    await expect(renameSavedJob(context, 'night', 'rest')).rejects.toThrow('of a job that is gone');
    await expect(renameSavedJob(context, 'night', '../x')).rejects.toMatchObject({ code: 'usage' });
    expect(readJob(folder, 'night').arguments).toEqual(night.arguments);
    expect(readJob(folder, 'other').arguments).toEqual(night.arguments);
  });

  it('is not renamed while it runs, and its run ends under its name', async () => {
    await saveJob(context, night);
    const run = await beginRun(folder, 'night', { by: 'hand', clock: systemClock });
    await expect(renameSavedJob(context, 'night', 'nightly')).rejects.toMatchObject({ code: 'locked' });
    expect(await isJobRunning(folder, 'night')).toBe(true);
    run.end(end);
    expect(readJobState(folder, 'night').runs[0]).toMatchObject({ result: 'done' });
    await renameSavedJob(context, 'night', 'nightly');
    expect(await isJobRunning(folder, 'nightly')).toBe(false);
  });
});
