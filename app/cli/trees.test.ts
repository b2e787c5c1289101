/** Plain trees from the command line, between local places: what a user sees, and the exit codes. */

import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND } from './command.fixture.ts';
import { type CliResult, runCli } from './run-cli.fixture.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'dray-trees-'));
  write('photos/a.jpg', 'a');
  write('photos/b.txt', 'bb');
  write('photos/sub/c.jpg', 'ccc');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), content);
}

const environment = () => ({ DRAY_CACHE: join(base, 'cache'), DRAY_CONFIG: join(base, 'config.json') });
const dray = (...parameters: string[]): Promise<CliResult> =>
  runCli(parameters, { cwd: base, environment: environment() });

async function succeed(...parameters: string[]): Promise<string> {
  const { exitCode, stderr, stdout } = await dray(...parameters);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

describe('copy and sync', () => {
  it('list in a dry run what they then do, and find nothing to do after that', async () => {
    expect(await succeed('copy', 'photos', 'copy', '--dry-run')).toBe(
      'A a.jpg\nA b.txt\nA sub/c.jpg\nWould copy 3 files (6 B) to copy. Nothing was changed.\n',
    );
    expect(existsSync(join(base, 'copy'))).toBe(false);
    expect(await succeed('copy', 'photos', 'copy')).toMatch(
      /^Copied 3 files \(6 B\) to copy\.\nMoved 6 B in [^,]*\.\n$/,
    );
    expect(readFileSync(join(base, 'copy/sub/c.jpg'), 'utf8')).toBe('ccc');
    expect(await succeed('copy', 'photos', 'copy')).toBe('Nothing to do: 3 files at copy are the same.\n');
    appendFileSync(join(base, 'photos/a.jpg'), 'more');
    write('copy/extra', 'x');
    expect(await succeed('sync', 'photos', 'copy', '-v')).toMatch(
      /^M a\.jpg\nD extra\nCopied 1 file \(5 B\) to copy, deleted 1 file there\. 2 unchanged\.\n/,
    );
    expect(existsSync(join(base, 'copy/extra'))).toBe(false);
  });

  it('copy only what the filter includes', async () => {
    expect(await succeed('copy', 'photos', 'copy', '--include', '*.jpg', '-n')).toMatch(
      /^A a\.jpg\nA sub\/c\.jpg\nW/,
    );
    write('list', 'sub/c.jpg\n');
    expect(await succeed('copy', 'photos', 'copy', '--files-from', 'list', '-n')).toMatch(
      /^A sub\/c\.jpg\nW/,
    );
  });

  it('end a dry run like the real run when too much would be deleted', async () => {
    for (const name of ['x', 'y']) write(`copy/${name}`, name);
    const sync = ['sync', 'photos', 'copy', '--max-delete', '1'];
    const dry = await dray(...sync, '--dry-run');
    expect(dry).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('would delete 2 of 2 files'),
      stdout: expect.stringContaining(
        'Without --dry-run this command would stop. The warning above says why.',
      ),
    });
    expect((await dray(...sync)).exitCode).toBe(1);
    expect(existsSync(join(base, 'copy/x'))).toBe(true);
  });

  it('copy one file under its own name into a folder, and otherwise under the new name', async () => {
    await succeed('copy', 'photos/a.jpg', 'one/');
    await succeed('copy', 'photos/a.jpg', 'two/new.jpg');
    expect(readFileSync(join(base, 'one/a.jpg'), 'utf8')).toBe('a');
    expect(readFileSync(join(base, 'two/new.jpg'), 'utf8')).toBe('a');
  });

  it('explain how the destination was searched', async () => {
    expect(await succeed('copy', 'photos', 'copy', '--explain', '-n')).toContain(
      'How the destination was searched:\n  source ',
    );
  });

  it('go between named remotes of the user', async () => {
    await succeed('remote', 'add', '--user', 'disk', 'store');
    expect(await succeed('remote', 'list', '--user')).toBe(`  disk  file://${base}/store\n`);
    await succeed('copy', 'photos', 'disk:photos');
    expect(readFileSync(join(base, 'store/photos/b.txt'), 'utf8')).toBe('bb');
    expect(await succeed('ls', 'disk:photos')).toBe('a.jpg\nb.txt\nsub/\n');
    await succeed('remote', 'remove', '--user', 'disk');
    expect(await dray('ls', 'disk:photos')).toMatchObject({ exitCode: 2 });
  });

  it('end with 1 for a missing source and with 2 for overlapping places, and change nothing', async () => {
    expect(await dray('copy', 'absent', 'copy')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^dray: The source absent does not exist/),
    });
    expect(await dray('sync', 'photos', 'photos/inside')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/lies inside/),
    });
    expect(existsSync(join(base, 'copy'))).toBe(false);
    expect(existsSync(join(base, 'photos/inside'))).toBe(false);
  });

  it('end with 4 when a file failed, and name it', async () => {
    await succeed('copy', 'photos', 'copy');
    appendFileSync(join(base, 'photos/a.jpg'), 'more');
    const { exitCode, stderr, stdout } = await dray('copy', 'photos', 'copy', '--immutable');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 4,
      stdout: 'Nothing was copied to copy. 2 unchanged, 1 failed.\n',
    });
    expect(stderr).toMatch(/^dray: .*a\.jpg/);
    expect(readFileSync(join(base, 'copy/a.jpg'), 'utf8')).toBe('a');
  });

  it('print every change and a summary as JSON', async () => {
    const lines = (await succeed('copy', 'photos', 'copy', '--json'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ type }) => type === 'change')).toHaveLength(3);
    expect(lines.at(-1)).toMatchObject({
      type: 'summary',
      command: 'copy',
      exitCode: 0,
      result: 'copied',
      copiedFiles: 3,
    });
  });
});

describe('check', () => {
  beforeEach(() => succeed('copy', 'photos', 'copy'));

  it('reports that both sides are equal, and with -v how each file was compared', async () => {
    expect(await succeed('check', 'photos', 'copy')).toMatch(/^photos and copy hold the same 3 files; /);
    expect((await succeed('check', 'photos', 'copy', '-v')).split('\n').slice(0, 3).sort()).toEqual([
      'same  a.jpg  (content read on both sides)',
      'same  b.txt  (content read on both sides)',
      'same  sub/c.jpg  (content read on both sides)',
    ]);
  });

  it('ends with 3 and names what differs', async () => {
    write('copy/a.jpg', 'z');
    write('copy/extra', 'x');
    rmSync(join(base, 'copy/b.txt'));
    const { exitCode, stdout } = await dray('check', 'photos', 'copy', '--report', 'report.json');
    expect(exitCode).toBe(3);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.slice(0, -1).sort()).toEqual([
      'DIFFERS  a.jpg  (content read on both sides, first at byte 0)',
      'only in destination  extra  (name)',
      'only in source  b.txt  (name)',
    ]);
    expect(lines.at(-1)).toMatch(
      /1 file differs, 1 only in the source, 1 only in the destination; 1 the same/,
    );
    expect(JSON.parse(readFileSync(join(base, 'report.json'), 'utf8'))).toBeTypeOf('object');
  });
});

describe('ls, du and cat of a local place', () => {
  it('list one level or all, with sizes and times', async () => {
    expect(await succeed('ls', './photos')).toBe('a.jpg\nb.txt\nsub/\n');
    expect(await succeed('ls', './photos', '-r')).toBe('a.jpg\nb.txt\nsub/c.jpg\n');
    expect(await succeed('ls', './photos', '-l')).toMatch(
      /^- {8}1 B {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}a\.jpg\n(?:.*\n)+d {34}sub\/\n3 entries, 3 B at \.\/photos\.\n$/,
    );
  });

  it('add up sizes per folder', async () => {
    expect(await succeed('du', 'photos')).toBe(
      '      3 B          1  sub/\n      6 B          3  .\n3 files, 6 B at photos.\n',
    );
    expect(await succeed('du', 'photos', '-q', '-d', '0')).toBe('      6 B          3  .\n');
  });

  it('write content, whole or a part of it, and nothing else', async () => {
    expect(await succeed('cat', 'photos/sub/c.jpg')).toBe('ccc');
    write('digits', '0123456789');
    expect(await succeed('cat', 'digits', '--offset', '3', '--length', '4')).toBe('3456');
    expect(await succeed('copy', 'digits', '-')).toBe('0123456789');
    for (const command of [
      ['cat', 'digits'],
      ['copy', 'digits', '-'],
    ]) {
      expect(await dray(...command, '--json')).toMatchObject({
        exitCode: 2,
        stdout: expect.stringMatching(new RegExp(`"command":"${command[0]}".*"code":"usage"`)),
      });
    }
  });

  it.skipIf(process.platform === 'win32')(
    'end quietly when their reader goes away (no such signal on Windows)',
    async () => {
      write('big', 'x'.repeat(8 * 1024 * 1024));
      const child = spawn(process.execPath, [COMMAND, 'cat', 'big'], {
        cwd: base,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let problems = '';
      child.stderr.on('data', (text) => {
        problems += text;
      });
      child.stdout.once('data', () => child.stdout.destroy());
      const exitCode = await new Promise((resolve) => child.on('close', resolve));
      expect({ exitCode, problems }).toEqual({ exitCode: 141, problems: '' });
    },
  );

  it('end with 1 and an error when nothing is there', async () => {
    for (const command of [
      ['ls', './absent'],
      ['du', 'absent'],
      ['cat', 'absent'],
    ]) {
      const { exitCode, stderr } = await dray(...command);
      expect({ command, exitCode }).toEqual({ command, exitCode: 1 });
      expect(stderr).toMatch(/^dray: .*absent/);
    }
  });
});
