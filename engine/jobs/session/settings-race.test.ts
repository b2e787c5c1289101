/** Processes that change the user's settings at once do not lose each other's changes. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPeerCheck } from '../../remotes/peer/known-peers.ts';
import { trustPeer } from '../remotes/login.ts';
import { createSandbox, type Sandbox } from './job.fixture.ts';
import { knownPeersOf } from './opened-remote.ts';
import { userConfigFolder } from './user-remotes.ts';

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../remotes');
const PROCESSES = 3;
const CHANGES = 10;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const context = () => ({ environment: { DRAY_CONFIG: sandbox.path('settings/config.json') } });
const keptIn = (name: string) => JSON.parse(readFileSync(sandbox.path('settings', name), 'utf8'));

/** One process that does the work for each of its numbers, once all are ready. */
function run(work: string, of: number): Promise<number | null> {
  const script = `
    import { login } from ${JSON.stringify(join(FOLDER, 'login.ts'))};
    import { remoteAdd } from ${JSON.stringify(join(FOLDER, 'remotes.ts'))};
    import { userConfig } from ${JSON.stringify(join(FOLDER, 'config.ts'))};
    const context = { ...${JSON.stringify(context())}, directory: '/', connection: {}, emit() {} };
    for (let at = 0; at < ${CHANGES}; at += 1) {
      const name = 'n' + (${of} * ${CHANGES} + at);
      await (${work});
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve) => child.once('exit', resolve));
}

it.each<readonly [string, string, () => number]>([
  [
    'log in',
    "login(context, { peer: name, token: 'token' })",
    () => Object.keys(keptIn('peer-tokens.json').tokens).length,
  ],
  [
    'add remotes',
    "remoteAdd(context, { name, url: 's3://bucket/' + name, user: true })",
    () => Object.keys(keptIn('config.json').remotes).length,
  ],
  [
    'allow workspaces',
    "userConfig(context, { name: 'safe.directory', value: '/' + name })",
    () => keptIn('config.json')['safe.directory'].length,
  ],
])('processes that %s at once lose none of their changes', async (_what, work, count) => {
  const ends = await Promise.all(Array.from({ length: PROCESSES }, (_, of) => run(work, of)));
  expect(ends).toEqual(Array(PROCESSES).fill(0));
  expect(count()).toBe(PROCESSES * CHANGES);
  expect(readdirSync(sandbox.path('settings')).filter((name) => /lock|tmp/.test(name))).toEqual([]);
});

it('a certificate that another command trusts during the question is not replaced by the answer', async () => {
  const [mine, theirs] = ['AA', 'BB'].map((byte) => Array(32).fill(byte).join(':')) as [string, string];
  const address = 'nas:7370';
  const trustsNewPeer = async () => {
    await trustPeer(context(), { address, fingerprint: theirs });
    return true;
  };
  const peer = createPeerCheck(address, knownPeersOf({ ...context(), trustsNewPeer }));
  expect(peer.check(mine)).toMatchObject({ code: 'unknownPeer' });
  await expect(peer.meet(mine)).rejects.toMatchObject({ code: 'accessDenied', data: { known: theirs } });
  expect(keptIn('known-peers.json')).toEqual({ peers: { [address]: theirs } });
  expect(userConfigFolder(context())).toBe(sandbox.path('settings'));
});
