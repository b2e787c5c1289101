/** The state after a power cut: files with the size and time of a commit's file, but other content. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSetMtime } from '../../files/disk/set-mtime.ts';
import { markUnsynced } from '../../files/disk/unsynced-mark.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { restore } from './restore.ts';
import { status } from './status.ts';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = createSandbox();
  for (const name of ['a', 'b', 'c']) sandbox.write(`work/${name}`, `first ${name}`);
  await initWorkspace(at('work'), { remoteUrl: sandbox.path('store') });
  await push(at('work'), {});
  await cloneWorkspace(at(''), { url: sandbox.path('store'), directory: 'copy' });
  sandbox.write('work/a', 'second a');
  sandbox.write('work/new', 'second new');
  rmSync(sandbox.path('work/b'));
  commit = (await push(at('work'), {})).commit!;
});
afterEach(() => sandbox[Symbol.dispose]());

let commit: string;
const at = (folder: string) => testContext(sandbox.path(folder));
const read = (name: string) => readFileSync(sandbox.path(`copy/${name}`), 'utf8');

/** As the torn pull of the second commit leaves it: with the commit's time, but without its content. */
async function tear(name: string, content: string): Promise<void> {
  const path = sandbox.path(`copy/${name}`);
  writeFileSync(path, content);
  const setMtime = await loadSetMtime();
  const file = await open(path, 'r+');
  setMtime(file.fd, lstatSync(sandbox.path(`work/${name}`), { bigint: true }).mtimeNs);
  await file.close();
}

/** Leaves the state of an interrupted run that wrote the commit. */
function markCut(words: string, of = commit): void {
  const folder = sandbox.path('copy/.dray/tmp');
  mkdirSync(folder, { recursive: true });
  markUnsynced(folder, `origin ${of} dray ${words}`)(false);
}

const marks = () =>
  readdirSync(sandbox.path('copy/.dray/tmp')).filter((name) => name.startsWith('unsynced-'));

describe('After a pull that a power cut ended', () => {
  it.each([
    { state: 'empty', a: '', added: '' },
    { state: 'zeros of its size', a: '\0'.repeat(8), added: '\0'.repeat(10) },
  ])('the same pull rewrites what is $state, and does not take it for an edit', async ({ a, added }) => {
    markCut('pull');
    await tear('a', a);
    await tear('new', added);
    expect(await pull(at('copy'), {})).toMatchObject({ result: 'pulled', failed: 0, commit });
    expect([read('a'), read('new'), existsSync(sandbox.path('copy/b'))]).toEqual([
      'second a',
      'second new',
      false,
    ]);
    expect(marks()).toEqual([]);
    expect(await status(at('copy'), {})).toMatchObject({ changes: { added: 0, modified: 0, deleted: 0 } });
  });

  it('a push refuses to record torn files, and names the command that repairs them', async () => {
    markCut('pull');
    await tear('a', '');
    await expect(push(at('copy'), {})).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Run "dray pull" again'),
      data: { path: 'a', count: 1 },
    });
    expect(marks()).toHaveLength(1);
  });

  it('a push succeeds when nothing is torn, and keeps later edits', async () => {
    markCut('pull');
    sandbox.write('copy/c', '');
    expect(await push(at('copy'), {})).toMatchObject({ result: 'pushed' });
    expect(marks()).toEqual([]);
  });

  it('a pull keeps an edit with another time, and a longer one', async () => {
    markCut('pull');
    sandbox.write('copy/c', 'my own');
    await tear('a', 'longer than the second a');
    await expect(pull(at('copy'), {})).rejects.toMatchObject({ code: 'conflict', data: { paths: ['a'] } });
    expect(read('c')).toBe('my own');
  });

  it('status names the interrupted command', async () => {
    markCut('pull');
    const context = at('copy');
    await status(context, {});
    expect(eventsOf(context, 'warning')).toMatchObject([
      { warning: 'halfArrived', message: expect.stringContaining('Run "dray pull" again') },
    ]);
  });

  it('a dry run of the pull writes nothing, and the next pull still repairs', async () => {
    markCut('pull');
    await tear('a', '');
    expect(await pull(at('copy'), { dryRun: true })).toMatchObject({ result: 'wouldPull' });
    expect(read('a')).toBe('');
    expect(await pull(at('copy'), {})).toMatchObject({ failed: 0 });
    expect(read('a')).toBe('second a');
  });

  it('a pull of another commit writes again what that commit has as the base has it', async () => {
    markCut('pull');
    await tear('a', '\0'.repeat(8));
    const { bases } = JSON.parse(readFileSync(sandbox.path('copy/.dray/state.json'), 'utf8'));
    await restore(at('work'), { paths: ['a'], from: bases.origin });
    const next = (await push(at('work'), {})).commit!;
    expect(await pull(at('copy'), {})).toMatchObject({ failed: 0, commit: next });
    expect(read('a')).toBe('first a');
    expect(marks()).toEqual([]);
  });

  it('a pull of another commit removes torn files that it does not have', async () => {
    markCut('pull');
    await tear('new', '');
    const { bases } = JSON.parse(readFileSync(sandbox.path('copy/.dray/state.json'), 'utf8')) as {
      bases: { origin: string };
    };
    await pull(at('copy'), { ref: bases.origin });
    expect(existsSync(sandbox.path('copy/new'))).toBe(false);
    expect(await status(at('copy'), {})).toMatchObject({ changes: { added: 0, modified: 0, deleted: 0 } });
  });
});

it('an interrupted restore is run again, and then a push succeeds', async () => {
  await pull(at('copy'), {});
  markCut('restore a');
  await tear('a', '\0'.repeat(8));
  await expect(push(at('copy'), {})).rejects.toMatchObject({
    message: expect.stringContaining('"dray restore a"'),
  });
  expect(await restore(at('copy'), { paths: ['a'] })).toMatchObject({ restored: 1 });
  expect(read('a')).toBe('second a');
  expect(marks()).toEqual([]);
  expect(await push(at('copy'), {})).toMatchObject({ result: 'nothingToPush' });
});

it('a pull that ends leaves no mark, and later commands report nothing', async () => {
  await pull(at('copy'), {});
  expect(marks()).toEqual([]);
  const context = at('copy');
  await status(context, {});
  expect(eventsOf(context, 'warning')).toEqual([]);
});

it('a mark of an ended process counts even if another process has its number now', async () => {
  markCut('pull');
  const [name = ''] = marks();
  const folder = dirname(sandbox.path('copy/.dray/tmp/x'));
  // Process 1 always exists.
  renameSync(`${folder}/${name}`, `${folder}/${name.replace(`-${process.pid}-`, '-1-')}`);
  await tear('a', '');
  await expect(push(at('copy'), {})).rejects.toMatchObject({ code: 'conflict' });
});
