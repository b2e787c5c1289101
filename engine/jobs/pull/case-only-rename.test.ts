/** Pulls of renames that change only the case, on a file system that finds a file by any spelling. */
import * as fs from 'node:fs';
import { mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { cloneWorkspace } from './clone.ts';
import { pull } from './pull.ts';

let folding: string | undefined;
vi.mock('node:fs', async (importActual) => {
  const actual = await importActual<typeof fs>();
  const asSpelt = (path: string): string => {
    if (folding === undefined || !path.startsWith(`${folding}/`)) return path;
    const parent = asSpelt(dirname(path));
    const name = basename(path);
    const names = actual.existsSync(parent) ? actual.readdirSync(parent) : [];
    return join(parent, names.find((one) => one.toLowerCase() === name.toLowerCase()) ?? name);
  };
  const lstatSync = (path: string, options: object) => actual.lstatSync(asSpelt(path), options);
  return { ...actual, lstatSync, default: { ...actual, lstatSync } };
});

let sandbox: Sandbox;
let theirs: string;
let ours: string;
beforeEach(async () => {
  sandbox = createSandbox();
  theirs = sandbox.path('theirs');
  ours = sandbox.path('ours');
  mkdirSync(theirs);
  await initWorkspace(testContext(theirs), { remoteUrl: sandbox.path('store') });
  sandbox.write('theirs/Foo.txt', 'one');
  sandbox.write('theirs/Data/Day/a', 'a');
  sandbox.write('theirs/other', 'o');
  await push(testContext(theirs), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: ours });
  folding = ours;
});
afterEach(() => {
  folding = undefined;
  sandbox[Symbol.dispose]();
});

const rename = async (from: string, to: string) => {
  renameSync(join(theirs, from), join(theirs, to));
  await push(testContext(theirs), {});
};

it.each([
  { from: 'Foo.txt', to: 'foo.txt' },
  { from: 'Data', to: 'data' },
])('brings $from as $to', async ({ from, to }) => {
  await rename(from, to);
  expect(await pull(testContext(ours), {})).toMatchObject({ result: 'pulled', failed: 0 });
  expect(describeTree(ours)).toEqual(describeTree(theirs));
  expect(await status(testContext(ours), {})).toMatchObject({
    changes: { added: 0, modified: 0, deleted: 0 },
  });
});

it('is a conflict when the file was edited here, and keeps it', async () => {
  await rename('Foo.txt', 'foo.txt');
  sandbox.write('ours/Foo.txt', 'edited');
  await expect(pull(testContext(ours), {})).rejects.toMatchObject({ code: 'conflict' });
  await pull(testContext(ours), { conflicts: 'ours' });
  expect(fs.readFileSync(join(ours, 'Foo.txt'), 'utf8')).toBe('edited');
});

it('is a conflict when two names of one file exist', async () => {
  await rename('Foo.txt', 'foo.txt');
  folding = undefined;
  sandbox.write('ours/.drayignore', 'foo.txt\n');
  fs.linkSync(join(ours, 'Foo.txt'), join(ours, 'foo.txt'));
  await expect(pull(testContext(ours), {})).rejects.toMatchObject({ code: 'conflict' });
});
