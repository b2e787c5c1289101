import { unlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { InitRequest, PushSummary } from '../../api/jobs/jobs.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { push } from './push.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

async function pushed(
  files: number,
  layout: InitRequest['layout'] = {},
  compression: NonNullable<InitRequest['compression']> = 'auto',
): Promise<void> {
  write(0, files);
  const context = testContext(sandbox.path('work'));
  await initWorkspace(context, { remoteUrl: sandbox.path('remote'), layout, compression });
  await push(testContext(sandbox.path('work')), {});
}

function write(from: number, to: number): void {
  for (let at = from; at < to; at += 1) sandbox.write(`work/folder-${at % 7}/${at}.txt`, `content ${at}`);
}

/** The dry run, and the push after it. */
async function foreseen(): Promise<readonly [PushSummary, PushSummary]> {
  const context = testContext(sandbox.path('work'));
  return [await push(context, { dryRun: true }), await push(context, {})];
}

it('a dry run forecasts that a push of small files reads the branch and writes a pack, commit and branch', async () => {
  await pushed(10);
  write(10, 40);
  const [dry, real] = await foreseen();
  expect(dry).toMatchObject({ result: 'wouldPush', uploadedObjects: 1, forecast: { reads: 1, writes: 3 } });
  expect(real.requests).toMatchObject({ reads: 1, writes: 3 });
  // The pack includes its index.
  expect(real.uploadedBytes).toBeGreaterThanOrEqual(dry.forecast!.sentBytes);
});

it('a dry run forecasts one object and one query for each distinct content', async () => {
  await pushed(10, { kind: 'objects' });
  write(10, 13);
  const [dry, real] = await foreseen();
  expect(dry.forecast).toMatchObject({ reads: 1 + 3, writes: 3 + 2 });
  expect(real.requests).toMatchObject({ reads: dry.forecast!.reads, writes: dry.forecast!.writes });
  expect(real).toMatchObject({ uploadedObjects: 3, uploadedBytes: dry.forecast!.sentBytes });
});

it('a dry run forecasts the segments that a large dataset rewrites', async () => {
  await pushed(9_000);
  unlinkSync(sandbox.path('work', 'folder-3/3.txt'));
  const [dry, real] = await foreseen();
  expect(dry).toMatchObject({ uploadedObjects: 0, forecast: { writes: 3, sentBytes: 0 } });
  expect(real.requests.writes).toBe(3);
});

it('a dry run with nothing to push forecasts nothing', async () => {
  await pushed(3);
  const [dry] = await foreseen();
  expect(dry).toMatchObject({ result: 'nothingToPush' });
  expect(dry.forecast).toBeUndefined();
});

it('a dry run says that the bytes are those of the content where the repository compresses it', async () => {
  await pushed(3);
  sandbox.write('work/table.csv', 'a row of a table\n'.repeat(50_000));
  const [dry, real] = await foreseen();
  expect(dry).toMatchObject({ uploadedBytes: 850_000, beforeCompression: true });
  expect(real.uploadedBytes).toBeLessThan(85_000);
  expect(real).not.toHaveProperty('beforeCompression');
});

it('a dry run in a repository without compression does not speak of it', async () => {
  await pushed(3, {}, 'off');
  sandbox.write('work/table.csv', 'a row of a table\n'.repeat(50_000));
  const [dry, real] = await foreseen();
  expect(dry).not.toHaveProperty('beforeCompression');
  expect(real.uploadedBytes).toBeGreaterThanOrEqual(dry.uploadedBytes);
});
