/**
 * A real tree that exists wherever these tests run: packages of this project's node_modules, with small
 * files, links, executables and, in the long run, a binary large enough to be chunked. It goes to a server
 * and back, and `diff` compares it as well as Dray.
 */
import { execFile, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { listPackages, PACKAGE_FILES_MIN, PACKAGES } from '../real-packages.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

/** A binary to append to. The large one is stored in chunks. */
const LARGE = runBudget({ short: 'esbuild/bin/esbuild', long: 'node/bin/node' });
const hasDiff = spawnSync('diff', ['--version']).error === undefined;

let server: S3Server;
let dataset: S3Dataset;
let root: string;

beforeAll(async () => {
  server = await startVersitygw();
  dataset = createS3Dataset(server, 'node-modules');
  root = await dataset.init('work');
  for (const name of listPackages()) {
    cpSync(join(PACKAGES, name), join(root, name), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
  }
  await push(dataset.context('work'), { message: 'as installed' });
});
afterAll(async () => {
  dataset?.[Symbol.dispose]();
  await server?.stop();
});

/** Compares two folders by the system's `diff`, links as links. */
async function runDiff(left: string, right: string): Promise<string> {
  const parameters = ['-r', '--no-dereference', '--exclude=.dray', left, right];
  const { stdout } = await promisify(execFile)('diff', parameters, { maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: { readonly stdout?: string; readonly message: string }) => ({
      stdout: error.stdout || error.message,
    }),
  );
  return stdout;
}

/**
 * Changes the tree as a developer does in a day: edits, additions, deletions, moves, modes, links, and a
 * folder in a file's place.
 */
function changeTree(): void {
  appendFileSync(join(root, 'typescript/package.json'), '\n');
  appendFileSync(join(root, LARGE), 'a tail on a file that is stored in chunks');
  rmSync(join(root, 'commander'), { recursive: true });
  renameSync(join(root, 'valibot'), join(root, 'valibot-moved'));
  chmodSync(join(root, 'p-limit/package.json'), 0o755);
  rmSync(join(root, 'p-limit/readme.md'));
  mkdirSync(join(root, 'p-limit/readme.md/now/a/folder'), { recursive: true });
  rmSync(join(root, '.bin/tsc'));
  symlinkSync('nowhere at all', join(root, '.bin/tsc'));
  cpSync(join(root, 'fast-check'), join(root, 'copied/fast-check'), { recursive: true });
}

function expectSame(copy: string): void {
  const lines = describeTree(copy);
  expect(lines).toEqual(describeTree(root));
  expect(lines.length).toBeGreaterThan(PACKAGE_FILES_MIN);
}

describe("This project's node_modules", () => {
  it('is equal in a clone, in a pull after edits, and in a second clone', async () => {
    expect(await dataset.clone('copy')).toMatchObject({ failed: 0 });
    const copy = dataset.sandbox.path('copy');
    expectSame(copy);

    changeTree();
    const pushed = await push(dataset.context('work'), { message: 'edited' });
    expect(pushed).toMatchObject({ result: 'pushed', failed: 0 });
    expect(pushed.uploadedBytes, 'an edited large file costs its changed chunks').toBeLessThan(
      runBudget({ short: 15, long: 40 }) * 1024 * 1024,
    );
    expect(await pull(dataset.context('copy'), {})).toMatchObject({ result: 'pulled', failed: 0 });
    expectSame(copy);

    expect(await dataset.clone('another')).toMatchObject({ failed: 0 });
    expectSame(dataset.sandbox.path('another'));
    expect(await push(dataset.context('copy'), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('is equal on both sides by the system\'s "diff -r"', async ({ skip }) => {
    skip(!hasDiff, 'There is no "diff" command on this system.');
    const copy = dataset.sandbox.path('copy');
    expect(await runDiff(root, copy)).toBe('');
    expect(await runDiff(root, dataset.sandbox.path('another'))).toBe('');
    appendFileSync(join(copy, 'esbuild/package.json'), ' ');
    expect(await runDiff(root, copy), 'diff does look').toContain('esbuild/package.json');
  });

  it('passes a verification that reads everything', async () => {
    const verified = await verify(dataset.context('work'), { readDataPercent: 100 });
    expect(verified).toMatchObject({ missing: 0, damaged: 0, affectedPaths: 0 });
    expect(verified.readBytes).toBeGreaterThan(verified.files * 1_000);
  });
});
