/**
 * How many requests copies of plain trees send, counted in the server's own access log, and how many bytes
 * they send again. These bounds are promises. Each test also compares Dray's own count with the server's.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TransferSummary } from '../../engine/api/jobs/trees.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import {
  createSandbox,
  type Sandbox,
  type TestContext,
  testContext,
} from '../../engine/jobs/session/job.fixture.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { listRequests } from '../s3-dataset.ts';
import { type LoggedRequest, type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MANY = runBudget({ short: 5_000, long: 50_000 });

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

describe(`A dry run against a prefix of ${MANY.toLocaleString('en')} objects`, () => {
  beforeAll(() => writeObjects('many', named(MANY)));

  it('takes at most 60 requests for 500 files', async () => {
    // The last of the 480 lies in the last page of the listing. With that page Dray knows that the new names
    // after it are absent. Where the last page is not read, each of them takes a HEAD: 70 requests in all.
    const names = [
      ...named(480, Math.floor(MANY / 480)),
      ...Array.from({ length: 20 }, (_, at) => `d/file-${(at * MANY) / 20}-new`),
    ];
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

  it('takes at most 4 requests for 1 file, of which 2 ask for repositories above', async () => {
    writeFiles(sandbox.path('one'), ['d/file-001700']);
    const request = {
      source: { place: sandbox.path('one') },
      destination: { place: url('many') },
      dryRun: true,
    };
    const { summary } = await count(() => copyTree(contextOf('one'), request), 4);
    expect(summary).toMatchObject({ files: 1 });
  });

  it(`takes at most 3 requests for ${MANY.toLocaleString('en')} new files and an empty prefix`, async () => {
    writeFiles(sandbox.path('new'), named(MANY));
    const request = {
      source: { place: sandbox.path('new') },
      destination: { place: url('empty') },
      dryRun: true,
    };
    const { summary } = await count(() => copyTree(contextOf('new'), request), 3);
    expect(summary).toMatchObject({
      result: 'wouldCopy',
      copiedFiles: MANY,
      forecast: { writes: MANY },
    });
  });
});
