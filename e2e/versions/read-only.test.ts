/**
 * On a read-only disk, and with a low limit of open files, commands that only read succeed. All others report
 * the problem in one line.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = createSandbox();
  const work = sandbox.path('work');
  for (let at = 0; at < 300; at += 1) sandbox.write(`work/${at % 5}/${at}`, `content of ${at}`);
  sandbox.write('work/large', Buffer.alloc(20_000_000, 'large'));
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
  await push(testContext(work), {});
});
afterAll(() => sandbox[Symbol.dispose]());

/** Runs the command in the workspace after a line of shell. */
function runAfter(line: string, parameters: readonly string[], mounts = false) {
  const script = `${line} && cd "$0" && exec "$@"`;
  const shell = ['sh', '-c', script, sandbox.path('work'), process.execPath, COMMAND, ...parameters];
  const [program = '', ...rest] = mounts ? ['unshare', '--mount', ...shell] : shell;
  const environment = { ...process.env, DRAY_CACHE: sandbox.path('cache') };
  const { status, stderr, stdout } = spawnSync(program, rest, { encoding: 'utf8', env: environment });
  return { exitCode: status, stderr, stdout, text: stderr + stdout };
}

const READ_ONLY = (folder: string) =>
  `mount --bind ${folder} ${folder} && mount -o remount,ro,bind ${folder}`;

/**
 * Modes do not stop root, so the disk is a read-only mount. Without the right to mount the test is skipped.
 */
const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

describe('On a read-only disk (needs the right to mount)', () => {
  it.skipIf(!canMount).each(['status', 'log', 'diff', 'ls', 'verify'])(
    '"dray %s" works in a workspace',
    (command) => {
      const { exitCode, text } = runAfter(READ_ONLY(sandbox.path('work')), [command], true);
      expect(exitCode, text).toBe(0);
      expect(text).not.toContain('rebuilt');
    },
  );

  it.skipIf(!canMount).each([
    ['push', () => ['push']],
    ['clone', () => ['clone', sandbox.path('store'), sandbox.path('frozen/copy')]],
    ['init', () => ['init', sandbox.path('other'), '--remote', sandbox.path('frozen/new/store')]],
  ] as const)('"dray %s" reports in one line that it cannot write', (_, parameters) => {
    mkdirSync(sandbox.path('frozen'), { recursive: true });
    const line = `${READ_ONLY(sandbox.path('work'))} && ${READ_ONLY(sandbox.path('frozen'))}`;
    const { exitCode, stderr } = runAfter(line, parameters(), true);
    expect(exitCode, stderr).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(/^dray: .*(?:EROFS|read-only)/)]);
  });
});

describe('With a limit of 30 open files', () => {
  it.each([
    ['status', () => ['status']],
    ['log', () => ['log']],
    ['verify', () => ['verify']],
    ['push of many files', () => ['push']],
    ['clone', () => ['clone', sandbox.path('store'), sandbox.path('copy')]],
    ['copy', () => ['copy', sandbox.path('work'), sandbox.path('copied')]],
  ] as const)('"dray %s" succeeds or names the limit in one line', (name, parameters) => {
    if (name.startsWith('push'))
      for (let at = 0; at < 300; at += 1) sandbox.write(`work/more/${at}`, `content of ${at}`);
    const { exitCode, stderr, text } = runAfter('ulimit -n 30', parameters());
    if (exitCode === 0) return;
    expect(exitCode, text).toBe(1);
    const problems = stderr.split('\n').filter((line) => line.startsWith('dray: '));
    expect(problems, text).toEqual([expect.stringContaining('ulimit -n')]);
    expect(text).not.toMatch(/^ +at /m);
  });
});
