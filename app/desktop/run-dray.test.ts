/** Saved jobs as processes of the desktop app: the command's real program in a fake utility process. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { createFakeElectron } from './electron.fixture.ts';
import { drayUtility } from './run-dray.ts';

const JOB_PROCESS = fileURLToPath(new URL('./job-process.ts', import.meta.url));

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

async function open() {
  const fake = createFakeElectron({ userData: sandbox.folder });
  await fake.app.whenReady();
  const run = drayUtility(fake.electron, JOB_PROCESS);
  const { signal } = new AbortController();
  const environment = {
    PATH: process.env.PATH,
    HOME: sandbox.folder,
    DRAY_CONFIG: sandbox.path('settings/config.json'),
  };
  const dray = (words: readonly string[], stop = signal) =>
    run({ words, environment, takesOutput: true, signal: stop });
  return { dray, utilities: fake.utilities };
}

describe('a utility process', () => {
  it('saves a job and runs it, with its exit code and its output', async () => {
    const { dray } = await open();
    sandbox.write('from/a.txt', 'a');
    const places = [sandbox.path('from'), sandbox.path('to')];
    expect(await dray(['job', 'add', 'mine', '-q', '--', 'copy', ...places])).toMatchObject({ exitCode: 0 });
    expect(await dray(['job', 'run', 'mine', '--quiet'])).toMatchObject({ exitCode: 0 });
    expect(readFileSync(sandbox.path('to/a.txt'), 'utf8')).toBe('a');
    const { exitCode, output } = await dray(['job', 'run', 'none', '--json']);
    expect(exitCode).not.toBe(0);
    expect(JSON.parse(output)).toMatchObject({ type: 'error', code: 'notFound' });
  });

  it('asks its job to stop, so that the job can continue later', async () => {
    const { dray, utilities } = await open();
    const stop = new AbortController();
    await dray(['job', 'add', 'watch', '-q', '--', 'copy', sandbox.path('from'), sandbox.path('to')]);
    const serving = dray(['job', 'serve'], stop.signal);
    const lock = sandbox.path('settings/jobs/.scheduler.lock');
    while (!existsSync(lock)) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    expect(await serving).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^$|Stopped/) });
    expect(existsSync(lock)).toBe(false);
    expect(utilities.map(({ pid }) => pid)).toEqual([undefined, undefined]);
  });
});
