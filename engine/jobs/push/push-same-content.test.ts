import { mkdirSync, rmSync, truncateSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { push } from './push.ts';

const MIB = 1024 * 1024;
const FILE_BYTES = 7 * MIB;
/** More than a push holds in memory: the first are on the store when the last are read. */
const FILES = 18;

let sandbox: Sandbox;
let work: string;
beforeEach(() => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  mkdirSync(work);
});
afterEach(() => sandbox[Symbol.dispose]());

/** A sparse file but for its first bytes. */
function writeFile(path: string, start: string): void {
  truncateSync(sandbox.write(`work/${path}`, start), FILE_BYTES);
}

describe('content that repeats in a first push long after it was sent', () => {
  it('is not sent again', async () => {
    await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store'), layout: { kind: 'objects' } });
    for (let at = 10; at < 10 + FILES; at += 1) writeFile(`${at}`, `content of ${at}`);
    writeFile('again', 'content of 10');
    const { uploadedBytes } = await push(testContext(work), {});
    expect(uploadedBytes).toBeLessThan((FILES + 0.5) * FILE_BYTES);
    rmSync(sandbox.path('work/11'));
    expect(await push(testContext(work), {})).toMatchObject({ uploadedBytes: 0, changes: { deleted: 1 } });
  });
});
