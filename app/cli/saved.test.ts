/** Saved jobs and `dray watch` as users run them: each command in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeS3, startFakeS3 } from '../../e2e/servers/fake-s3.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { COMMAND } from './command.fixture.ts';
import { type CliOptions, runCli } from './run-cli.fixture.ts';

let sandbox: Sandbox;
let started: ChildProcess[];
beforeEach(() => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('work'));
  started = [];
});
afterEach(async () => {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  sandbox?.[Symbol.dispose]();
});

const environment = () => ({
  DRAY_CONFIG: sandbox.path('settings/config.json'),
  DRAY_CACHE: sandbox.path('cache'),
});
const dray = (parameters: readonly string[], { environment: more, ...options }: CliOptions = {}) =>
  runCli(parameters, { cwd: sandbox.path('work'), environment: { ...environment(), ...more }, ...options });

/** A command that runs until it is stopped; `until` resolves when its output holds the text so often. */
function begin(parameters: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [COMMAND, ...parameters], {
    cwd: sandbox.path('work'),
    env: { ...process.env, ...environment(), ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let output = '';
  let grown = Promise.withResolvers<void>();
  const grow = (text?: string) => {
    output += text ?? '';
    const last = grown;
    grown = Promise.withResolvers();
    last.resolve();
  };
  child.stdout.setEncoding('utf8').on('data', grow);
  child.stderr.setEncoding('utf8').on('data', grow);
  child.on('close', () => grow());
  return {
    child,
    output: () => output,
    until: async (text: string, count = 1) => {
      while (output.split(text).length <= count) {
        if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${output}`);
        await grown.promise;
      }
    },
    stop: async (signal: NodeJS.Signals) => {
      child.kill(signal);
      if (child.exitCode === null) await once(child, 'close');
      return child.exitCode;
    },
  };
}

describe('dray job add', () => {
  it.each([
    [['copy', 'a', 'b', '--no-such'], "unknown option '--no-such'"],
    [['copy', 'a'], "missing required argument 'destination'"],
    [['copy', 'a', 'b', '--bwlimit', 'fast'], '--bwlimit'],
    [['copy', 'a', 'b', '--filter-from', 'no-such-file'], 'no-such-file'],
    [['ls', 'a'], 'A job can be one of copy, sync, check, push, pull, verify, forget, gc.'],
    [['copy', '-', 's3://bucket/a'], '"-" cannot be saved'],
    [['copy', 's3://key:secret@host/a', 'b'], 'looks like a secret'],
    [['push'], 'is not in a workspace'],
    [['verify', '--read-data=5'], 'is not in a workspace'],
    [['gc', '--grace=0s'], 'is not in a workspace'],
    [['gc', '--grace=soon'], '--grace'],
    [['forget', '--keep-last=5'], 'is not in a workspace'],
    [['forget', '--save'], '--save needs rules to keep'],
  ])('checks the command as the command itself does: %s', async (words, message) => {
    const { exitCode, stderr } = await dray(['job', 'add', 'a', '--', ...words]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('key:secret');
    expect(exitCode).toBe(2);
    expect(existsSync(sandbox.path('settings/jobs/a'))).toBe(false);
  });

  it.each([
    [['--cron', '61 * * * *'], '"61" is no minute'],
    [['--daily', '25:00'], 'HH:MM'],
    [['--every', '5s'], '--every'],
    [['--settle', '5s'], '--on-change'],
  ])('checks what starts the job: %s', async (options, message) => {
    const { exitCode, stderr } = await dray(['job', 'add', 'a', ...options, '--', 'copy', 'a', 'b']);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
  });

  longIt('replaces a job only with --replace, keeps its runs, and saves nothing with --dry-run', async () => {
    sandbox.write('work/photos/a.jpg', '1');
    await dray(['job', 'add', 'night', '--', 'copy', 'photos', 'to']);
    await dray(['job', 'run', 'night']);
    const again = ['--daily', '03:00', '--', 'copy', 'photos', 'there'];
    const refused = await dray(['job', 'add', 'night', ...again]);
    expect(refused.stderr).toContain('The job "night" exists. Use another name, or replace it with');
    const dry = await dray(['job', 'add', 'night', '--replace', '--dry-run', '--json', ...again]);
    expect(JSON.parse(dry.stdout)).toMatchObject({
      ...{ kind: 'copy', places: ['photos', 'there'], directory: sandbox.path('work') },
      triggers: [{ on: 'cron', expression: '0 3 * * *' }],
    });
    expect((await dray(['job', 'show', 'night'])).stdout).toContain('dray copy photos to\n');
    expect((await dray(['job', 'add', 'night', '--replace', ...again])).exitCode).toBe(0);
    const { stdout } = await dray(['job', 'show', 'night']);
    expect(stdout).toMatch(/dray copy photos there\n.*cron 0 3.*last result +done/s);
  });

  it('saves global options before the command with it, but for those of the output', async () => {
    const job = ['--json', 'job', 'add', 'a', '--dry-run', '-q', '--endpoint', 'http://127.0.0.1:9'];
    const { stdout } = await dray([...job, '--path-style', '--', 'copy', 'photos', 's3://bucket/photos']);
    expect(JSON.parse(stdout)).toMatchObject({
      arguments: ['copy', '--endpoint=http://127.0.0.1:9', '--path-style', 'photos', 's3://bucket/photos'],
      places: ['photos', 's3://bucket/photos'],
    });
  });

  it('refuses to watch a place that reports no changes', async () => {
    const place = ['copy', 's3://bucket/a', 'b'];
    const { stderr } = await dray(['job', 'add', 'a', '--on-change', '--', ...place]);
    expect(stderr).toContain('needs a source on this machine');
  });
});

describe('a saved job', () => {
  it('runs with its options, in its folder, and is listed, shown, logged, paused and removed', async () => {
    sandbox.write('work/photos/a.jpg', '1');
    sandbox.write('work/photos/b.txt', '1');
    const words = ['copy', 'photos', 'to', '--exclude', '*.txt'];
    await dray(['job', 'add', 'night', '--daily', '03:00', '--', ...words]);
    const run = await dray(['job', 'run', 'night'], { cwd: sandbox.folder });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stdout).toContain('Copied 1 file');
    expect([existsSync(sandbox.path('work/to/a.jpg')), existsSync(sandbox.path('work/to/b.txt'))]).toEqual([
      true,
      false,
    ]);
    const list = await dray(['job', 'list', '--json']);
    const [job, summary] = list.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(job).toMatchObject({
      type: 'job',
      name: 'night',
      arguments: words,
      state: 'idle',
      lastResult: 'done',
    });
    expect(new Date(String(job!.nextRun)).getHours()).toBe(3);
    expect(summary).toMatchObject({ jobs: 1, isScheduled: false });
    expect((await dray(['job', 'show', 'night'])).stdout).toContain('last result   done. Copied 1 file');
    expect((await dray(['job', 'log', 'night'])).stdout).toMatch(/started {2}Started by hand.*\n.*ended/);
    expect((await dray(['job', 'pause', 'night'])).stdout).toBe('The job night is paused.\n');
    expect((await dray(['jobs', 'list'])).stdout).toContain('paused');
    expect((await dray(['job', 'rename', 'night', 'late'])).stdout).toBe('The job night is now late.\n');
    expect((await dray(['job', 'show', 'late'])).stdout).toContain('last result   done. Copied 1 file');
    expect((await dray(['job', 'remove', 'late'])).exitCode).toBe(0);
    expect(await dray(['job', 'run', 'night'])).toMatchObject({ exitCode: 1 });
  });

  it('ends with the exit code of its command, and records what failed', async () => {
    sandbox.write('work/photos/a.jpg', '1');
    await dray(['job', 'add', 'compare', '--', 'check', 'photos', 'none-such']);
    const { exitCode } = await dray(['job', 'run', 'compare', '-q']);
    expect(exitCode).not.toBe(0);
    const { stdout } = await dray(['job', 'show', 'compare']);
    expect(stdout).toMatch(/last result +failed\. /);
    rmSync(sandbox.path('work/photos'), { recursive: true });
    await dray(['job', 'add', 'gone', '-C', sandbox.path('work/away'), '--', 'copy', 'a', 'b']);
    expect((await dray(['job', 'run', 'gone'])).exitCode).not.toBe(0);
  });
});

describe('a failed verify', () => {
  it('shows missing objects in its last result', async () => {
    sandbox.write('work/a.csv', '1');
    await dray(['init', '--remote', sandbox.path('store')]);
    await dray(['push']);
    await dray(['job', 'add', 'week', '--', 'verify']);
    rmSync(sandbox.path('store/packs'), { recursive: true });
    expect((await dray(['job', 'run', 'week', '-q'])).exitCode).toBe(1);
    expect((await dray(['job', 'show', 'week'])).stdout).toMatch(
      /last result +failed\. 1 missing and 0 damaged/,
    );
  });
});

describe('retention by itself', () => {
  it('forgets by the kept policy and collects the garbage, and each run says what it did', async () => {
    await dray(['init', '--remote', sandbox.path('store')]);
    for (const content of ['1', '2', '3']) {
      sandbox.write('work/a.csv', content);
      await dray(['push']);
    }
    await dray(['job', 'add', 'tidy', '--daily', '04:00', '--', 'forget']);
    await dray(['job', 'add', 'space', '--', 'gc', '--grace', '0s']);
    // Without a policy a run fails, and nothing is forgotten.
    expect((await dray(['job', 'run', 'tidy', '-q'])).exitCode).toBe(2);
    await dray(['forget', '--keep-last', '2', '--save', '--dry-run']);
    expect((await dray(['job', 'run', 'tidy', '-q'])).exitCode).toBe(2);
    await dray(['forget', '--keep-last', '2', '--save']);
    sandbox.write('work/a.csv', '4');
    await dray(['push']);
    expect((await dray(['job', 'run', 'tidy', '-q'])).exitCode).toBe(0);
    expect((await dray(['job', 'show', 'tidy'])).stdout).toMatch(
      /last result +done\. Forgot 1 commit, kept 2\./,
    );
    expect((await dray(['job', 'run', 'space', '-q'])).exitCode).toBe(0);
    expect((await dray(['job', 'show', 'space'])).stdout).toMatch(/last result +done\. Removed 2 objects/);
    expect((await dray(['log'])).stdout.split('(forgotten)').length - 1).toBe(2);
    expect((await dray(['verify'])).exitCode).toBe(0);
  });
});

describe('dray job notify', () => {
  it('sends a notice at once with --test, after a failure, and after the next success; refuses secrets', async () => {
    sandbox.write('work/photos/a', '1');
    await dray(['job', 'add', 'night', '--', 'copy', 'photos', 'to/a/b']);
    const command = 'echo "$DRAY_NOTICE $DRAY_JOB" >> notices';
    const set = await dray(['job', 'notify', 'night', '--command', command, '--test']);
    expect(set).toMatchObject({ exitCode: 0, stderr: '' });
    const notices = () => readFileSync(sandbox.path('work/notices'), 'utf8').trim().split('\n');
    expect(notices()).toEqual(['test night']);
    sandbox.write('work/to', 'in the way');
    expect((await dray(['job', 'run', 'night', '-q'])).exitCode).not.toBe(0);
    rmSync(sandbox.path('work/to'));
    expect((await dray(['job', 'run', 'night', '-q'])).exitCode).toBe(0);
    expect((await dray(['job', 'run', 'night', '-q'])).exitCode).toBe(0);
    expect(notices()).toEqual(['test night', 'failure night', 'recovery night']);
    await dray(['job', 'notify', 'night', '--command', command, '--on', 'recovery', '--no-desktop']);
    rmSync(sandbox.path('work/to'), { recursive: true });
    sandbox.write('work/to', 'in the way');
    await dray(['job', 'run', 'night', '-q']);
    expect(notices()).toHaveLength(3);
    expect((await dray(['job', 'notify', 'night'])).stderr).toContain('Give --webhook');
    const alone = await dray(['job', 'notify', 'night', '--days', '7', '--test']);
    expect(alone.stderr).toContain('No test notice was sent');
    expect(alone.stdout).not.toContain('one was sent');
    expect((await dray(['job', 'notify', 'night', '--on', 'days'])).stderr).toContain('needs --days');
    const secret = await dray(['job', 'notify', 'night', '--command', 'send --token=very-secret']);
    expect(secret).toMatchObject({ exitCode: 2 });
    expect(secret.stderr).not.toContain('very-secret');
  });
});

describe('two runs of one job', () => {
  let store: FakeS3;
  beforeEach(async () => {
    store = await startFakeS3();
    sandbox.write('work/photos/a.bin', Buffer.alloc(2_000_000));
    const words = ['copy', 'photos', 's3://bucket/photos', '--bwlimit', '20K'];
    await dray(['job', 'add', 'slow', '--', ...words], { environment: store.environment });
  });
  afterEach(() => store[Symbol.asyncDispose]());

  const untilRunning = async () => {
    for (;;) {
      const { stdout } = await dray(['job', 'show', 'slow', '--json']);
      if (stdout.includes('"state":"running"')) return;
    }
  };

  it('never overlap; a killed one gives way, and a stopped one says so', async () => {
    const first = begin(['job', 'run', 'slow'], store.environment);
    await untilRunning();
    const second = await dray(['job', 'run', 'slow'], { environment: store.environment });
    expect(second).toMatchObject({ exitCode: 1 });
    expect(second.stderr).toContain('The job "slow" is in use by "dray job run slow"');
    await first.stop('SIGKILL');
    expect((await dray(['job', 'show', 'slow'])).stdout).toContain('interrupted');
    const third = begin(['job', 'run', 'slow'], store.environment);
    await untilRunning();
    expect(await third.stop('SIGTERM')).toBe(143);
    expect((await dray(['job', 'show', 'slow'])).stdout).toMatch(/last result +stopped\. /);
  });
});

describe('dray job serve', () => {
  it('stops a running job at SIGTERM, and the next run continues it', async () => {
    await using store = await startFakeS3();
    sandbox.write('work/photos/a.bin', Buffer.alloc(2_000_000));
    const words = ['sync', 'photos', 's3://bucket/photos', '--bwlimit', '20K'];
    await dray(['job', 'add', 'slow', '--on-change', '--', ...words], { environment: store.environment });
    const server = begin(['job', 'serve'], store.environment);
    await server.until('slow started by change');
    for (;;) {
      const { stdout } = await dray(['job', 'show', 'slow', '--json']);
      if (stdout.includes('"state":"running"')) break;
    }
    await server.stop('SIGTERM');
    expect(server.output()).toContain('slow ended with 143');
    expect((await dray(['job', 'show', 'slow'])).stdout).toMatch(/state +idle.*last result +stopped\./s);
  });

  longIt('runs jobs on changes, stops cleanly at SIGTERM, and is the only one', async () => {
    sandbox.write('work/photos/a', '1');
    await dray(['job', 'add', 'live', '--on-change', '--settle', '1s', '--', 'sync', 'photos', 'to']);
    const server = begin(['job', 'serve']);
    await server.until('live ended with 0');
    sandbox.write('work/photos/b', '2');
    await server.until('live ended with 0', 2);
    expect(readFileSync(sandbox.path('work/to/b'), 'utf8')).toBe('2');
    const other = await dray(['job', 'serve']);
    expect(other.stderr).toContain('The schedule of jobs is in use');
    await server.stop('SIGTERM');
    expect(server.output()).toContain('Stopped after 2 runs.');
  });
});

describe.skipIf(process.platform !== 'linux')('dray job serve --login', () => {
  it('runs jobs of a login once, also when the system starts it again after a crash', async () => {
    sandbox.write('work/photos/a', '1');
    await dray(['job', 'add', 'in', '--at-login', '--', 'copy', 'photos', 'there']);
    await dray(['job', 'add', 'live', '--on-change', '--', 'sync', 'photos', 'to']);
    const first = begin(['job', 'serve', '--login']);
    await first.until('in ended with 0');
    await first.stop('SIGKILL');
    const second = begin(['job', 'serve', '--login']);
    await second.until('live ended with 0');
    await second.stop('SIGTERM');
    expect(second.output()).not.toContain('by login');
    // The state after the next login: the service manager is another process.
    rmSync(sandbox.path('settings/jobs/.login'));
    const third = begin(['job', 'serve', '--login']);
    await third.until('in ended with 0');
    await third.stop('SIGTERM');
  });
});

describe('dray ui', () => {
  it('starts due jobs too, unless another process does', async () => {
    sandbox.write('work/photos/a', '1');
    await dray(['job', 'add', 'live', '--on-change', '--', 'sync', 'photos', 'to']);
    const window = begin(['ui', '--no-open', '--port', '0']);
    for (;;) {
      const { stdout } = await dray(['job', 'show', 'live', '--json']);
      if (stdout.includes('"lastResult":"done"')) break;
    }
    expect((await dray(['job', 'list', '--json'])).stdout).toContain('"isScheduled":true');
    expect((await dray(['job', 'serve'])).stderr).toContain('is in use');
    expect(await window.stop('SIGTERM')).toBe(0);
    expect(readFileSync(sandbox.path('work/to/a'), 'utf8')).toBe('1');
  }, 120_000);
});

describe('dray job install', () => {
  it.each(['systemd', 'launchd', 'windows'])('writes a definition for %s without keys', async (kind) => {
    const to = sandbox.path('definition');
    const { exitCode, stdout } = await dray(['job', 'install', '--kind', kind, '--output', to], {
      environment: {
        AWS_SECRET_ACCESS_KEY: 'very-secret',
        AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
        AWS_ENDPOINT_URL_S3: 'http://user:very-secret@127.0.0.1:9',
      },
    });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${to}\nEnable it with: `));
    const text = readFileSync(to, 'utf8');
    expect(text).toContain('serve');
    expect(text).not.toContain('very-secret');
    // A task of Windows has no variables.
    expect(text.includes('http://127.0.0.1:9')).toBe(kind !== 'windows');
  });
});

describe('dray watch', () => {
  it('syncs at the start and after each change, until Ctrl-C', async () => {
    sandbox.write('work/photos/a', '1');
    const watching = begin(['watch', 'photos', '--sync', 'to', '--settle', '1s']);
    await watching.until('Copied 1 file');
    sandbox.write('work/photos/b', '2');
    await watching.until('Copied 1 file', 2);
    expect(readFileSync(sandbox.path('work/to/b'), 'utf8')).toBe('2');
    expect(await watching.stop('SIGINT')).toBe(130);
  });

  it('pushes with the global options that it was given', async () => {
    sandbox.write('work/a.csv', '1');
    await dray(['init', '--remote', sandbox.path('store')]);
    await dray(['remote', 'add', 'spare', sandbox.path('spare')]);
    const watching = begin(['watch', '--push', '--remote', 'spare']);
    await watching.until('Pushed 1 added');
    await watching.stop('SIGTERM');
    expect([existsSync(sandbox.path('spare/refs')), existsSync(sandbox.path('store/refs'))]).toEqual([
      true,
      false,
    ]);
  });

  it('refuses a folder that is not there, and two things at once', async () => {
    expect((await dray(['watch', 'none-such', '--sync', 'to'])).stderr).toContain('cannot be watched');
    expect((await dray(['watch', '--push', '--sync', 'to'])).exitCode).toBe(2);
  });
});
