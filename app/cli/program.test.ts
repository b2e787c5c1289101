import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandHost } from './command-host.ts';
import { buildProgram, commandsNamed } from './program.ts';
import { runCli } from './run-cli.fixture.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-program-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...parameters: string[]) => runCli(parameters, { cwd: folder });

describe('an invalid command line', () => {
  it.each([
    [['psuh'], "dray: unknown command 'psuh'. Did you mean push?\n"],
    [['help', 'psuh'], "dray: unknown command 'psuh'. Did you mean push?\n"],
    [['help', 'nosuch'], 'dray: unknown command \'nosuch\'. "dray help" lists the commands.\n'],
    [['remote', 'delete'], 'dray: unknown command \'delete\'. "dray help" lists the commands.\n'],
    [['lsf', 'there'], 'dray: unknown command \'lsf\'. Use "dray ls -r".\n'],
    ...['mv', 'move'].map(
      (name) =>
        [
          [name, 'a', 'b'],
          `dray: unknown command '${name}'. Dray has no move. Use "dray copy", then "dray check", then "dray rm" on the source.\n`,
        ] as [string[], string],
    ),
    [['psuh', 'copy'], "dray: unknown command 'psuh'. Did you mean push?\n"],
    [['push', '--explan'], "dray: unknown option '--explan'. Did you mean --explain?\n"],
    [['remote', 'ad'], "dray: unknown command 'ad'. Did you mean add?\n"],
    [['clone'], "dray: missing required argument 'url'\n"],
    [['init'], "dray: required option '--remote <url>' not specified\n"],
    [['push', '--transfers', '0'], /whole number from 1 to 1024/],
    [['push', '--query', 'guess'], /Allowed choices are each, list, auto/],
    [['pull', '--ours', '--theirs'], /cannot be used with/],
    [['init', '--remote', 'file:///x', '--pack-below', 'much'], /512KiB, 64MiB or 0/],
    [['verify', '--read-data', 'main'], /Put a ref before --read-data/],
    [['verify', '--read-data=101'], /from 0 to 100/],
    [['verify', '--sample', 'main'], /Put a ref before --sample/],
    [['verify', '--sample=8/7'], /such as 3\/7/],
    [['verify', '--sample=0'], /such as 3\/7/],
    [['verify', '--sample', '--read-data'], /cannot be used with/],
    [['diff', 'a', 'b', 'c'], /too many arguments/],
    [['tag', '--delete'], /needs the name of a tag/],
    [['config', '--unset'], /takes a name and no value/],
    [['copy', 'a'], "dray: missing required argument 'destination'\n"],
    [['copy', 'a', 'b', '--checksum', '--size-only'], /cannot be used with/],
    [['copy', 'a', 'b', '--max-delete', '5'], /unknown option '--max-delete'/],
    [['sync', 'a', 'b', '--max-delete', '101%'], /a percentage such as 20%/],
    [['copy', 'a', 'b', '--bwlimit', '0'], /512K, 10M or 1\.5G/],
    [['copy', 'a', 'b', '--part-size', '1MiB'], /from 5MiB to 512MiB/],
    [['copy', 'a', 'b', '--metadata', 'owner'], /KEY=VALUE/],
    [['copy', 'a', 'b', '--newer', 'yesterday'], /7d, 12h or 30m/],
    [['copy', 'a', 'b', '--filter-from', 'nowhere'], /nowhere cannot be read \(ENOENT\)/],
    [['copy', 'a', 'b', '--files-from', '-'], /standard input/],
    [['ls', '.', '--include', '[a'], /pattern "\[a" is invalid/],
    [['sync', '-', 's3://bucket/a'], /"-" stands for one object/],
    [['copy', '-', '-'], /Only one side/],
    [['copy', '-', 's3://bucket/a/'], /does not name one/],
    [['copy', 'no:where', 'b'], /no remote "no"/],
    [['ls', 's3://bucket', 'path'], /takes no second argument/],
    [['ls', 'main', '--include', '*.jpg'], /Filters work on places/],
    [['cat', 's3://bucket/a/'], /not a file or object/],
    [['fleet', 'worker', '--metrics', 'nosuch:9464'], /ADDRESS:PORT with an IP address/],
    [['du', '.', '--depth', '-1'], /from 0 to 100/],
    [['rm', './a'], /is a local path/],
    [['uploads', 'list', '.'], /is a local path/],
    [['uploads', 'abort'], "dray: missing required argument 'place'\n"],
  ])('%j ends with exit code 2 and one line that says why', async (parameters, message) => {
    const { exitCode, stdout, stderr } = await run(...parameters);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    if (typeof message === 'string') expect(stderr).toBe(message);
    else expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is a record on stdout with --json', async () => {
    const { exitCode, stdout } = await run('psuh', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ type: 'error', code: 'usage', exitCode: 2 });
    expect(exitCode).toBe(2);
  });

  it('without a command prints the help on stderr', async () => {
    const { exitCode, stderr } = await run();
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^Usage: dray/);
  });
});

describe('help and version', () => {
  it('go to stdout with exit code 0', async () => {
    expect(await run('--version')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^dray \d+\.\d+\.\d+\n$/),
    });
    const help = await run('--help');
    expect(help).toMatchObject({ exitCode: 0, stderr: '' });
    expect(help.stdout).toContain('Exit codes:');
    expect(help.stdout).not.toContain('--client');
  });

  it('give every command a description and examples', async () => {
    const host: CommandHost = { environment: {}, exit: () => {}, exitCode: 0 };
    const program = buildProgram(host);
    const leaves = program.commands.flatMap((command) =>
      command.commands.length > 0 ? command.commands : [command],
    );
    expect(leaves).toHaveLength(79);
    for (const command of leaves) {
      let text = '';
      command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
      expect(text, command.name()).toMatch(/Examples:\n {2}\S/);
      expect(command.description(), command.name()).toMatch(/\.$/);
      expect(Math.max(...text.split('\n').map((line) => line.length)), command.name()).toBeLessThanOrEqual(
        110,
      );
    }
  });
});

describe('the commands that a command line may mean', () => {
  const host: CommandHost = { environment: {}, exit: () => {}, exitCode: 0 };
  const namesOf = (wanted?: ReadonlySet<string>) =>
    buildProgram(host, wanted).commands.map((command) => command.name());

  it('are found by every name that a command has', () => {
    const all = namesOf();
    expect(all).toHaveLength(43);
    for (const name of all) expect(namesOf(commandsNamed(['-C', 'folder', name, 'more']))).toContain(name);
  });

  it("are all commands whose names occur, since an option's value may look like a command", () => {
    expect(commandsNamed(['copy', '--backup-dir', 'rm', 'a', 'b'])).toEqual(new Set(['copy', 'rm']));
  });

  it('do not include the value of a global option: without a command, the help lists all commands', () => {
    expect(commandsNamed(['-C', 'push', 'status'])).toEqual(new Set(['status']));
    for (const option of ['-C', '--remote', '--profile', '--transfers', '--endpoint', '--region'])
      expect(commandsNamed([option, 'log']), option).toBeUndefined();
    expect(commandsNamed(['--json', 'log'])).toEqual(new Set(['log']));
  });

  it('are none for the version', () => {
    for (const option of ['--version', '-V']) expect(commandsNamed([option])).toEqual(new Set());
  });

  it('are all commands if the line names none, or asks for help or a completion script', () => {
    for (const line of [
      [],
      ['psuh'],
      ['help', 'push'],
      ['push', '--help'],
      ['copy', '-h'],
      ['completion', 'bash'],
    ])
      expect(commandsNamed(line), line.join(' ')).toBeUndefined();
  });
});
