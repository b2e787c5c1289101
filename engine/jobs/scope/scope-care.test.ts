/** What a collection, a repair and a check do in and with a workspace that holds a part. */
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectGarbage } from '../collect/collect.ts';
import { readCommitted } from '../history/read-committed.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { repair } from '../repair/repair.ts';
import { forget } from '../retention/forget.ts';
import { keysBelow } from '../session/damage.fixture.ts';
import { asNobody, createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { status } from '../working-copy/status.ts';
import { scope } from './scope.ts';

let sandbox: Sandbox;
let whole: string;
let part: string;
let remote: string;

beforeEach(async () => {
  sandbox = createSandbox();
  whole = sandbox.path('whole');
  part = sandbox.path('part');
  remote = sandbox.path('store');
  for (const path of ['a/1', 'a/2', 'b/1', 'b/2']) sandbox.write(`whole/${path}`, `content of ${path}`);
  await initWorkspace(testContext(whole), { remoteUrl: remote, layout: { kind: 'objects' } });
  await push(testContext(whole), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const clonePart = (...only: string[]) =>
  cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'part', only });
const verified = (root: string) => verify(testContext(root), { readDataPercent: 100 });
const collected = () => collectGarbage(testContext(whole), { graceSeconds: 0 });
const WHOLE = { missing: 0, damaged: 0 };

describe('A workspace that holds a part', () => {
  it('is checked and read as the whole repository', async () => {
    await clonePart('a');
    expect(await verified(part)).toMatchObject({ ...WHOLE, files: 4 });
    const output: Uint8Array[] = [];
    const path = `${part}/b/1`;
    await readCommitted(testContext(part), { from: 'main', path }, async (bytes) => void output.push(bytes));
    expect(Buffer.concat(output).toString()).toBe('content of b/1');
  });

  it('repairs what it holds, and names what it does not', async () => {
    await clonePart('a');
    const lost = keysBelow(remote, 'objects');
    expect(lost).toHaveLength(4);
    rmSync(`${remote}/objects`, { recursive: true });
    expect(await repair(testContext(part), {})).toMatchObject({ found: 4, left: 2 });
    expect(await status(testContext(part), {})).toMatchObject({ changes: { deleted: 0, added: 0 } });
    expect(await repair(testContext(whole), {})).toMatchObject({ found: 2, left: 0 });
    expect(await verified(part)).toMatchObject({ ...WHOLE, files: 4 });
  });

  it('stores no segment of which it knows a part', async () => {
    for (let at = 0; at < 2_600; at += 1) sandbox.write(`whole/seg/${String(at).padStart(4, '0')}`, '');
    await push(testContext(whole), {});
    await clonePart('seg/1*');
    const segments = keysBelow(remote, 'manifests');
    expect(segments.length).toBeGreaterThan(1);
    rmSync(`${remote}/manifests`, { recursive: true });
    const summary = await repair(testContext(part), {});
    expect([summary.left > 0, summary.found]).toEqual([true, segments.length]);
    expect(await repair(testContext(whole), {})).toMatchObject({ left: 0 });
    expect(await verified(part)).toMatchObject(WHOLE);
    expect(keysBelow(remote, 'manifests')).toEqual(segments);
  });

  it('pushes nothing that names content outside which a collection has removed', async () => {
    await clonePart('a');
    rmSync(`${whole}/b/1`);
    await push(testContext(whole), {});
    await forget(testContext(whole), { policy: { keepLast: 1 } });
    await collected();
    expect(keysBelow(remote, 'objects')).toHaveLength(3);
    sandbox.write('part/a/new', 'new');
    const refused = { code: 'conflict', data: { reason: 'baseCollected' } };
    await expect(push(testContext(part), {})).rejects.toMatchObject(refused);
    expect(await pull(testContext(part), {})).toMatchObject({ failed: 0 });
    expect(await push(testContext(part), {})).toMatchObject({ result: 'pushed' });
    await pull(testContext(whole), {});
    expect(readFileSync(`${whole}/a/new`, 'utf8')).toBe('new');
    expect(await verified(whole)).toMatchObject(WHOLE);
  });

  it('counts what left alone when a folder here is closed, and goes on when it is open', async () => {
    sandbox.write('whole/c/1', 'content of c/1');
    await push(testContext(whole), {});
    await clonePart('a', 'b');
    await asNobody(sandbox, async () => {
      const only = { action: 'only', patterns: ['c'] } as const;
      chmodSync(`${part}/a`, 0o500);
      const left = ['a/1', 'a/2'];
      expect(await scope(testContext(part), only)).toMatchObject({
        removed: 2,
        freedBytes: 2 * 'content of b/1'.length,
        failed: 2,
        outside: { count: 2, paths: left },
      });
      expect(await push(testContext(part), {})).toMatchObject({ result: 'nothingToPush' });
      chmodSync(`${part}/a`, 0o700);
      expect(await scope(testContext(part), only)).toMatchObject({ removed: 2, failed: 0 });
      expect(existsSync(`${part}/a`)).toBe(false);
    });
  });

  it('merges after a collection that has left its base alone', async () => {
    await clonePart('a');
    sandbox.write('whole/b/3', 'three');
    await push(testContext(whole), {});
    await collected();
    sandbox.write('part/a/new', 'new');
    expect(await push(testContext(part), {})).toMatchObject({ result: 'pushed' });
    await pull(testContext(whole), {});
    expect(existsSync(`${whole}/b/3`)).toBe(true);
    expect(await verified(whole)).toMatchObject(WHOLE);
  });

  it('of a forgotten base is pulled on, and widened only after that', async () => {
    await clonePart('a');
    sandbox.write('whole/b/1', 'other');
    sandbox.write('whole/a/1', 'other');
    await push(testContext(whole), {});
    await forget(testContext(whole), { policy: { keepLast: 1 } });
    await collected();
    const adding = () => scope(testContext(part), { action: 'add', patterns: ['b'] });
    const early = await adding().catch((error: unknown) => error);
    expect(early).toMatchObject({ code: 'forgotten' });
    expect(await pull(testContext(part), {})).toMatchObject({ changes: { modified: 1 }, failed: 0 });
    expect(await adding()).toMatchObject({ failed: 0 });
    expect(readFileSync(`${part}/b/2`, 'utf8')).toBe('content of b/2');
    expect(readFileSync(`${part}/b/1`, 'utf8')).toBe('other');
  });
});
