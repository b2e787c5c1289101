import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireWorkspace } from '../../workspace/workspace-folder.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { clearKept, listKept, putBackKept } from './kept-files.ts';
import { sweepRuns } from './kept-folder.ts';

let sandbox: Sandbox;
let here: string;
let there: string;
const DAY_MS = 86_400_000;
const DAY = new Date().toISOString().slice(0, 10);
const text = (path: string) => readFileSync(join(here, path), 'utf8');
const mine = (name: string, end = '') => `${name} (mine, ${DAY})${end}`;

beforeEach(async () => {
  sandbox = createSandbox();
  here = sandbox.path('here');
  there = sandbox.path('there');
  mkdirSync(here);
  await initWorkspace(testContext(here), { remoteUrl: sandbox.path('remote') });
  for (const path of ['a.txt', 'deep/b.txt', 'gone.txt', 'kept.txt', 'becomes/x'])
    sandbox.write(`here/${path}`, 'base');
  await push(testContext(here), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('remote'), directory: there });
});
afterEach(() => sandbox[Symbol.dispose]());

/** Both sides change `a.txt` and `deep/b.txt`; they delete `gone.txt`, which changed here. */
async function conflict(): Promise<void> {
  for (const path of ['a.txt', 'deep/b.txt']) {
    sandbox.write(`there/${path}`, `theirs of ${path}`);
    sandbox.write(`here/${path}`, `mine of ${path}`);
  }
  unlinkSync(join(there, 'gone.txt'));
  sandbox.write('here/gone.txt', 'mine of gone');
  await push(testContext(there), {});
}

async function changes(): Promise<string[]> {
  const context = testContext(here);
  await status(context, {});
  return eventsOf(context, 'change').map(({ change, path }) => `${change} ${path}`);
}

describe('a pull that takes theirs', () => {
  it('keeps every overwritten local file in the bin, and puts it back on request', async () => {
    await conflict();
    const inode = lstatSync(join(here, 'a.txt')).ino;
    const { kept } = await pull(testContext(here), { conflicts: 'theirs' });
    expect(kept).toMatchObject({ files: 3, bytes: 'mine of a.txtmine of deep/b.txtmine of gone'.length });
    expect([text('a.txt'), text('deep/b.txt'), existsSync(join(here, 'gone.txt'))]).toEqual([
      'theirs of a.txt',
      'theirs of deep/b.txt',
      false,
    ]);
    expect(await changes()).toEqual([]);
    const listed = await listKept(testContext(here));
    expect(listed).toMatchObject({
      files: 3,
      runs: [{ command: 'pull', paths: ['a.txt', 'gone.txt', 'deep/b.txt'] }],
    });

    const back = await putBackKept(testContext(here), { id: kept!.id, paths: ['a.txt', 'gone.txt'] });
    expect(back).toMatchObject({ restored: 2, failed: 0, kept: { files: 1 } });
    expect([text('a.txt'), text('gone.txt')]).toEqual(['mine of a.txt', 'mine of gone']);
    // It is the very file: nothing was copied.
    expect(lstatSync(join(here, 'a.txt')).ino).toBe(inode);
    expect(await changes()).toEqual(['modified a.txt', 'added gone.txt']);
    // The file that lay there is kept in turn.
    await putBackKept(testContext(here), { id: back.kept!.id });
    expect(text('a.txt')).toBe('theirs of a.txt');
    await expect(putBackKept(testContext(here), { id: kept!.id, paths: ['nope'] })).rejects.toThrow(
      'is not among',
    );
    expect(await clearKept(testContext(here))).toEqual({ removed: 2 });
    expect(await listKept(testContext(here))).toMatchObject({ runs: [], files: 0 });
  });

  it('keeps links as links, and a folder of changed files that a file replaces', async () => {
    sandbox.write('there/link', 'theirs is a file');
    symlinkSync('a.txt', join(here, 'link'));
    rmSync(join(there, 'becomes'), { recursive: true });
    sandbox.write('there/becomes', 'theirs is a file');
    sandbox.write('here/becomes/x', 'mine below');
    await push(testContext(there), {});
    const { kept } = await pull(testContext(here), { conflicts: 'theirs' });
    expect(kept?.files).toBe(2);
    const files = join(here, '.dray/kept', kept!.id, 'files');
    expect(readlinkSync(join(files, 'link'))).toBe('a.txt');
    expect(readFileSync(join(files, 'becomes/x'), 'utf8')).toBe('mine below');
    expect(text('becomes')).toBe('theirs is a file');
    // Its place is below a file now.
    const listed = await listKept(testContext(here));
    expect(listed.runs[0]?.paths.toSorted()).toEqual(['becomes/x', 'link']);
    const back = testContext(here);
    expect(await putBackKept(back, { id: kept!.id })).toMatchObject({ restored: 1, failed: 1 });
    expect(eventsOf(back, 'fileFailed').map(({ path }) => path)).toEqual(['becomes/x']);
    rmSync(join(here, 'becomes'));
    expect(await putBackKept(testContext(here), { id: kept!.id })).toMatchObject({ restored: 1, failed: 0 });
    expect(text('becomes/x')).toBe('mine below');
  });

  it('keeps nothing when it overwrites only committed files', async () => {
    sandbox.write('there/a.txt', 'theirs');
    await push(testContext(there), {});
    expect((await pull(testContext(here), { conflicts: 'theirs' })).kept).toBeUndefined();
    expect(existsSync(join(here, '.dray/kept'))).toBe(false);
  });

  it('removes a run after two sweeps a week apart found it expired, and follows no link', async () => {
    await conflict();
    const { kept } = await pull(testContext(here), { conflicts: 'theirs' });
    const bin = join(here, '.dray/kept');
    const workspace = requireWorkspace(here, () => true);
    const linked = `${String(Date.now() - 40 * DAY_MS).padStart(13, '0')}-11111111`;
    sandbox.write('outside/precious', 'stays');
    symlinkSync(sandbox.path('outside'), join(bin, linked));
    symlinkSync(sandbox.path('outside'), join(bin, kept!.id, 'files', 'way-out'));
    const sweepAfter = (days: number) => {
      sweepRuns(workspace, Date.now() + days * DAY_MS);
      return readdirSync(bin).includes(kept!.id);
    };
    expect([29, 31, 32, 37, 39].map(sweepAfter)).toEqual([true, true, true, true, false]);
    expect(readdirSync(bin)).toEqual([linked]);
    expect(existsSync(sandbox.path('outside/precious'))).toBe(true);
  });

  it('keeps the bin when the clock jumps years ahead, comes back, and jumps again', async () => {
    await conflict();
    const { kept } = await pull(testContext(here), { conflicts: 'theirs' });
    const workspace = requireWorkspace(here, () => true);
    const year = 365 * DAY_MS;
    for (const offMs of [
      20 * year,
      20 * year + DAY_MS,
      0,
      30 * year,
      -10 * year,
      25 * year,
      25 * year + DAY_MS,
    ])
      sweepRuns(workspace, Date.now() + offMs);
    const back = await putBackKept(testContext(here), { id: kept!.id });
    expect(back).toMatchObject({ restored: 3, failed: 0 });
    expect(text('gone.txt')).toBe('mine of gone');
  });

  it('sweeps the bin at every pull and restore, and replaces a damaged note of a sweep', async () => {
    await conflict();
    const { kept } = await pull(testContext(here), { conflicts: 'theirs' });
    const bin = join(here, '.dray/kept');
    const old = `${String(Date.now() - 60 * DAY_MS).padStart(13, '0')}-00000000`;
    renameSync(join(bin, kept!.id), join(bin, old));
    const note = join(bin, old, 'expired');
    // As a power cut leaves it.
    sandbox.write(`here/.dray/kept/${old}/expired`, '');
    await restore(testContext(here), { paths: ['kept.txt'] });
    expect(Number(readFileSync(note, 'utf8'))).toBeGreaterThan(Date.now() - DAY_MS);
    sandbox.write(`here/.dray/kept/${old}/expired`, String(Date.now() - 8 * DAY_MS));
    await pull(testContext(here), {});
    sandbox.write('there/new', 'theirs');
    await push(testContext(there), {});
    await pull(testContext(here), {});
    expect(existsSync(join(bin, old))).toBe(false);
  });
});

describe('a pull that keeps both', () => {
  it('gives each local file a second name that is not in use', async () => {
    await conflict();
    sandbox.write(`here/${mine('a', '.txt')}`, 'somebody is here');
    sandbox.write(`there/deep/${mine('b', '.txt')}`, 'and theirs there');
    await push(testContext(there), {});
    const summary = await pull(testContext(here), { conflicts: 'both' });
    expect(summary).toMatchObject({
      decided: 3,
      copies: [
        { path: 'a.txt', copy: `a (mine, ${DAY} 2).txt` },
        { path: 'deep/b.txt', copy: `deep/b (mine, ${DAY} 2).txt` },
      ],
    });
    expect(summary.kept).toBeUndefined();
    expect([text('a.txt'), text(`a (mine, ${DAY} 2).txt`), text(mine('a', '.txt'))]).toEqual([
      'theirs of a.txt',
      'mine of a.txt',
      'somebody is here',
    ]);
    expect(text(`deep/b (mine, ${DAY} 2).txt`)).toBe('mine of deep/b.txt');
    // They deleted it, so mine is the only one and stays at its path.
    expect(text('gone.txt')).toBe('mine of gone');
    const { changes: totals } = await push(testContext(here), {});
    expect(totals).toMatchObject({ added: 4, modified: 0, deleted: 0 });
  });

  it('keeps the files of a folder that a file replaces, and shortens names that are too long', async () => {
    const long = `${'é'.repeat(120)}.csv`;
    sandbox.write(`there/${long}`, 'theirs');
    sandbox.write(`here/${long}`, 'mine');
    rmSync(join(there, 'becomes'), { recursive: true });
    sandbox.write('there/becomes', 'theirs is a file');
    sandbox.write('here/becomes/x', 'mine below');
    await push(testContext(there), {});
    const { copies } = await pull(testContext(here), {
      conflicts: 'stop',
      decisions: { [long]: 'both', becomes: 'both' },
    });
    const cut = copies!.find(({ path }) => path === long)!.copy;
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(255);
    expect(cut).toMatch(/^é+ \(mine, .*\)\.csv$/);
    expect([text(cut), text(long)]).toEqual(['mine', 'theirs']);
    expect([text('becomes'), text(`${mine('becomes')}/x`)]).toEqual(['theirs is a file', 'mine below']);
  });

  it('removes the second name of a file that was not replaced', async () => {
    await conflict();
    const stop = new AbortController();
    const context = { ...testContext(here), signal: stop.signal };
    const emit = context.emit;
    const stopping = {
      ...context,
      emit: (event: Parameters<typeof emit>[0]) => {
        if (event.type === 'phase' && event.phase === 'download') stop.abort();
        emit(event);
      },
    };
    await expect(pull(stopping, { conflicts: 'both' })).rejects.toThrow();
    expect(readdirSync(here).filter((name) => name.includes('mine,'))).toEqual([]);
    expect(text('a.txt')).toBe('mine of a.txt');
  });
});
