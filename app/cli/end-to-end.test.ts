/** The command with the real engine on a `file:` remote: what a user sees, and every exit code. */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { type CliResult, runCli } from './run-cli.fixture.ts';

let base: string;
let data: string;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'dray-cli-'));
  data = join(base, 'data');
  mkdirSync(data);
  writeFileSync(join(data, 'a.txt'), 'a\n');
  writeFileSync(join(data, 'b.txt'), 'b\n');
  await succeed('init', 'data', '--remote', 'remote');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Runs in the folder that holds the workspaces `data` and `clone`. */
const dray = (...parameters: string[]): Promise<CliResult> => runCli(parameters, { cwd: base });

async function succeed(...parameters: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await dray(...parameters);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

describe('a day with dray', () => {
  it('stores a folder, shows what changed, and brings it back elsewhere', async () => {
    expect(await succeed('-C', 'data', 'push', '-m', 'first')).toMatch(
      /^Pushed 2 added, 4 B: main is at [0-9a-f]{10}\.\nSent 1 object, /,
    );
    expect(await succeed('-C', 'data', 'push')).toMatch(
      /^Nothing to push: main is at [0-9a-f]{10}\. 1 request\.\n$/,
    );
    appendFileSync(join(data, 'a.txt'), 'more\n');
    rmSync(join(data, 'b.txt'));
    writeFileSync(join(data, 'c.txt'), 'c\n');
    const status = await succeed('-C', 'data', 'status');
    expect(status.split('\n').slice(0, 3)).toEqual(['M a.txt', 'D b.txt', 'A c.txt']);
    expect(status).toMatch(/1 added, 1 modified, 1 deleted, 9 B\. Store it with "dray push"\.\n$/);
    await succeed('-C', 'data', 'push', '-m', 'second');
    expect(await succeed('-C', 'data', 'log')).toMatch(/second\n\ncommit [0-9a-f]{64}\n[\s\S]*first\n/);
    await succeed('clone', 'remote', 'clone');
    expect(readFileSync(join(base, 'clone/a.txt'), 'utf8')).toBe('a\nmore\n');
    expect(await succeed('-C', 'clone', 'verify', '--read-data')).toContain('Everything is there');
    expect(await succeed('-C', 'clone', 'ls')).toBe('a.txt\nc.txt\n');
  });

  longIt('shows a file of a commit, and what a restore would lose', async () => {
    await succeed('-C', 'data', 'push');
    await succeed('-C', 'data', 'tag', 'v1');
    appendFileSync(join(data, 'a.txt'), 'mine\n');
    expect(await succeed('-C', 'data', 'cat', 'a.txt', '--from', 'v1')).toBe('a\n');
    expect(await succeed('-C', 'data', 'cat', 'a.txt', '--from', '@', '--length', '1')).toBe('a');
    // `--from` lists another commit than the branch's.
    expect(await succeed('clone', 'remote', 'old', '--ref', 'v1')).toMatch(/: v1 at [0-9a-f]{10}\.\n/);
    expect(await succeed('-C', 'data', 'pull', 'v1')).toMatch(
      /^Up to date: this workspace is at [0-9a-f]{10}\. /,
    );
    expect(await succeed('-C', 'data', 'pull')).toMatch(/^Up to date: main is at [0-9a-f]{10}\. /);
    expect(await succeed('-C', 'data', 'restore', '.', '--from', 'v1', '-n')).toBe(
      'lost  a.txt\nWould restore 1 file, 2 B. 1 path changed here since the last push; those changes would be lost. Nothing was written.\n',
    );
    expect(readFileSync(join(data, 'a.txt'), 'utf8')).toBe('a\nmine\n');
    expect(await succeed('-C', 'data', 'ls', 'v1', '.')).toBe('a.txt\nb.txt\n');
  });

  it('clones a repository, keeps a second remote up to date, and clones from that mirror', async () => {
    await succeed('-C', 'data', 'push');
    await succeed('init', 'part', '--remote', 'remote');
    await succeed('-C', 'part', 'restore', 'b.txt', '--from', 'main');
    expect(readdirSync(join(base, 'part')).sort()).toEqual(['.dray', 'b.txt']);
    expect(await succeed('-C', 'part', 'push')).toMatch(/^Nothing to push/);

    mkdirSync(join(base, 'second'));
    await succeed('-C', 'data', 'remote', 'add', 'backup', join(base, 'second'));
    const first = await dray('-C', 'data', 'push', '--remote', 'backup');
    expect(first).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('A new repository was made'),
    });
    await succeed('clone', 'second', 'from-second');

    await succeed('sync', 'remote', 'mirror');
    await succeed('clone', 'mirror', 'from-mirror');
    expect(await succeed('-C', 'from-mirror', 'verify', '--read-data')).toContain('Everything is there');
    for (const clone of ['from-second', 'from-mirror'])
      expect(readFileSync(join(base, clone, 'b.txt'), 'utf8')).toBe('b\n');
  });

  longIt('moves between tags and branches', async () => {
    await succeed('-C', 'data', 'push');
    await succeed('-C', 'data', 'tag', 'v1');
    await succeed('-C', 'data', 'switch', '-c', 'other');
    appendFileSync(join(data, 'a.txt'), 'other\n');
    await succeed('-C', 'data', 'push');
    expect(await succeed('-C', 'data', 'branch')).toMatch(/^ {2}main {2}\w{10}\n\* other {2}\w{10}\n$/);
    expect(await succeed('-C', 'data', 'log', 'a.txt')).toContain('Path:   changed, ');
    const { stdout: json } = await dray('-C', 'data', 'log', '--json', 'v1', '--', 'a.txt');
    expect(json).toContain('"change":"added","sizeBytes":');
    await succeed('-C', 'data', 'switch', 'main');
    expect(readFileSync(join(data, 'a.txt'), 'utf8')).toBe('a\n');
    rmSync(join(data, 'b.txt'));
    await succeed('-C', 'data', 'restore', join(data, 'b.txt'), '--from', 'v1');
    expect(readFileSync(join(data, 'b.txt'), 'utf8')).toBe('b\n');
    const removed = await succeed('-C', 'data', 'tag', '--delete', 'v1');
    const [, again = ''] =
      /^The tag v1 was removed\. "dray (tag v1 [0-9a-f]{10})" makes it again\.\n$/.exec(removed) ?? [];
    expect(await succeed('-C', 'data', ...again.split(' '))).toBe('The tag v1 was created.\n');
    expect(await succeed('-C', 'data', 'tag', 'v1', '--rename', 'v2')).toBe('The tag v1 is now v2.\n');
    expect(await succeed('-C', 'data', 'switch', 'other', '-n')).toContain('Nothing was changed.');
  });

  it('explains how it finds out which objects the remote has', async () => {
    const stdout = await succeed('-C', 'data', 'push', '--explain');
    expect(stdout).toMatch(/^Which objects exist:\n {2}needed /);
    expect(stdout).toContain('  choice ');
  });
});

describe('exit codes', () => {
  it('3: differences were found, silently with -q', async () => {
    await succeed('-C', 'data', 'push');
    expect(await dray('-C', 'data', 'status', '--exit-code')).toMatchObject({ exitCode: 0 });
    writeFileSync(join(data, 'c.txt'), 'c\n');
    expect(await dray('-C', 'data', 'status', '--exit-code')).toMatchObject({ exitCode: 3 });
    expect(await dray('-C', 'data', 'status', '--exit-code', '-q')).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: '',
    });
    expect(await dray('-C', 'data', 'diff', '--exit-code', '-q')).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: '',
    });
  });

  // Other systems refuse such a file name.
  it.skipIf(process.platform !== 'linux')(
    '4: some files failed, the others were stored (Linux only)',
    async () => {
      writeFileSync(Buffer.concat([Buffer.from(`${data}/`), Buffer.from([0x62, 0xff])]), 'no UTF-8 name');
      const { exitCode, stdout, stderr } = await dray('-C', 'data', 'push');
      expect(exitCode).toBe(4);
      expect(stdout).toContain('Pushed 2 added');
      expect(stderr).toMatch(/^dray: .*UTF-8/);
      const json = await dray('-C', 'data', 'push', '--json');
      expect(json.stdout).toContain('"type":"fileFailed"');
      expect(json).toMatchObject({ exitCode: 4, stderr: '' });
    },
  );

  it('5: both sides changed the same file; --theirs decides', async () => {
    await succeed('-C', 'data', 'push');
    await succeed('clone', 'remote', 'clone');
    writeFileSync(join(base, 'clone/a.txt'), 'theirs\n');
    await succeed('-C', 'clone', 'push');
    writeFileSync(join(data, 'a.txt'), 'ours\n');
    const { exitCode, stdout, stderr } = await dray('-C', 'data', 'pull');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 5,
      stdout: 'C a.txt  (modified here, modified there)\n',
    });
    expect(stderr).toMatch(/^dray: .*--theirs/);
    expect(readFileSync(join(data, 'a.txt'), 'utf8')).toBe('ours\n');
    await succeed('-C', 'data', 'pull', '--theirs');
    expect(readFileSync(join(data, 'a.txt'), 'utf8')).toBe('theirs\n');
  });

  it('1: an object is missing on the remote', async () => {
    await succeed('-C', 'data', 'push');
    rmSync(join(base, 'remote/packs'), { recursive: true, force: true });
    rmSync(join(base, 'remote/objects'), { recursive: true, force: true });
    const { exitCode, stdout } = await dray('-C', 'data', 'verify');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/[1-9]\d* missing/);
  });

  it('2: the folder is not a workspace', async () => {
    const { exitCode, stderr } = await dray('status');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^dray: .* is not in a workspace/);
  });
});

describe('output for scripts', () => {
  it('is empty on standard output for a setting without a value', async () => {
    const unset = { exitCode: 0, stdout: '', stderr: 'Not set.\n' };
    expect(await dray('-C', 'data', 'config', 'author')).toEqual(unset);
    await succeed('-C', 'data', 'config', 'author', 'Ada');
    expect(await succeed('-C', 'data', 'config', 'author')).toBe('Ada\n');
  });

  it("includes a server's token with --quiet, since nothing else prints it", async () => {
    const { exitCode, stdout } = await runCli(['serve', data, '--listen', '127.0.0.1:0', '--quiet'], {
      onStarted: (child) => {
        let output = '';
        child.stdout!.on('data', (text) => {
          output += text;
          // A minute at most, in case the token is never printed.
          if (output.includes('export DRAY_TOKEN=')) child.kill('SIGTERM');
        });
        setTimeout(() => child.kill('SIGTERM'), 60_000).unref();
      },
    });
    expect(stdout).toMatch(/^Serving .* at dray:\/\/127\.0\.0\.1:\d+\n.*\n {2}export DRAY_TOKEN=\S{20,}\n$/);
    expect(exitCode).toBe(0);
  });
});

describe('--json', () => {
  it('gives every event and a summary, each an object on its line', async () => {
    const lines = (await succeed('-C', 'data', 'push', '--json'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.every((line) => typeof line.type === 'string')).toBe(true);
    expect(lines.at(-1)).toMatchObject({
      type: 'summary',
      command: 'push',
      exitCode: 0,
      result: 'pushed',
      branch: 'main',
    });
    expect(lines.filter((line) => line.type === 'summary')).toHaveLength(1);
  });

  it('has no lines for people with --json', async () => {
    await succeed('-C', 'data', 'push');
    const [setting] = (await succeed('-C', 'data', 'config', '--json')).split('\n');
    expect(JSON.parse(setting!)).toEqual({ type: 'setting', name: 'remote.default', value: 'origin' });
  });
});
