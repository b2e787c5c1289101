import { truncateSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { push } from './push.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const context = () => testContext(sandbox.path('work'));

/** A pushed workspace of `files` files, of which the first `count` are empty now. */
async function emptied(files: number, count: number): Promise<void> {
  for (let at = 0; at < files; at += 1) sandbox.write(`work/f${at}`, `content ${at}`);
  sandbox.write('work/was-empty', '');
  await initWorkspace(context(), { remoteUrl: sandbox.path('store') });
  await push(context(), {});
  for (let at = 0; at < count; at += 1) truncateSync(sandbox.path(`work/f${at}`));
}

describe('A push of files that have become empty', () => {
  it.each([
    { count: 10, files: 200, why: 'ten files have become empty' },
    { count: 2, files: 19, why: 'two have, and the base has 20 files' },
    { count: 3, files: 3, why: 'all files have' },
  ])('is refused before anything is sent when $why', async ({ count, files }) => {
    await emptied(files, count);
    for (const dryRun of [false, true]) {
      await expect(push(context(), { dryRun })).rejects.toMatchObject({
        code: 'manyEmptied',
        message: expect.stringContaining('--allow-emptied'),
        data: { count, baseFiles: files + 1, paths: expect.arrayContaining(['f0', 'f1']) },
      });
    }
  });

  it.each([
    { count: 9, files: 200, what: 'nine of 201' },
    { count: 1, files: 3, what: 'a single one' },
    { count: 2, files: 20, what: 'two of 21' },
  ])('is accepted for $what', async ({ count, files }) => {
    await emptied(files, count);
    expect(await push(context(), {})).toMatchObject({ result: 'pushed', changes: { modified: count } });
  });

  it('is accepted with --allow-emptied', async () => {
    await emptied(20, 20);
    expect(await push(context(), { allowEmptied: true })).toMatchObject({ changes: { modified: 20 } });
    expect(await push(context(), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('is accepted when it skips the empty files', async () => {
    await emptied(20, 20);
    const skip = Array.from({ length: 20 }, (_, at) => `f${at}`);
    expect(await push(context(), { skip })).toMatchObject({ result: 'nothingToPush' });
  });

  it('does not count files that were empty before, are new, or are gone', async () => {
    await emptied(20, 1);
    for (let at = 0; at < 20; at += 1) sandbox.write(`work/new-${at}`, '');
    expect(await push(context(), {})).toMatchObject({
      result: 'pushed',
      changes: { added: 20, modified: 1 },
    });
  });
});
