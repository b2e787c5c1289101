/** An object of 1 GiB: how many of its bytes are sent again after a kill, and after a change of one MiB. */
import type { ChildProcess } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { listRequests } from '../s3-dataset.ts';
import { type LoggedRequest, type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;

let server: S3Server;
let sandbox: Sandbox;
beforeAll(async () => {
  server = await startVersitygw();
  sandbox = createSandbox();
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await server?.stop();
});

const url = (prefix: string) => `s3://${server.bucket}/${prefix}`;

/** @param cache What is remembered of places; another name remembers nothing yet. */
function contextOf(cache: string) {
  const environment = { ...server.environment, DRAY_CACHE: sandbox.path(`cache-${cache}`) };
  return testContext(sandbox.folder, { environment });
}

describe('An object of 1 GiB', () => {
  const path = () => sandbox.path('huge/file.bin');
  const upload = () => ({ source: { place: sandbox.path('huge') }, destination: { place: url('huge') } });
  beforeAll(() => {
    const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16));
    const file = openSync(path(), 'w');
    for (let at = 0; at < 64; at += 1) writeSync(file, cipher.update(Buffer.alloc(16 * MIB)));
    closeSync(file);
  });

  it('whose upload was killed half-way is resumed with at most 64 MiB sent again', async () => {
    const environment = { ...server.environment, DRAY_CACHE: sandbox.path('cache-huge') };
    await server.resetRequests();
    const killed = await runCli(['copy', 'huge', url('huge')], {
      cwd: sandbox.folder,
      environment,
      onStarted: (child) => void killHalfWay(child),
    });
    expect(killed.exitCode, killed.stderr).toBeNull();
    const before = sent(await server.requests());
    expect(before).toBeGreaterThanOrEqual(32);

    await server.resetRequests();
    const summary = await copyTree(contextOf('huge'), upload());
    expect(summary).toMatchObject({ copiedFiles: 1, failed: 0 });
    // Requests that the killed process had in flight may be logged later.
    expect(before * 16 * MIB + summary.sentBytes).toBeLessThanOrEqual((1_024 + 64) * MIB);
    expect(sent(await server.requests())).toBeGreaterThan(0);
  });

  it('in which one MiB changed is updated by at most 2 parts', async () => {
    const file = openSync(path(), 'r+');
    writeSync(file, Buffer.alloc(MIB, 'changed'), 0, MIB, 500 * MIB + 12_345);
    closeSync(file);
    await server.resetRequests();
    const summary = await copyTree(contextOf('huge'), upload());
    expect(summary).toMatchObject({ copiedFiles: 1, failed: 0 });
    const requests = await server.requests();
    expect(sent(requests), listRequests(requests)).toBeLessThanOrEqual(2);
    expect(summary.sentBytes).toBeLessThanOrEqual(32 * MIB);

    const checked = await checkTrees(contextOf('huge'), { ...upload(), download: true });
    expect(checked).toMatchObject({ same: 1, differing: 0, readBytes: 2 * 1_024 * MIB });
  });

  /** Counts the uploaded parts of 16 MiB; the object has 64. */
  function sent(requests: readonly LoggedRequest[]): number {
    return requests.filter(({ operation, status }) => operation === 'UploadPart' && status === 200).length;
  }

  async function killHalfWay(child: ChildProcess): Promise<void> {
    while (child.exitCode === null) {
      if (sent(await server.requests()) >= 32) {
        child.kill('SIGKILL');
        return;
      }
      await pause(2);
    }
  }
});
