/** The package as users get it: built, packed, installed into an empty folder, and run. */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startVersitygw } from '../../e2e/servers/versitygw.ts';
import { askOnce, openLink } from '../web/ask-once.fixture.ts';
import { APART } from './command-bundle.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MIB = 1024 * 1024;

let folder: string;
let home: string;

/** Puts the Node that runs this test first: the one on the PATH may be too old for Dray. */
const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  npm_config_update_notifier: 'false',
};

function run(command: string, parameters: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, parameters, {
    cwd,
    env: environment,
    encoding: 'utf8',
  });
  expect(status, `${command} ${parameters.join(' ')}: ${error?.message ?? ''}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** The command that npm linked. */
const bin = () => join(home, 'node_modules/.bin/dray');
const dray = (...parameters: string[]) => run(bin(), parameters, home);

const command = () => join(home, 'node_modules/dray/dist/dray.js');

/** Starts a command that runs until it is stopped and prints its address first. */
async function startCommand(env: NodeJS.ProcessEnv, ...parameters: string[]) {
  const child = spawn(process.execPath, [command(), ...parameters], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(() => ['{}'])]);
  const ready: { readonly url: string } = JSON.parse(String(line));
  return { ready, [Symbol.asyncDispose]: stop };
}

/** Packs the build that `npm test` has just made. Without one, `npm pack` builds first, as for a release. */
function pack(): void {
  const parameters = ['pack', '--pack-destination', folder];
  if (process.env.DRAY_TEST_COMMAND === undefined) return void run('npm', parameters, ROOT);
  const shrinkwrap = join(ROOT, 'app/build/shrinkwrap.ts');
  run(process.execPath, [shrinkwrap], ROOT);
  try {
    run('npm', [...parameters, '--ignore-scripts'], ROOT);
  } finally {
    run(process.execPath, [shrinkwrap, '--remove'], ROOT);
  }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-pack-'));
  home = join(folder, 'home');
  mkdirSync(home);
  pack();
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  writeFileSync(join(home, 'package.json'), '{"private": true}');
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, tarball!)], home);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('The packed command', () => {
  it('answers --help and --version', () => {
    expect(run('npx', ['--no-install', 'dray', '--help'], home)).toContain('Usage: dray');
    expect(dray('--version')).toMatch(/^dray \d+\.\d+\.\d+\n$/);
  });

  it('installs only itself and the native packages, in the locked versions', () => {
    const namesIn = (path: string) => readdirSync(join(home, path)).filter((name) => !name.startsWith('.'));
    const inside = 'node_modules/dray/node_modules';
    const isNested = existsSync(join(home, inside));
    // node-addon-api is headers that better-sqlite3 names; @koromix holds koffi's binary for this system.
    const native = ['@koromix', 'better-sqlite3', 'koffi', 'node-addon-api'];
    expect([...namesIn('node_modules'), ...(isNested ? namesIn(inside) : [])].sort()).toEqual(
      [...native, 'dray'].sort(),
    );
    const { packages } = JSON.parse(
      readFileSync(join(home, 'node_modules/dray/npm-shrinkwrap.json'), 'utf8'),
    );
    for (const name of ['better-sqlite3', 'koffi', 'node-addon-api']) {
      const manifest = join(home, isNested ? inside : 'node_modules', name, 'package.json');
      expect(JSON.parse(readFileSync(manifest, 'utf8')).version).toBe(
        packages[`node_modules/${name}`].version,
      );
    }
    // In this project, npm would use it instead of package-lock.json.
    expect(existsSync(join(ROOT, 'npm-shrinkwrap.json'))).toBe(false);
  });

  it('names the packages of Temporal as optional: only a fleet needs them', () => {
    const { status, stderr } = spawnSync(bin(), ['fleet', 'list'], {
      cwd: home,
      env: environment,
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toContain('dray fleet needs the packages of Temporal');
    expect(stderr).toContain('@temporalio/worker@1.24.0');
  });

  it('contains the licences of bundled code, and no sources or tests', () => {
    const inside = join(home, 'node_modules/dray');
    expect(readFileSync(join(inside, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')).toContain('commander');
    const names = readdirSync(inside, { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => /\.ts$/.test(name))).toEqual([]);
    // The window is served by `dray ui`; the desktop app has packages of its own.
    expect(names).toContain(join('dist', 'window', 'index.html'));
    expect(names.filter((name) => /desktop|packages|\.tmp$/.test(name))).toEqual([]);
  });

  it('creates a workspace, pushes and clones it', () => {
    const data = join(folder, 'data');
    const clone = join(folder, 'clone');
    mkdirSync(data);
    writeFileSync(join(data, 'small.txt'), 'small\n');
    const large = Buffer.alloc(70 * MIB, 'a large file is cut into chunks ');
    writeFileSync(join(data, 'large.bin'), large);
    const remote = pathToFileURL(join(folder, 'remote')).href;
    dray('-C', data, 'init', '--remote', remote);
    expect(dray('-C', data, 'push', '-m', 'first')).toContain('2 added');
    expect(dray('-C', data, 'push')).toContain('Nothing to push');
    dray('clone', remote, clone);
    expect(readFileSync(join(clone, 'small.txt'), 'utf8')).toBe('small\n');
    expect(readFileSync(join(clone, 'large.bin')).equals(large)).toBe(true);
    expect(statSync(join(clone, '.dray')).isDirectory()).toBe(true);
    expect(existsSync(join(folder, 'remote', 'dray.json'))).toBe(true);
  });

  it('updates a file by its blocks, and measures a file', () => {
    const [source, target] = [join(folder, 'new.bin'), join(folder, 'old.bin')];
    writeFileSync(source, Buffer.alloc(3 * MIB, 'the new content of a file '));
    writeFileSync(target, Buffer.alloc(2 * MIB, 'the old content of a file '));
    dray('delta', source, target);
    expect(readFileSync(target).equals(readFileSync(source))).toBe(true);
    expect(dray('delta', source, target, '--benchmark', '2', '--json')).toContain('"exitCode":0');
  });

  it('keeps each large package in a file of its own, with all its exports', async () => {
    for (const [file, name] of Object.entries(APART)) {
      const [bundled, original] = await Promise.all([
        import(pathToFileURL(join(home, 'node_modules/dray/dist', `${file}.js`)).href),
        import(name),
      ]);
      const names = Object.keys(original).filter((key) => !['default', 'module.exports'].includes(key));
      const missing = names.filter((key) => !(key in bundled));
      expect({ name, missing }).toEqual({ name, missing: [] });
    }
  });

  it('serves a folder with its own certificate, and reaches it by TLS', async () => {
    const [offered, source, tokenFile] = ['offered', 'sent', 'token'].map((name) => join(folder, name));
    for (const path of [offered!, source!]) mkdirSync(path);
    writeFileSync(join(source!, 'a.txt'), 'sent by TLS\n');
    writeFileSync(tokenFile!, 'a-token-of-this-test-alone', { mode: 0o600 });
    const env = { ...environment, HOME: home, DRAY_TOKEN_FILE: tokenFile };
    await using server = await startCommand(
      env,
      'serve',
      offered!,
      '--listen',
      '127.0.0.1:0',
      '--token-file',
      tokenFile!,
      '--json',
    );
    const place = `dray://127.0.0.1:${new URL(server.ready.url).port}`;
    await promisify(execFile)(process.execPath, [command(), 'copy', source!, place, '--trust-new-peer'], {
      env,
    });
    expect(readFileSync(join(offered!, 'a.txt'), 'utf8')).toBe('sent by TLS\n');
  });

  it('serves its window, and its engine over a WebSocket', async () => {
    const env = { ...environment, HOME: home };
    await using server = await startCommand(env, 'ui', '--no-open', '--port', '0', '--json');
    const opened = await openLink(server.ready.url);
    const page = await fetch(opened.origin, { headers: { cookie: opened.cookie } });
    expect(await page.text()).toContain('<title>Dray</title>');
    const answer = await askOnce(opened);
    expect(answer).toEqual({ is: 'answer', id: 1, answer: { workspaces: [] } });
  });

  it('speaks S3 by our own calls and by those of the bundled SDK', async () => {
    await using server = await startVersitygw();
    const here = join(folder, 's3');
    mkdirSync(join(here, 'data'), { recursive: true });
    writeFileSync(join(here, 'data/small.txt'), 'small\n');
    writeFileSync(join(here, 'data/middle.bin'), Buffer.alloc(9 * MIB, 'middle'));
    const remote = `s3://${server.bucket}/data`;
    const draySoon = async (...parameters: string[]) => {
      const { stdout } = await promisify(execFile)(bin(), parameters, {
        cwd: home,
        env: { ...environment, ...server.environment },
      });
      return stdout;
    };
    await draySoon('-C', join(here, 'data'), 'init', '--remote', remote);
    expect(await draySoon('-C', join(here, 'data'), 'push')).toContain('2 added');
    await draySoon('clone', remote, join(here, 'clone'));
    expect(readFileSync(join(here, 'clone/middle.bin')).equals(Buffer.alloc(9 * MIB, 'middle'))).toBe(true);
    const copied = `s3://${server.bucket}/copied`;
    // A stream above one part goes through the bundled uploader.
    execFileSync(bin(), ['copy', '-', `${copied}/stream.bin`], {
      cwd: home,
      env: { ...environment, ...server.environment },
      input: Buffer.alloc(40 * MIB, 'stream'),
    });
    expect(await draySoon('ls', copied)).toContain('stream.bin');
    await draySoon('copy', join(here, 'data'), copied);
    // The SDK writes the request and reads the answer.
    expect(await draySoon('uploads', 'list', copied)).not.toContain('stream.bin');
    await draySoon('rm', '--recursive', copied);
    expect(await draySoon('ls', `s3://${server.bucket}/`)).not.toContain('copied');
  });
});
