import { lstatSync, mkdirSync, utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { status } from '../working-copy/status.ts';
import { cloneWorkspace } from './clone.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const LATEST_NS = 2n ** 63n - 1n;
const IN_2300 = Date.UTC(2300, 0, 1) / 1000;

describe('a file with a time outside the range of an entry', () => {
  it('is pushed with the nearest time in the range, whether it is small or large', async () => {
    const work = sandbox.path('work');
    mkdirSync(work);
    const layout = { kind: 'packs', chunkAbove: 1_000_000 } as const;
    await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store'), layout });
    for (const [name, sizeBytes] of [
      ['small', 10],
      ['large', 2_000_000],
    ] as const)
      utimesSync(sandbox.write(`work/${name}`, Buffer.alloc(sizeBytes, name)), 1, IN_2300);
    // File systems clamp the time differently.
    const heldNs = lstatSync(`${work}/small`, { bigint: true }).mtimeNs;
    const expectedNs = heldNs > LATEST_NS ? LATEST_NS : heldNs;
    expect(await push(testContext(work), {})).toMatchObject({ result: 'pushed', failed: 0 });
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
    for (const name of ['small', 'large'])
      expect(lstatSync(sandbox.path('copy', name), { bigint: true }).mtimeNs).toBe(expectedNs);
    expect(await status(testContext(work), {})).toMatchObject({ changes: { modified: 0 } });
  });
});
