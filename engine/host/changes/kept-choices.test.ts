import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skippedTotals } from '../../api/host/change-choices.ts';
import { CHOICE_PATHS_MAX, type ChangeList } from '../../api/host/changes.ts';
import { createSandbox, type Sandbox } from '../../jobs/session/job.fixture.ts';
import { createKeptChoices } from './kept-choices.ts';
import { createRowList, type RowList } from './row-list.ts';

const ROOT = '/data/survey';
const TOTALS = { added: 3, modified: 0, deleted: 0, renamed: 0, mode: 0, bytes: 3 };
const LIST: ChangeList = {
  list: 'one',
  direction: 'push',
  totals: TOTALS,
  conflicts: 0,
  failed: 0,
  deletions: 7,
  lookedMs: 0,
};
const LOOK = { filter: 'x', kinds: ['added'], sort: 'size', isTree: false, open: ['a/'] } as const;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

async function rowsAt(paths: readonly string[]): Promise<RowList> {
  const rows = createRowList();
  for (const path of paths) rows.push({ change: 'added', path, kind: 'file', sizeBytes: 1 });
  await rows.end(new AbortController().signal);
  return rows;
}

const openKept = () => createKeptChoices(sandbox.folder);
const filesKept = () => readdirSync(join(sandbox.folder, 'changes'));

describe('the choices kept for a workspace', () => {
  it('survive a restart: excluded rows, the message, and the filter of the list', async () => {
    const rows = await rowsAt(['a/one', 'a/two', '__proto__']);
    const first = openKept();
    first.choose(ROOT, 'push', rows, { skip: ['__proto__', 'a/one', 'not there'] });
    first.keep(ROOT, 'push', { message: 'Half of it', look: LOOK });
    first.flush();
    const again = openKept();
    const { choices, look, message } = again.open(ROOT, LIST, rows);
    expect({ look, message }).toEqual({ look: LOOK, message: 'Half of it' });
    expect(choices.skipped.map(({ path }) => path)).toEqual(['__proto__', 'a/one']);
    expect(again.open('/data/other', LIST, rows)).toMatchObject({ message: '', choices: { skipped: [] } });
  });

  it('remember the deletions that were seen, of each direction, until a push has carried them out', async () => {
    const rows = await rowsAt(['a']);
    const first = openKept();
    first.keep(ROOT, 'push', { seen: 7 });
    first.keep(ROOT, 'pull', { seen: 8 });
    first.flush();
    const kept = openKept();
    expect(kept.open(ROOT, LIST, rows).seen).toBe(7);
    kept.used({ kind: 'push', root: ROOT });
    expect(kept.open(ROOT, LIST, rows).seen).toBeUndefined();
    expect(kept.open(ROOT, { ...LIST, direction: 'pull' }, rows).seen).toBe(8);
    kept.keep(ROOT, 'pull', { seen: null });
    kept.flush();
    expect(filesKept()).toEqual([]);
  });

  it('send each new version to all windows of their workspace', async () => {
    const rows = await rowsAt(['a', 'b']);
    const kept = openKept();
    const heard: string[] = [];
    const leave = [ROOT, ROOT, '/data/other'].map((root, window) =>
      kept.listen(root, (version) => heard.push(`${window}: ${version}`)),
    );
    kept.choose(ROOT, 'push', rows, { skip: ['a'] });
    leave[0]!();
    kept.choose(ROOT, 'push', rows, { skip: ['b'] });
    // A list without rows drops both choices.
    kept.open(ROOT, LIST, await rowsAt([]));
    expect(heard).toEqual(['0: 0', '1: 0', '2: 0', '0: 1', '1: 1', '1: 2', '1: 3']);
  });

  it('drop rows that a new list lacks, and refuse a push that was shown with older choices', async () => {
    const kept = openKept();
    kept.choose(ROOT, 'push', await rowsAt(['a', 'b']), { skip: ['a', 'b'] });
    const { version } = kept.choices(ROOT, 'push');
    const now = kept.open(ROOT, LIST, await rowsAt(['b'])).choices;
    expect(now.skipped.map(({ path }) => path)).toEqual(['b']);
    expect(() => kept.order({ root: ROOT, direction: 'push', version })).toThrow('in another window');
    const order = kept.order({ root: ROOT, direction: 'push', version: now.version, message: ' new ' });
    expect(order).toEqual({ kind: 'push', root: ROOT, message: 'new', skip: ['b'] });
  });

  it('drop the choices that a finished push used, and keep those that were made while it ran', async () => {
    const kept = openKept();
    const rows = await rowsAt(['a', 'b']);
    kept.choose(ROOT, 'push', rows, { skip: ['a'] });
    kept.keep(ROOT, 'push', { message: 'First', look: LOOK });
    const { version } = kept.choices(ROOT, 'push');
    const order = kept.order({ root: ROOT, direction: 'push', version, message: 'First' });
    kept.choose(ROOT, 'push', rows, { skip: ['b'] });
    kept.used(order);
    const after = kept.open(ROOT, LIST, rows);
    expect(after.choices.skipped.map(({ path }) => path)).toEqual(['b']);
    expect(after).toMatchObject({ message: '', look: { filter: '', kinds: [], sort: 'size', open: ['a/'] } });
    kept.keep(ROOT, 'push', { message: 'Next' });
    kept.used(order);
    expect(kept.open(ROOT, LIST, rows).message).toBe('Next');
  });

  it('keep a decision for all conflicts only for the same commit with the same conflicts', async () => {
    const pull = { ...LIST, direction: 'pull', conflicts: 2, commit: 'c1' } as const;
    const rows = await rowsAt(['a']);
    const kept = openKept();
    kept.open(ROOT, pull, rows);
    kept.choose(ROOT, 'pull', rows, { forAll: 'theirs' });
    expect(kept.open(ROOT, pull, rows).choices.forAll).toBe('theirs');
    expect(kept.open(ROOT, { ...pull, commit: 'c2' }, rows).choices.forAll).toBeUndefined();
  });

  it('are bounded in paths and in files, and have no file when they are empty', async () => {
    const kept = openKept();
    const paths = Array.from({ length: CHOICE_PATHS_MAX + 1 }, (_, at) => `f/${String(at).padStart(7, '0')}`);
    const rows = await rowsAt(paths);
    kept.choose(ROOT, 'push', rows, { skip: paths.slice(0, CHOICE_PATHS_MAX) });
    expect(() => kept.choose(ROOT, 'push', rows, { skip: paths.slice(-1) })).toThrow('Exclude a folder');
    kept.choose(ROOT, 'push', rows, { skip: ['f/'] });
    expect(skippedTotals(kept.skipped(ROOT)).rows).toBe(CHOICE_PATHS_MAX + 1);
    kept.flush();
    expect(filesKept()).toHaveLength(1);
    kept.choose(ROOT, 'push', rows, { include: ['f/'] });
    kept.flush();
    expect(filesKept()).toEqual([]);
    for (let at = 0; at < 300; at += 1) {
      kept.keep(`/many/${at}`, 'push', { message: 'kept' });
      kept.flush();
    }
    expect(filesKept().length).toBe(256);
  });

  it('of another process are read, and a damaged file is set aside', async () => {
    const [one, other] = [openKept(), openKept()];
    const rows = await rowsAt(['a']);
    one.choose(ROOT, 'push', rows, { skip: ['a'] });
    one.flush();
    expect(other.open(ROOT, LIST, rows).choices.skipped).toHaveLength(1);
    other.keep(ROOT, 'push', { message: 'from the other' });
    other.flush();
    expect(one.open(ROOT, LIST, rows)).toMatchObject({ message: 'from the other' });
    const path = join(sandbox.folder, 'changes', filesKept()[0]!);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 40));
    expect(openKept().open(ROOT, LIST, rows)).toMatchObject({ message: '', choices: { skipped: [] } });
    expect(filesKept()).toEqual([expect.stringMatching(/\.damaged$/)]);
  });

  it('travel in pages, excluded rows before decisions', async () => {
    const kept = openKept();
    const paths = Array.from({ length: 3_500 }, (_, at) => `f/${String(at).padStart(7, '0')}`);
    const rows = await rowsAt(paths);
    kept.choose(ROOT, 'push', rows, { skip: paths.slice(0, 2_500) });
    kept.choose(ROOT, 'push', rows, { decide: paths.slice(2_500).map((path) => [path, 'ours'] as const) });
    const first = kept.open(ROOT, { ...LIST, conflicts: 1_000 }, rows).choices;
    const all = { skipped: [...first.skipped], decided: [...first.decided] };
    const sizes: number[] = [first.skipped.length + first.decided.length];
    for (let { next } = first; next !== undefined; ) {
      const page = kept.choices(ROOT, 'push', next);
      expect(page.version).toBe(first.version);
      all.skipped.push(...page.skipped);
      all.decided.push(...page.decided);
      sizes.push(page.skipped.length + page.decided.length);
      next = page.next;
    }
    expect(all.skipped.map(({ path }) => path)).toEqual(paths.slice(0, 2_500));
    expect(sizes.every((size) => size <= 2_000)).toBe(true);
    expect(kept.choices(ROOT, 'push', 1_000_000)).toMatchObject({ skipped: [], decided: [] });
  });
});
