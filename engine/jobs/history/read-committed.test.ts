import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { readCommitted } from './read-committed.ts';
import { tag } from './refs.ts';

const MIB = 1024 * 1024;
/**
 * By where a file of this size is stored. The last has several chunks, some read in several windows, some in
 * one.
 */
const FILES = {
  nowhere: Buffer.alloc(0),
  pack: Buffer.from('small'),
  object: Buffer.from('ab'.repeat(5 * MIB)),
  chunks: Buffer.from(Array.from({ length: 20 * MIB }, (_, at) => (at * at * 31) >> 7)),
};

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  sandbox.write('work/folder/inside', 'x');
  const layout = { packBelow: 100_000, chunkAbove: 16 * MIB };
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('remote'), layout });
});
afterEach(() => sandbox[Symbol.dispose]());

async function read(from: string, path: string, part: object = {}, directory = root): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const write = async (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk));
  const { bytes } = await readCommitted(testContext(directory), { from, path, ...part }, write);
  const whole = Buffer.concat(chunks);
  expect(bytes).toBe(whole.length);
  return whole;
}

describe('a file of a commit', () => {
  it('is read whole or in part, wherever it is stored', async () => {
    for (const [name, content] of Object.entries(FILES)) sandbox.write(`work/${name}`, content);
    await push(testContext(root), {});
    for (const [name, content] of Object.entries(FILES)) {
      expect(Buffer.compare(await read('main', name), content), name).toBe(0);
      for (const [offsetBytes, lengthBytes] of [
        [0, 3],
        [3, 9 * MIB],
        [content.length - 2, 100],
        [content.length + 1, 1],
      ] as const) {
        const part = await read('@', name, { offsetBytes, lengthBytes });
        const wanted = content.subarray(offsetBytes, offsetBytes + lengthBytes);
        expect(Buffer.compare(part, wanted), `${name} from ${offsetBytes}`).toBe(0);
      }
    }
  });

  it('has the content of that commit, at a path relative to the command, and the working copy stays', async () => {
    await push(testContext(root), {});
    await tag(testContext(root), { name: 'v1' });
    sandbox.write('work/folder/inside', 'changed');
    await push(testContext(root), {});
    sandbox.write('work/folder/inside', 'changed again');
    const inside = sandbox.path('work/folder');
    expect(String(await read('v1', 'inside', {}, inside))).toBe('x');
    expect(String(await read('v1', '../folder/inside', {}, inside))).toBe('x');
    expect(String(await read('main', 'folder/inside'))).toBe('changed');
  });

  it('is an error for a link, a folder, a missing path and one outside', async () => {
    symlinkSync('folder/inside', sandbox.path('work/link'));
    await push(testContext(root), {});
    await expect(read('main', 'link')).rejects.toThrow(/link in that commit, to folder\/inside/);
    for (const path of ['folder', 'absent', '.'])
      await expect(read('main', path)).rejects.toMatchObject({ code: 'notFound' });
    await expect(read('main', '../other')).rejects.toMatchObject({ code: 'usage' });
    await expect(read('v9', 'folder/inside')).rejects.toMatchObject({ code: 'notFound' });
  });
});
