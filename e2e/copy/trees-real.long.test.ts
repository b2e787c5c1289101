/**
 * A real tree goes up to one server as plain objects, across to another one, and down again, and `diff`
 * compares the result as well as Dray. By default it is packages of this project's node_modules without the
 * largest ones, with small files, links and binaries. DRAY_REAL_TREE names another folder, which is only
 * read. In `npm run test:long` the other server is of another make.
 */
import { execFile } from 'node:child_process';
import { cpSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CheckTreesRequest, PlaceRequest, TransferSummary } from '../../engine/api/jobs/trees.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { listPackages, PACKAGE_FILES_MIN, PACKAGES } from '../real-packages.ts';
import { startMinio } from '../servers/minio.ts';
import { type S3Endpoint, type S3Server, startVersitygw } from '../servers/versitygw.ts';

const MIB = 1024 * 1024;
/** On a slow disk MinIO needs tens of milliseconds for a file. */
const PACKAGE_ITEMS_MAX = 600;

const given = process.env.DRAY_REAL_TREE;
const tree = given || PACKAGES;
const size = measure(tree);

let sandbox: Sandbox;
let first: S3Server;
let second: S3Endpoint;
let root: string;
beforeAll(async () => {
  sandbox = createSandbox();
  // Both servers have the same credentials: only their endpoints differ.
  first = await startVersitygw();
  second = await startMinio({ secretAccessKey: first.secretAccessKey });
  root = given || sandbox.path('tree');
  if (!given)
    for (const name of ownNames(tree))
      cpSync(join(tree, name), join(root, name), {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
      });
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await Promise.all([first?.stop(), second?.stop()]);
});

function ownNames(folder: string): readonly string[] {
  if (given) return readdirSync(folder);
  return listPackages().filter((name) => itemsBelow(join(folder, name)).length <= PACKAGE_ITEMS_MAX);
}

function itemsBelow(path: string): string[] {
  return statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [];
}

function measure(folder: string) {
  let [files, links, bytes] = [0, 0, 0];
  for (const top of ownNames(folder)) {
    for (const path of [top, ...itemsBelow(join(folder, top)).map((name) => join(top, name))]) {
      const found = lstatSync(join(folder, path));
      if (found.isSymbolicLink()) links += 1;
      if (!found.isFile()) continue;
      files += 1;
      bytes += found.size;
    }
  }
  return { files, links, bytes };
}

/**
 * The differences that the system's `diff -r` reports, with links compared as links and without empty
 * folders, which S3 cannot store.
 */
async function runDiff(left: string, right: string): Promise<string[]> {
  const parameters = ['-r', '--no-dereference', left, right];
  const { stdout } = await promisify(execFile)('diff', parameters, { maxBuffer: 64 * MIB }).catch(
    (error: { readonly stdout?: string; readonly message: string }) => ({
      stdout: error.stdout || error.message,
    }),
  );
  return stdout.split('\n').filter((line) => {
    const only = /^Only in (.*): (.*)$/.exec(line);
    return line !== '' && !(only && isWithoutFiles(join(only[1]!, only[2]!)));
  });
}

function isWithoutFiles(path: string): boolean {
  return lstatSync(path).isDirectory() && readdirSync(path).every((name) => isWithoutFiles(join(path, name)));
}

const at = (server: S3Endpoint): PlaceRequest => ({
  place: `s3://${server.bucket}/tree/`,
  connection: { endpoint: server.endpoint },
});
const context = () =>
  testContext(sandbox.folder, {
    environment: { ...first.environment, DRAY_CACHE: sandbox.path('cache') },
  });

interface Step {
  readonly to: string;
  readonly pair: () => { readonly source: PlaceRequest; readonly destination: PlaceRequest };
  readonly isDown?: true;
}
const STEPS: readonly Step[] = [
  { to: 'up to versitygw', pair: () => ({ source: { place: root }, destination: at(first) }) },
  { to: 'across to another server', pair: () => ({ source: at(first), destination: at(second) }) },
  {
    to: 'down from it',
    pair: () => ({ source: at(second), destination: { place: sandbox.path('down') } }),
    isDown: true,
  },
];

/** Expects a comparison by content to find every object equal. */
async function expectEqual(request: CheckTreesRequest, items: number): Promise<void> {
  const checking = context();
  expect(await checkTrees(checking, request)).toMatchObject({
    files: items,
    same: items,
    differing: 0,
    onlyInSource: 0,
    onlyInDestination: 0,
    uncertain: 0,
    failed: 0,
  });
  expect(eventsOf(checking, 'fileFailed')).toEqual([]);
}

/** Expects a run that sent no content and wrote no object. */
function expectNothingSent(summary: TransferSummary, items: number): void {
  expect(summary).toMatchObject({
    result: 'upToDate',
    unchangedFiles: items,
    copiedFiles: 0,
    touchedFiles: 0,
    failed: 0,
    sentBytes: 0,
    receivedBytes: 0,
    requests: { writes: 0 },
  });
}

const title = `${given ?? "packages of this project's node_modules"}: ${size.files} files, ${size.links} links, ${Math.round(size.bytes / MIB)} MiB,`;
// A tree that the user chose may have any size.
describe(title, given ? { timeout: 60 * 60_000 } : {}, () => {
  const items = size.files + size.links;

  it(`has enough files to matter`, () => expect(size.files).toBeGreaterThan(given ? 0 : PACKAGE_FILES_MIN));

  it.each(STEPS)(
    'is copied $to, is equal there, and is not sent a second time',
    async ({ isDown = false, pair }) => {
      const request = { ...pair(), links: true };
      expect(await copyTree(context(), request)).toMatchObject({
        result: 'copied',
        files: items,
        copiedFiles: items,
        skippedFiles: 0,
        failed: 0,
      });
      expectNothingSent(await copyTree(context(), request), items);
      expectNothingSent(await syncTree(context(), request), items);
      // Only a copy treats a link and the object that stores it as one.
      const filter = { rules: [{ action: 'exclude', pattern: '*.rclonelink' }] } as const;
      await expectEqual({ ...pair(), filter }, size.files);
      if (!isDown) return;
      expect(await runDiff(root, sandbox.path('down'))).toEqual([]);
    },
  );

  it('is equal at both ends by a check, and diff reports a removed file', async () => {
    const down = sandbox.path('down');
    await expectEqual({ source: { place: root }, destination: { place: down } }, size.files);
    const name = readdirSync(down)[0]!;
    rmSync(join(down, name), { recursive: true });
    expect(await runDiff(root, down)).toEqual([`Only in ${root}: ${name}`]);
  });
});
