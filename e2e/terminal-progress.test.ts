/** The progress that a long command draws at a terminal, and the lines that it leaves there. */
import { describe, expect, it } from 'vitest';
import { runCli } from '../app/cli/run-cli.fixture.ts';
import { longIt } from '../engine/base/long-it.fixture.ts';
import { runBudget } from '../engine/base/run-budget.fixture.ts';
import { freshStorePerTest, sandbox, store } from './fresh-store.ts';
import { runAtTerminal, whyNoTerminal } from './terminal.ts';

const EVIL = 'evil\x1b[2Jname.bin';
const CLEAR = '\r\x1b[J';

freshStorePerTest();

const copyAt = (rate: string) =>
  ['copy', 'photos', 's3://bucket/photos', '--bwlimit', rate, '--transfers', '1'] as const;
/** Takes seconds, so progress is drawn many times. */
const copy = copyAt('700K');
/** Takes a minute, unless it is stopped. */
const endlessCopy = copyAt('50K');

function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...store.environment, DRAY_CACHE: sandbox.path('cache'), TERM: 'xterm', ...more };
}

function writePhotos(): void {
  sandbox.write(`photos/${EVIL}`, Buffer.alloc(1_500_000, 'a'));
  sandbox.write('photos/second.bin', Buffer.alloc(1_500_000, 'b'));
}

describe.skipIf(whyNoTerminal)(`a long copy at a terminal (${whyNoTerminal ?? 'script'})`, () => {
  it('draws a bar and the files under way with escaped names, and leaves one summary line', async () => {
    writePhotos();
    const { exitCode, output } = await runAtTerminal(copy, {
      cwd: sandbox.folder,
      environment: environment({ NO_COLOR: '1' }),
      answers: [],
    });
    expect(exitCode).toBe(0);
    expect(output).toMatch(/uploading \[[=> ]+\] +\d+% {2}/);
    expect(output).toContain('"evil\\u001b[2Jname.bin"');
    expect(output).not.toContain('\x1b[2J');
    const left = output.slice(output.lastIndexOf(CLEAR) + CLEAR.length);
    expect(left).toMatch(/^Copied 2 files [^\n]* Moved [^\n]*\.\r\n$/);
  });

  it('leaves only the message when Ctrl-C stops it', async () => {
    writePhotos();
    const { exitCode, output } = await runAtTerminal(endlessCopy, {
      cwd: sandbox.folder,
      environment: environment(),
      answers: [[/uploading/, () => '\x03']],
    });
    expect(exitCode).toBe(130);
    const left = output.slice(output.lastIndexOf(CLEAR) + CLEAR.length);
    expect(left).toBe('stopping... Run the same command again to continue.\r\n');
  });

  longIt('moves no cursor on a terminal that cannot', async () => {
    writePhotos();
    const { output } = await runAtTerminal(copy, {
      cwd: sandbox.folder,
      environment: environment({ TERM: 'dumb' }),
      answers: [],
    });
    expect(output).not.toContain('\x1b');
    expect(output).toMatch(/Copied 2 files/);
  });

  it.each(runBudget({ short: ['--json'], long: ['-q', '--json'] }))('draws nothing with %s', async (flag) => {
    writePhotos();
    const { output } = await runAtTerminal([...copy, flag], {
      cwd: sandbox.folder,
      environment: environment(),
      answers: [],
    });
    expect(output).not.toContain('\x1b');
  });
});

it('a long copy in a pipe draws nothing', async () => {
  writePhotos();
  const { exitCode, stderr, stdout } = await runCli(copy, {
    cwd: sandbox.folder,
    environment: environment(),
  });
  expect(exitCode).toBe(0);
  for (const drawn of ['\x1b', '\r', 'uploading [']) expect(stdout + stderr).not.toContain(drawn);
  expect(stdout.trimEnd().split('\n')).toHaveLength(2);
});
