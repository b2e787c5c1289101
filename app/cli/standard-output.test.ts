/** Output to a file or a pipe arrives in full, or the command reports an error. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from './command.fixture.ts';
import { formatCompletionScript } from './options/completion-script.ts';
import { buildProgram } from './program.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-output-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @param script Runs the command as `"$@"`. */
function inShell(script: string, ...parameters: string[]) {
  const { status, stderr, stdout } = spawnSync(
    'sh',
    ['-c', script, 'sh', process.execPath, COMMAND, ...parameters],
    // The limit of file sizes would also cut its compiled code.
    { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } },
  );
  return { status, stderr, stdout };
}

describe.skipIf(process.platform === 'win32')('standard output (skipped where there is no sh)', () => {
  it.each([
    ['a longer file', ['cat', 'long'], 1_500],
    ['the help', ['--help'], undefined],
  ] as const)(
    'on a disk with room for 1 KiB makes %s end with 1 and an error',
    (_what, parameters, bytes) => {
      if (bytes !== undefined) writeFileSync(join(folder, 'long'), 'x'.repeat(bytes));
      const { status, stderr } = inShell('ulimit -f 2; "$@" > out', ...parameters);
      expect(readFileSync(join(folder, 'out')).length).toBe(1_024);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^dray: Standard output cannot be written: EFBIG: .*\.\n$/),
      });
    },
  );

  it('to a file on a disk with room is complete', () => {
    writeFileSync(join(folder, 'long'), 'x'.repeat(300_000));
    expect(inShell('"$@" > out', 'cat', 'long')).toEqual({ status: 0, stderr: '', stdout: '' });
    expect(readFileSync(join(folder, 'out')).equals(readFileSync(join(folder, 'long')))).toBe(true);
  });

  it('to the null device succeeds', () => {
    expect(inShell(`"$@" > ${devNull}`, '--help')).toEqual({ status: 0, stderr: '', stdout: '' });
  });

  it('to a late reader is complete even when it is longer than a pipe holds', () => {
    const program = buildProgram({ environment: {}, exit: () => {}, exitCode: 0 });
    const script = formatCompletionScript(program, 'fish');
    expect(script.length).toBeGreaterThan(64 * 1024);
    const { status, stdout } = inShell('"$@" | { sleep 1; cat; }', 'completion', 'fish');
    expect([status, stdout === script]).toEqual([0, true]);
  });
});
