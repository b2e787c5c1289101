import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliOptions, runCli } from './run-cli.fixture.ts';

function runFixture(parameters: readonly string[], options: CliOptions = {}) {
  return runCli(parameters, { ...options, script: './command-host.fixture.ts' });
}

/** Sends the signals one after the other, each after the job has answered the one before. */
function sendWhenStarted(...signals: readonly NodeJS.Signals[]) {
  return (child: ChildProcess) => {
    const left = [...signals];
    child.stderr?.on('data', () => {
      const next = left.shift();
      if (next) child.kill(next);
    });
  };
}

describe('a command that is stopped', () => {
  it('asks its job to stop at the first Ctrl-C, says how to continue, and ends with 130', async () => {
    const result = await runFixture(['obedient'], { onStarted: sendWhenStarted('SIGINT') });
    expect(result).toEqual({
      exitCode: 130,
      stdout: '',
      stderr: 'started\nstopping... Run the same command again to continue.\n',
    });
  });

  it('ends with 143 after SIGTERM', async () => {
    expect((await runFixture(['obedient'], { onStarted: sendWhenStarted('SIGTERM') })).exitCode).toBe(143);
  });

  it('ends even when its job ignores the signal', async () => {
    const result = await runFixture(['stuck'], { onStarted: sendWhenStarted('SIGINT') });
    expect(result.exitCode).toBe(130);
  });

  it('ends at once at the second Ctrl-C', async () => {
    const result = await runFixture(['stuck'], { onStarted: sendWhenStarted('SIGINT', 'SIGINT') });
    expect(result.exitCode).toBe(130);
  });

  it('reports the stop to programs with --json', async () => {
    const { stdout } = await runFixture(['obedient', '--json'], { onStarted: sendWhenStarted('SIGINT') });
    const last = JSON.parse(stdout.trim().split('\n').at(-1)!);
    expect(last).toMatchObject({ type: 'error', code: 'aborted', exitCode: 130 });
  });

  it('reports the stop to programs even when its job ignores the signal', async () => {
    for (const signals of [['SIGINT'], ['SIGINT', 'SIGINT']] as const) {
      const { stdout } = await runFixture(['stuck', '--json'], { onStarted: sendWhenStarted(...signals) });
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toMatchObject([{ type: 'error', command: 'stuck', code: 'aborted', exitCode: 130 }]);
    }
  });
});

describe('the output of a command', () => {
  it('puts results on stdout and problems on stderr, and ends with 4 when files failed', async () => {
    expect(await runFixture(['mixed'])).toEqual({
      exitCode: 4,
      stdout: 'A good\n1 failed.\n',
      stderr:
        'dray: warning: socket was skipped.\ndray: bad: It cannot be read.\ndray: The name worse\\u001b[2J is not UTF-8.\n',
    });
  });

  it('ends with 3 when differences were found, even if files failed as well', async () => {
    expect((await runFixture(['different'])).exitCode).toBe(3);
    const { stdout } = await runFixture(['different', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'summary', exitCode: 3, failed: 1 });
  });

  it('with --quiet prints only results and problems', async () => {
    const result = await runFixture(['mixed', '-q']);
    expect(result.stdout).toBe('A good\n');
    expect(result.stderr).toContain('bad');
  });

  it('with --json is one JSON object per line, the summary last', async () => {
    const { stdout, stderr, exitCode } = await runFixture(['mixed', '--json']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual([
      'warning',
      'change',
      'fileFailed',
      'fileFailed',
      'summary',
    ]);
    expect(lines.at(-1)).toMatchObject({ command: 'mixed', exitCode: 4, failed: 1 });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 4 });
  });

  it('shows line breaks, C1 controls and direction marks as escapes, also when coloured', async () => {
    const escaped = 'a\\u009b31m\\u2028\\u200fb\\nc';
    for (const environment of [{}, { FORCE_COLOR: '1' }]) {
      const { stdout, stderr } = await runFixture(['hostile', '--verbose'], { environment });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours.
      const shown = (stdout + stderr).replaceAll(/\x1b\[\d+m/g, '');
      expect(shown).toMatch(/^A "a\\u009b31m\\u2028\\u200fb\\nc"$/m);
      expect(shown).toContain(`\ndray: warning: The store says: ${escaped}\n`);
      expect(shown).toContain(`\ndray: The store failed: ${escaped}\n`);
      expect(shown).not.toMatch(/[\u0080-\u009f\u2028\u200f]/);
    }
  });

  it('is coloured when the environment asks for colours', async () => {
    const { stdout } = await runFixture(['mixed'], { environment: { FORCE_COLOR: '1' } });
    expect(stdout).toContain('\x1b[32mA good\x1b[39m');
  });

  it('keeps every line of a long output', async () => {
    const { stdout } = await runFixture(['talkative']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(100_001);
    expect(lines[99_999]).toBe('A file-99999');
  });

  it('ends silently when its reader goes away', async () => {
    const result = await runFixture(['talkative'], {
      onStarted: (child) => child.stdout?.once('data', () => child.stdout?.destroy()),
    });
    expect({ stderr: result.stderr, exitCode: result.exitCode }).toEqual({ stderr: '', exitCode: 141 });
  });
});

describe('an error', () => {
  it('is one line and an exit code', async () => {
    expect(await runFixture(['conflict'])).toEqual({
      exitCode: 5,
      stdout: '',
      stderr: 'dray: Both sides changed a.\n',
    });
  });

  it('is printed in full with --verbose', async () => {
    const { stderr } = await runFixture(['--verbose', 'conflict']);
    expect(stderr).toContain('  code: conflict\n  data: {"paths":["a"],"size":5}\n');
  });

  it('is a record with --json', async () => {
    const { stdout, exitCode } = await runFixture(['conflict', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      type: 'error',
      command: 'conflict',
      exitCode: 5,
      code: 'conflict',
      message: 'Both sides changed a.',
      data: { paths: ['a'], size: 5 },
    });
    expect(exitCode).toBe(5);
  });

  it('that is unexpected shows its stack only with --verbose', async () => {
    const brief = await runFixture(['broken']);
    expect(brief.exitCode).toBe(1);
    expect(brief.stderr).not.toContain('    at ');
    expect(brief.stderr).toContain('--verbose');
    expect((await runFixture(['broken', '-v'])).stderr).toContain(
      'TypeError: x is not a function\n      at ',
    );
  });
});

describe('the global options', () => {
  const readContext = async (...parameters: string[]) => {
    const { stdout } = await runFixture([...parameters, '--json']);
    return JSON.parse(stdout).context;
  };

  it('are accepted before and after the command, and the nearer one wins', async () => {
    expect(
      await readContext(
        '-C',
        '/',
        '--remote',
        'a',
        '--transfers',
        '4',
        'context',
        '--remote',
        'b',
        '--path-style',
      ),
    ).toEqual({
      directory: resolve('/'),
      remoteName: 'b',
      connection: { transfers: 4, pathStyle: true },
      isTyped: true,
    });
  });

  it('reach the job under their own names, and are absent if not given', async () => {
    expect((await readContext('context')).connection).toEqual({});
    const all = ['--endpoint', 'e', '--region', 'r', '--profile', 'p', '--anonymous'];
    expect((await readContext('context', ...all)).connection).toEqual({
      endpoint: 'e',
      region: 'r',
      profile: 'p',
      anonymous: true,
    });
  });

  it('include the bandwidth limit of a command that has that option', async () => {
    expect((await readContext('context', '--bwlimit', '1.5MiB/s')).connection).toEqual({
      bandwidthBytesPerSecond: 1.5 * 1024 ** 2,
    });
  });
});
