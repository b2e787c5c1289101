/**
 * A tree whose folders have modes and times of their own, copied between real servers by real commands, as a
 * user for whom modes matter. `find` describes both ends, and rsync, where it is installed, has nothing left
 * to do.
 */

import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { findRsync } from '../../engine/jobs/delta/local-rsync.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { plainPlace } from '../../engine/peer/peer.fixture.ts';
import { findOrInstall } from '../servers/apt-package.ts';
import { type Serving, startServing, stopServing } from '../servers/dray-serve.ts';

const TOKEN = 'token-of-the-tests-that-is-long-enough';
const TIMEOUT_MS = 5 * 60_000;
const FOLDERS = 40;
/** No folder is read-only for the superuser, so these tests then run as nobody. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const runFile = promisify(execFile);
const rsync = await findOrInstall('rsync', () => findRsync({ environment: process.env }));
if (!rsync) console.error('No comparison with rsync: it is not installed, and cannot be installed here.');

let sandbox: Sandbox;
let servers: readonly Serving[];

beforeAll(async () => {
  sandbox = createSandbox();
  writeFileSync(sandbox.path('token'), TOKEN, { mode: 0o644 });
  for (const name of ['.', 'here', 'there', 'cache', 'home', 'local']) {
    mkdirSync(sandbox.path(name), { recursive: true });
    if (NOBODY.uid !== undefined) chownSync(sandbox.path(name), NOBODY.uid, NOBODY.gid);
  }
  chmodSync(sandbox.folder, 0o755);
  await asUser('sh', ['-c', PLANT], 'here');
  servers = await Promise.all([serve('here'), serve('there')]);
}, TIMEOUT_MS);
afterAll(async () => {
  await Promise.all((servers ?? []).map(stopServing));
  if (sandbox) await asUser('chmod', ['-R', 'u+rwx', 'here', 'there', 'local'], '.');
  sandbox?.[Symbol.dispose]();
});

/** Read-only folders within read-only folders, times to the nanosecond, and a folder above many others. */
const PLANT = `
  mkdir tree && cd tree
  mkdir -p module/v1/inner private empty/within
  for at in $(seq ${FOLDERS}); do mkdir -p many/$at; echo $at > many/$at/file; done
  echo inner > module/v1/inner/file; echo v1 > module/v1/file; echo secret > private/key
  ln -s ../module/v1/file private/link
  chmod 0555 module/v1/inner module/v1 module
  chmod 0700 private; chmod 0750 many; chmod 0500 empty/within
  for at in $(seq ${FOLDERS}); do touch -d "2021-03-04 05:06:07.1234567$((at + 10))" many/$at; done
  touch -d '1999-12-31 23:59:59.999999999' module/v1/inner
  touch -d '2020-02-02 02:02:02.000000001' module/v1
  touch -d '2020-02-02 02:02:02.100000001' module private empty/within empty many
  chmod 0711 . && touch -d '2001-09-09 01:46:40.987654321' .
`;

function asUser(program: string, parameters: readonly string[], folder: string) {
  return runFile(program, parameters, {
    ...NOBODY,
    cwd: sandbox.path(folder),
    maxBuffer: 16 * 1024 * 1024,
    env: {
      ...process.env,
      LC_ALL: 'C',
      HOME: sandbox.path('home'),
      DRAY_TOKEN: TOKEN,
      DRAY_CACHE: sandbox.path('cache'),
    },
  });
}

const serve = (folder: string) =>
  startServing({ folder: sandbox.path(folder), tokenFile: sandbox.path('token'), user: NOBODY });
const at = (index: 0 | 1, path: string) => plainPlace(servers[index]!.port, path);

async function dray(...parameters: readonly string[]) {
  const { stderr, stdout } = await asUser(process.execPath, [COMMAND, ...parameters, '--json'], '.');
  expect(stderr).toBe('');
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

/**
 * Path, mode, time, kind and target of every entry. Times of links are left out, since they are nobody's
 * content.
 */
async function described(folder: string): Promise<readonly string[]> {
  const format = ['(', '-type', 'l', '-printf', '%P %y %l\\n', ')', '-o', '-printf', '%P %m %T@ %y\\n'];
  const { stdout } = await asUser('find', [sandbox.path(folder), ...format], '.');
  return stdout.trim().split('\n').sort();
}

const change = (script: string) => asUser('sh', ['-c', script], 'here/tree');

/** Each step copies the tree from where the step before left it. The last field is where it lies then. */
const WAYS = [
  ['machine to machine', () => at(0, 'tree'), () => at(1, 'tree'), 'there/tree'],
  ['a machine to a folder', () => at(1, 'tree'), () => sandbox.path('local/tree'), 'local/tree'],
  ['a folder to a machine', () => sandbox.path('local/tree'), () => at(1, 'again'), 'there/again'],
] as const;

async function sendOn(command: 'copy' | 'sync', ...more: readonly string[]) {
  const summaries = [];
  for (const [, from, to] of WAYS) summaries.push(await dray(command, from(), to(), ...more));
  return summaries;
}

async function expectSame(): Promise<void> {
  const planted = await described('here/tree');
  for (const [name, , , arrived] of WAYS) expect(await described(arrived), name).toEqual(planted);
}

describe('Read-only folders and others', () => {
  it(
    'arrive with their modes and times, and a second run only lists them',
    async () => {
      for (const summary of await sendOn('copy'))
        expect(summary).toMatchObject({ result: 'copied', failed: 0 });
      await expectSame();
      const again = await sendOn('copy');
      expect(again.map(({ result, touchedFolders }) => [result, touchedFolders])).toEqual([
        ['upToDate', 0],
        ['upToDate', 0],
        ['upToDate', 0],
      ]);
      // Each listing is one request. A source at a machine costs one more, which asks whether it is a file.
      expect(again.map(({ requests }) => requests.total)).toEqual([3, 2, 1]);
    },
    TIMEOUT_MS,
  );

  it(
    'accept changes below them and stay read-only',
    async () => {
      await change(`
        chmod u+w module/v1 module/v1/inner
        echo more > module/v1/inner/more; echo other > module/v1/file; rm module/v1/inner/file
        mkdir module/v1/new; echo new > module/v1/new/file; chmod 0555 module/v1/new
        rm -r many/7; touch -d '2022-01-01 00:00:00.5' many
        touch -d '2022-01-01 00:00:00.123456789' module/v1/new module/v1/inner module/v1
        chmod 0555 module/v1 module/v1/inner
      `);
      for (const summary of await sendOn('sync'))
        expect(summary).toMatchObject({ copiedFiles: 3, deletedFiles: 2, failed: 0 });
      await expectSame();
      for (const summary of await sendOn('sync')) expect(summary).toMatchObject({ result: 'upToDate' });
    },
    TIMEOUT_MS,
  );

  longIt(
    'are deleted although read-only when the source no longer has them',
    async () => {
      await change('chmod -R u+w module && rm -r module && touch -d "2023-01-01 00:00:00.25" .');
      for (const summary of await sendOn('sync'))
        expect(summary).toMatchObject({ deletedFiles: 3, failed: 0 });
      await expectSame();
    },
    TIMEOUT_MS,
  );

  longIt(
    'get new times in few requests where nothing else differs',
    async () => {
      await change(`for at in many/*; do touch -d '2024-05-06 07:08:09.101112131' $at; done`);
      const summaries = await sendOn('copy');
      for (const { copiedFiles, result, touchedFolders } of summaries)
        expect([result, copiedFiles, touchedFolders]).toEqual(['copied', 0, FOLDERS - 1]);
      // Besides the listings, one request reads the times at the source and one sets them. A busy machine may
      // take several, because one is sent when nothing was added to it for two milliseconds.
      for (const [at, least] of [5, 3, 2].entries()) {
        const { total } = summaries[at]!.requests;
        expect(total).toBeGreaterThanOrEqual(least);
        expect(total).toBeLessThan(least + FOLDERS / 4);
      }
      await expectSame();
    },
    TIMEOUT_MS,
  );

  it.skipIf(!rsync)(
    'are equal to rsync, which finds nothing left to do',
    async () => {
      for (const [name, , , arrived] of WAYS) {
        const parameters = [
          '-aniJ',
          '--delete',
          `${sandbox.path('here/tree')}/`,
          `${sandbox.path(arrived)}/`,
        ];
        expect((await asUser('rsync', parameters, '.')).stdout, name).toBe('');
      }
    },
    TIMEOUT_MS,
  );
});
