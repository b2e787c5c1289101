/** What a new version of a large file shares with the one that is here does not travel. */
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noise } from '../../peer/peer.fixture.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { restore } from '../working-copy/restore.ts';
import { cloneWorkspace } from './clone.ts';
import { pull } from './pull.ts';

const MIB = 1024 * 1024;
const SIZE = 24 * MIB;

let sandbox: Sandbox;
let content: Buffer;
beforeEach(async () => {
  sandbox = createSandbox();
  content = noise(SIZE, 7);
  const root = sandbox.path('work');
  mkdirSync(root);
  const layout = { chunkAbove: 8 * MIB };
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('store'), layout });
  sandbox.write('work/model.bin', content);
  await push(testContext(root), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
});
afterEach(() => sandbox[Symbol.dispose]());

async function changeOneByte(): Promise<void> {
  content[10 * MIB]! ^= 1;
  sandbox.write('work/model.bin', content);
  await push(testContext(sandbox.path('work')), {});
}

const there = () => readFileSync(sandbox.path('copy/model.bin')).equals(content);

describe('A file of which one byte changed', () => {
  it('is pulled by about one chunk', async () => {
    await changeOneByte();
    const pulled = await pull(testContext(sandbox.path('copy')), {});
    expect(pulled).toMatchObject({ result: 'pulled', failed: 0 });
    expect(pulled.downloadedBytes).toBeGreaterThan(0);
    expect(pulled.downloadedBytes).toBeLessThan(SIZE / 2);
    expect(there()).toBe(true);
  });

  it('is pulled by about one chunk where bytes were put in before the others', async () => {
    content = Buffer.concat([Buffer.from('a new start'), content]);
    sandbox.write('work/model.bin', content);
    await push(testContext(sandbox.path('work')), {});
    const pulled = await pull(testContext(sandbox.path('copy')), {});
    expect(pulled.downloadedBytes).toBeLessThan(SIZE / 2);
    expect(there()).toBe(true);
  });

  it('is restored by about one chunk', async () => {
    const edited = Buffer.from(content);
    edited[15 * MIB]! ^= 1;
    writeFileSync(sandbox.path('copy/model.bin'), edited);
    const restored = await restore(testContext(sandbox.path('copy')), { paths: ['model.bin'] });
    expect(restored).toMatchObject({ failed: 0 });
    expect(restored.bytes).toBeLessThan(SIZE / 2);
    expect(there()).toBe(true);
  });

  it('is fetched where the older version is not what it was, and whole where it is gone', async () => {
    const edited = Buffer.from(content);
    edited.fill(0, 0, SIZE / 2);
    writeFileSync(sandbox.path('copy/model.bin'), edited);
    await restore(testContext(sandbox.path('copy')), { paths: ['model.bin'] });
    expect(there()).toBe(true);
    truncateSync(sandbox.path('copy/model.bin'), 5 * MIB);
    await restore(testContext(sandbox.path('copy')), { paths: ['model.bin'] });
    expect(there()).toBe(true);
    rmSync(sandbox.path('copy/model.bin'));
    const restored = await restore(testContext(sandbox.path('copy')), { paths: ['model.bin'] });
    expect(restored.bytes).toBeGreaterThan(SIZE - MIB);
    expect(there()).toBe(true);
  });
});
