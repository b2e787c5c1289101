/**
 * How many requests copies of plain trees send, counted in the server's own access log, and how many bytes
 * they send again. These bounds are promises. Each test also compares Dray's own count with the server's.
 */
import type { ChildProcess } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../app/cli/run-cli.fixture.ts';
import type { TransferSummary } from '../engine/api/trees.ts';
import {
  createSandbox,
  type Sandbox,
  type TestContext,
  testContext,
} from '../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../engine/jobs/trees/copy-tree.ts';
import { listRequests } from './s3-dataset.ts';
import { type LoggedRequest, type S3Server, startVersitygw } from './servers/versitygw.ts';

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

/** @param cache The name of a cache. A new name starts with an empty cache. */
function contextOf(cache: string): TestContext {
  const environment = { ...server.environment, DRAY_CACHE: sandbox.path(`cache-${cache}`) };
  return testContext(sandbox.folder, { environment });
}

interface Counted {
  readonly summary: TransferSummary;
  readonly requests: readonly LoggedRequest[];
}

async function count(job: () => Promise<TransferSummary>, most: number): Promise<Counted> {
  await server.resetRequests();
  const summary = await job();
  const requests = await server.requests();
  const list = listRequests(requests.slice(0, 200));
  expect(requests.length, list).toBeLessThanOrEqual(most);
  expect(summary.requests.total, list).toBe(requests.length);
  return { summary, requests };
}

/** Writes objects of another program: plain files in the server's own folder. */
function writeObjects(prefix: string, names: readonly string[]): void {
  writeFiles(join(server.dataFolder, server.bucket, prefix), names);
}

function writeFiles(root: string, names: readonly string[]): void {
  for (const name of names) {
    const path = join(root, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `content of ${name}`);
  }
}

const named = (count: number, step = 1) =>
  Array.from({ length: count }, (_, at) => `d/file-${String(at * step).padStart(6, '0')}`);

describe('A tree of 1,000 files', () => {
  it('that the store has already is synced by 2 requests, or by HEADs without a cache', async () => {
    writeFiles(sandbox.path('thousand'), named(1_000));
    const request = { source: { place: sandbox.path('thousand') }, destination: { place: url('thousand') } };
    expect(await copyTree(contextOf('thousand'), request)).toMatchObject({ copiedFiles: 1_000, failed: 0 });

    const again = await count(() => syncTree(contextOf('thousand'), request), 2);
    expect(again.summary).toMatchObject({ result: 'upToDate', unchangedFiles: 1_000 });
    // A listing has no times of contents, and equal content with another time gets its source's time.
    for (const most of [1_002, 2]) {
      const forgotten = await count(() => syncTree(contextOf('forgotten'), request), most);
      expect(forgotten.summary).toMatchObject({ result: 'upToDate', unchangedFiles: 1_000 });
    }
  });
});

describe('A dry run against a prefix of 50,000 objects', () => {
  beforeAll(() => writeObjects('many', named(50_000)));

  it('takes at most 60 requests for 500 files', async () => {
    const names = [...named(480, 104), ...Array.from({ length: 20 }, (_, at) => `d/file-${at * 2_500}-new`)];
    writeFiles(sandbox.path('some'), names);
    const request = {
      source: { place: sandbox.path('some') },
      destination: { place: url('many') },
      compare: 'sizeOnly',
      dryRun: true,
    } as const;
    const { summary } = await count(() => copyTree(contextOf('some'), request), 60);
    expect(summary).toMatchObject({ files: 500, copiedFiles: 20, unchangedFiles: 480 });
  });

  it('takes at most 2 requests for 1 file', async () => {
    writeFiles(sandbox.path('one'), ['d/file-017000']);
    const request = {
      source: { place: sandbox.path('one') },
      destination: { place: url('many') },
      dryRun: true,
    };
    const { summary } = await count(() => copyTree(contextOf('one'), request), 2);
    expect(summary).toMatchObject({ files: 1 });
  });

  it('takes at most 2 requests for 50,000 new files and an empty prefix', async () => {
    writeFiles(sandbox.path('new'), named(50_000));
    const request = {
      source: { place: sandbox.path('new') },
      destination: { place: url('empty') },
      dryRun: true,
    };
    const { summary } = await count(() => copyTree(contextOf('new'), request), 2);
    expect(summary).toMatchObject({
      result: 'wouldCopy',
      copiedFiles: 50_000,
      forecast: { writes: 50_000 },
    });
  });
});

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
