/**
 * The built library in the real Electron: in its main process, in a thread of that, and in a utility process.
 * Without Electron these steps run only in Node, with a file system that refuses archives as Electron's does.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { ownCertificate } from '../../engine/peer/peer-own-certificate.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { type FakeS3, startFakeS3 } from '../servers/fake-s3.ts';
import { findElectron } from './find-electron.ts';
import { EXPECTED, prepareLibraryTask } from './library-task.ts';
import { ANSWER, type LibraryTask } from './use-library.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const program = findElectron();
if (program === undefined)
  console.warn(
    'The library was NOT tested in the real Electron: neither ELECTRON_PATH nor node_modules has it.',
  );

let folder: string;
let store: FakeS3;
let peer: PeerServer;
let stores: readonly string[];
let environment: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dray-electron-library-'));
  store = await startFakeS3();
  await mkdir(join(folder, 'served'));
  const tls = await ownCertificate(join(folder, 'server'), 'there');
  peer = await serveForTest(join(folder, 'served'), { tls });
  stores = [`s3://${store.bucket}/`, `dray://127.0.0.1:${peer.address.port}/`];
  environment = {
    ...store.environment,
    DRAY_AUTHOR: 'tester',
    DRAY_CACHE: join(folder, 'cache'),
    DRAY_CONFIG: join(folder, 'config.json'),
    DRAY_PASSWORD: 'secret',
    DRAY_TOKEN: TEST_TOKEN,
    DRAY_TOKEN_HOST: `127.0.0.1:${peer.address.port}`,
  };
  await buildApp();
});
afterAll(async () => {
  await store?.[Symbol.asyncDispose]();
  await peer?.close();
  await rm(folder, { recursive: true, force: true });
});

/** An app of Electron's in `folder`. */
async function buildApp(): Promise<void> {
  await build({
    absWorkingDir: HERE,
    entryPoints: ['library-main.ts', 'library-process.ts', 'electron-files.ts'],
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    external: ['electron'],
  });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', main: 'library-main.js' }));
}

async function prepare(name: string): Promise<LibraryTask> {
  await mkdir(join(folder, name));
  return prepareLibraryTask(join(folder, name), { environment, stores });
}

/** Ends the test with what a program printed when it fails. */
async function start(command: string, parameters: readonly string[], more: Record<string, string>) {
  const { ELECTRON_RUN_AS_NODE: _none, ...inherited } = process.env;
  const env = { ...inherited, ...environment, ...more };
  await promisify(execFile)(command, parameters, { env, maxBuffer: 10 ** 7 });
}

async function answerOf(task: LibraryTask): Promise<unknown> {
  return JSON.parse(await readFile(join(task.folder, ANSWER), 'utf8'));
}

describe('The library', () => {
  it('takes archives of Electron as files, where Electron does not', async () => {
    const task = await prepare('node');
    const script = join(folder, 'library-process.js');
    const parameters = ['--import', join(folder, 'electron-files.js'), script];
    await start(process.execPath, parameters, { DRAY_LIBRARY_TASK: JSON.stringify(task) });
    expect(await answerOf(task)).toEqual(EXPECTED);
  });
});

describe.runIf(program !== undefined)('The library in Electron', () => {
  it('works in the main process, in a thread and in a utility process', async () => {
    const tasks = {
      main: await prepare('main'),
      thread: await prepare('thread'),
      utility: await prepare('utility'),
    };
    // Chromium's sandbox needs rights that containers seldom grant.
    const parameters = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), folder];
    await start(program!, parameters, { DRAY_LIBRARY_TASKS: JSON.stringify(tasks) });
    for (const task of Object.values(tasks)) expect(await answerOf(task)).toEqual(EXPECTED);
  });
});
