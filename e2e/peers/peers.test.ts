/**
 * Folders served to other machines: the real command against a server in this process, and the files that
 * result.
 */
import { createCipheriv } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { SHORT_PAUSES } from '../../app/cli/short-pauses.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;

let sandbox: Sandbox;
let server: PeerServer;
let place: string;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  server = await serve({});
  place = plainPlace(server.address.port);
});
afterEach(async () => {
  await server?.close();
  sandbox?.[Symbol.dispose]();
});

const at = (path: string) => plainPlace(server.address.port, path);

function serve({
  isReadOnly = false,
  port = 0,
}: {
  readonly isReadOnly?: boolean;
  readonly port?: number;
}): Promise<PeerServer> {
  return serveForTest(sandbox.path('offered'), { port, isReadOnly });
}

const run = (parameters: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runCli(parameters, {
    cwd: sandbox.folder,
    environment: { DRAY_TOKEN: TEST_TOKEN, XDG_CACHE_HOME: sandbox.path('cache'), ...more },
  });

function noise(sizeBytes: number, seed: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16)).update(
    Buffer.alloc(sizeBytes),
  );
}

/** Writes small and large files, nested, with modes and times, links and an empty folder. */
function plantTree(): void {
  for (let index = 0; index < runBudget({ short: 200, long: 600 }); index += 1)
    sandbox.write(`source/many/${index % 7}/${index}.txt`, `file ${index}`);
  sandbox.write('source/middle.bin', noise(3 * MIB, 1));
  sandbox.write('source/large.bin', noise(runBudget({ short: 18, long: 40 }) * MIB + 7, 2));
  sandbox.write('source/empty.bin', '');
  sandbox.write('source/strange \u00e4 %41 #?&+.txt', 'a name');
  sandbox.write('source/run.sh', '#!/bin/sh\n');
  chmodSync(sandbox.path('source/run.sh'), 0o750);
  chmodSync(sandbox.path('source/large.bin'), 0o600);
  mkdirSync(sandbox.path('source/nothing/inside'), { recursive: true });
  symlinkSync('../middle.bin', sandbox.path('source/many/link'));
  symlinkSync('/etc/passwd', sandbox.path('source/out'));
  utimesSync(sandbox.path('source/middle.bin'), 1_500_000_000.25, 1_400_000_000.123_456);
}

/** Describes a tree for comparison, without the times of folders. */
function snapshot(root: string): string[] {
  const lines: string[] = [];
  const walk = (below: string) => {
    const names = readdirSync(join(root, below)).filter((name) => name !== '.dray-tmp');
    if (names.length === 0 && below !== '') lines.push(`${below}/`);
    for (const name of names) {
      const path = below === '' ? name : `${below}/${name}`;
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) walk(path);
      else if (stat.isSymbolicLink()) lines.push(`${path} -> ${readlinkSync(join(root, path))}`);
      else {
        const content = readFileSync(join(root, path)).toString('base64');
        lines.push(`${path} ${(stat.mode & 0o7777).toString(8)} ${stat.mtimeMs.toFixed(3)} ${content}`);
      }
    }
  };
  walk('');
  return lines.sort();
}

describe('A tree', () => {
  it('keeps all attributes to a peer and back, and a second run sends nothing', async () => {
    plantTree();
    expect(await run(['copy', 'source', at('tree')])).toMatchObject({ exitCode: 0 });
    expect(snapshot(sandbox.path('offered/tree'))).toEqual(snapshot(sandbox.path('source')));
    const again = await run(['copy', 'source', at('tree'), '--json']);
    expect(JSON.parse(again.stdout.trim().split('\n').at(-1)!)).toMatchObject({
      result: 'upToDate',
      requests: { total: 1 },
    });
    expect(await run(['copy', at('tree'), 'back'])).toMatchObject({ exitCode: 0 });
    expect(snapshot(sandbox.path('back'))).toEqual(snapshot(sandbox.path('source')));
    expect(await run(['check', 'source', at('tree')])).toMatchObject({ exitCode: 0 });
  });

  longIt('is made equal by a sync in both directions, including links and empty folders', async () => {
    plantTree();
    await run(['copy', 'source', place]);
    rmSync(sandbox.path('source/many/link'), { recursive: true });
    rmSync(sandbox.path('source/nothing'), { recursive: true });
    rmSync(sandbox.path('source/many/3'), { recursive: true });
    sandbox.write('source/many/new.txt', 'new');
    symlinkSync('elsewhere', sandbox.path('source/many/link'));
    expect(await run(['sync', 'source', place])).toMatchObject({ exitCode: 0 });
    expect(snapshot(sandbox.path('offered'))).toEqual(snapshot(sandbox.path('source')));
    sandbox.write('other/extra.txt', 'goes');
    expect(await run(['sync', place, 'other', '--max-delete', '100%'])).toMatchObject({ exitCode: 0 });
    expect(snapshot(sandbox.path('other'))).toEqual(snapshot(sandbox.path('source')));
  });

  longIt('keeps its files from a peer to a bucket and on to another peer', async () => {
    const bucket = await startVersitygw();
    onTestFinished(() => bucket.stop());
    plantTree();
    const environment = { ...bucket.environment };
    await run(['copy', 'source', at('tree')]);
    const toBucket = await run(['copy', at('tree'), `s3://${bucket.bucket}/tree`], environment);
    expect(toBucket).toMatchObject({ exitCode: 0 });
    const back = await run(['copy', `s3://${bucket.bucket}/tree`, at('again')], environment);
    expect(back).toMatchObject({ exitCode: 0 });
    expect(await run(['copy', at('again'), at('third')])).toMatchObject({ exitCode: 0 });
    const files = (folder: string) =>
      snapshot(sandbox.path(folder))
        .filter((line) => !line.includes(' -> ') && !line.endsWith('/'))
        .map((line) => line.replace(/^(\S+(?: \S+)*) [0-7]+ (\S+ \S*)$/, '$1 $2'));
    expect(files('offered/third')).toEqual(files('source'));
  });
});

describe('The places of a peer', () => {
  it('are listed, summed, read and removed', async () => {
    sandbox.write('offered/a/one.txt', 'one');
    sandbox.write('offered/a/b/two.txt', 'twotwo');
    expect((await run(['ls', at('a')])).stdout).toMatch(/b\/[\s\S]*one\.txt/);
    expect((await run(['du', place])).stdout).toContain('9 B');
    expect(await run(['cat', at('a/b/two.txt')])).toMatchObject({ exitCode: 0, stdout: 'twotwo' });
    expect(await run(['rm', at('a/one.txt')])).toMatchObject({ exitCode: 0 });
    expect(existsSync(sandbox.path('offered/a/one.txt'))).toBe(false);
    expect(await run(['ls', at('nowhere')])).toMatchObject({ exitCode: 1 });
  });

  it('hold a repository that clients push to and clone', async () => {
    plantTree();
    const source = ['-C', sandbox.path('source')];
    expect(await run([...source, 'init', '--remote', at('repository')])).toMatchObject({ exitCode: 0 });
    const named = { DRAY_TOKEN_HOST: place };
    expect(await run([...source, 'push', '-m', 'first'], named)).toMatchObject({ exitCode: 0 });
    expect(await run(['clone', at('repository'), 'clone'])).toMatchObject({ exitCode: 0 });
    const [cloned, source_] = ['clone', 'source'].map((name) =>
      readFileSync(sandbox.path(`${name}/large.bin`)),
    );
    expect(cloned?.equals(source_!)).toBe(true);
    const verify = ['-C', sandbox.path('clone'), 'verify', '--read-data'];
    expect(await run(verify, named)).toMatchObject({ exitCode: 0 });
  });
});

describe('A peer', () => {
  it('refuses a wrong or missing token and says so', async () => {
    expect(await run(['ls', place], { DRAY_TOKEN: 'wrong' })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The token is missing or wrong'),
    });
    expect(await run(['ls', place], { DRAY_TOKEN: '' })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('dray login'),
    });
  });

  it('that is read-only refuses a sync and keeps its files', async () => {
    sandbox.write('offered/kept.txt', 'kept');
    sandbox.write('source/kept.txt', 'other, and longer');
    await server.close();
    server = await serve({ isReadOnly: true });
    const readOnly = plainPlace(server.address.port);
    const refused = await run(['sync', 'source', readOnly]);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain('read-only');
    expect(readFileSync(sandbox.path('offered/kept.txt'), 'utf8')).toBe('kept');
    expect(await run(['copy', readOnly, 'back'])).toMatchObject({ exitCode: 0 });
  });

  longIt('that is read-only makes dry runs fail like the runs themselves', async () => {
    sandbox.write('offered/kept.txt', 'kept');
    sandbox.write('source/new.txt', 'new');
    await server.close();
    server = await serve({ isReadOnly: true });
    const readOnly = plainPlace(server.address.port);
    for (const command of [
      ['copy', 'source', readOnly],
      ['sync', 'source', readOnly],
      ['rm', at('kept.txt')],
      ['rm', '-r', readOnly],
      ['delta', 'source/new.txt', at('kept.txt')],
    ]) {
      const real = await run(command);
      const dry = await run([...command, '--dry-run']);
      expect([real.exitCode, dry.exitCode], command.join(' ')).toEqual([1, 1]);
      for (const { stderr, stdout } of [real, dry]) {
        expect(stderr).toContain('The peer is read-only');
        expect(stdout).not.toContain('Removed');
      }
      expect(dry.stderr, command.join(' ')).toContain(`dray://127.0.0.1:${server.address.port}`);
    }
    expect(await run(['copy', 'offered', readOnly, '-n'])).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('refuses to follow a link, and every command says so', async () => {
    sandbox.write('outside/secret', 'secret');
    symlinkSync(sandbox.path('outside'), sandbox.path('offered/out'));
    for (const command of [['ls'], ['cat'], ['du'], ['copy']])
      for (const path of ['out', 'out/secret'])
        expect(await run([...command, at(path), ...(command[0] === 'copy' ? ['here'] : [])])).toMatchObject({
          exitCode: 1,
          stderr: expect.stringContaining(`${path} is refused: it is a symbolic link or is behind one`),
        });
  });

  it('without TLS gets one request, and the error says what to write', async () => {
    const asked = place.replace('?tls=off', '');
    expect(await run(['ls', asked])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^dray: [^\n]* does not use TLS .*\?tls=off if you trust the network[^\n]*\n$/,
      ),
    });
  });

  it('that is down is named in the error', async () => {
    await server.close();
    expect(await run(['ls', place], SHORT_PAUSES)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`127.0.0.1:${server.address.port} cannot be reached`),
    });
  });

  it('gets its token from the file that a named remote gives', async () => {
    sandbox.write('offered/a', 'content');
    sandbox.write('token', `${TEST_TOKEN}\n`);
    const none = { DRAY_TOKEN: '', DRAY_CONFIG: sandbox.path('config.json') };
    expect(await run(['ls', place], none)).toMatchObject({ exitCode: 1 });
    const url = `${place}&tokenFile=${sandbox.path('token')}`;
    expect(await run(['remote', 'add', '--user', 'nas', url], none)).toMatchObject({ exitCode: 0 });
    expect(await run(['cat', 'nas:a'], none)).toMatchObject({ exitCode: 0, stdout: 'content' });
  });
});
