import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommitEvent } from '../../api/events.ts';
import type { LogRequest } from '../../api/jobs/jobs.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { resolveCommit } from '../session/resolve-commit.ts';
import { log } from './log.ts';
import { type Walk, walkPathHistory } from './path-history.ts';
import { branch } from './refs.ts';

let sandbox: Sandbox;
let root: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
});
afterEach(() => sandbox[Symbol.dispose]());

async function commit(message: string, files: Readonly<Record<string, string | undefined>>, in_ = 'work') {
  for (const [path, content] of Object.entries(files)) {
    if (content === undefined) rmSync(sandbox.path(in_, path), { recursive: true });
    else sandbox.write(`${in_}/${path}`, content);
  }
  await push(testContext(sandbox.path(in_)), { message });
}

async function history(request: LogRequest): Promise<readonly string[]> {
  const context = testContext(root);
  await log(context, request);
  return eventsOf(context, 'commit').map(wordsOf);
}

function wordsOf({ change, message, sizeBytes }: CommitEvent): string {
  return [message, change, sizeBytes].filter((part) => part !== undefined).join(' ');
}

describe('the history of a path', () => {
  it('lists the commits that added, changed and deleted a file, with its size, and skips the others', async () => {
    await commit('one', { a: '1', 'a-b': 'x', 'dir/b': 'b' });
    await commit('two', { 'dir/b': 'bb' });
    await commit('three', { a: '333' });
    await commit('four', { a: undefined, 'a-b': 'y' });
    await commit('five', { a: '55' });
    expect(await history({ path: 'a' })).toEqual([
      'five added 2',
      'four deleted 3',
      'three modified 3',
      'one added 1',
    ]);
    expect(await history({ path: 'dir' })).toEqual(['two modified', 'one added']);
    expect(await history({ path: 'dir/b', limit: 1 })).toEqual(['two modified 2']);
  });

  it('resumes where it stopped at a bound of commits or of found ones, and reads no commit twice', async () => {
    for (const text of ['1', '2', '3', '4', '5']) await commit(text, { a: text.repeat(Number(text)) });
    await commit('b', { b: 'b' });
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'other' });
    await commit('theirs', { c: 'c' }, 'other');
    await commit('ours', { a: 'ours' });
    const whole = [
      'ours modified 4',
      '5 modified 5',
      '4 modified 4',
      '3 modified 3',
      '2 modified 2',
      '1 added 1',
    ];
    expect(await history({ path: 'a' })).toEqual(whole);
    const commits = 9;
    for (const bounds of [{ max: 2 }, { limit: 2 }, { limit: 1, max: 3 }]) {
      const found: string[] = [];
      let walked = 0;
      let pages = 0;
      let rest: Walk['rest'] = [];
      do {
        const context = testContext(root);
        const walk: Walk = { walked: 0, max: bounds.max ?? 100, isCut: false, rest };
        const { isMore } = await log(context, { path: 'a', limit: bounds.limit ?? 100 }, walk);
        found.push(...eventsOf(context, 'commit').map(wordsOf));
        rest = isMore ? walk.rest : [];
        walked += walk.walked;
        pages += 1;
      } while (rest.length > 0);
      expect([found, pages > 1]).toEqual([whole, true]);
      // The commits at a bound are read again: one of a line, two beside a merge.
      expect(walked).toBeLessThanOrEqual(commits + 2 * pages);
    }
  });

  it('uses a name that is no ref as a path, and fails if no commit has that path', async () => {
    await commit('one', { a: '1', main: 'm' });
    await commit('two', { a: '2' });
    expect(await history({ ref: 'a', isPerhapsPath: true })).toEqual(['two modified 1', 'one added 1']);
    expect(await history({ ref: 'main', isPerhapsPath: true })).toEqual(['two', 'one']);
    for (const request of [{ path: 'nothing' }, { ref: 'nothing', isPerhapsPath: true }, { ref: 'nothing' }])
      await expect(history(request)).rejects.toMatchObject({ code: 'notFound' });
    await expect(history({ path: '../a' })).rejects.toMatchObject({ code: 'usage' });
  });

  it('names what one side of a merge did, also where the other side won', async () => {
    await commit('one', { a: '1', b: '1' });
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'other' });
    await commit('theirs', { a: '22', 'only/here': 'x' }, 'other');
    await commit('theirs, undone', { 'only/here': undefined, 'only/': undefined }, 'other');
    sandbox.write('work/a', '333');
    await pull(testContext(root), { conflicts: 'ours' });
    await commit('ours', {});
    await commit('after', { b: '2' });
    expect(await history({ path: 'a' })).toEqual(['ours modified 3', 'theirs modified 2', 'one added 1']);
    expect(await history({ path: 'only/here' })).toEqual(['theirs, undone deleted 1', 'theirs added 1']);
  });

  it('counts a merge only if its content is that of none of its parents', async () => {
    await commit('one', { a: '1', b: '1' });
    await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'other' });
    await commit('theirs', { a: '22' }, 'other');
    await commit('ours', { b: '333' });
    const all = await history({});
    expect(all.some((message) => message.startsWith('Merge'))).toBe(true);
    expect(await history({ path: 'a' })).toEqual(['theirs modified 2', 'one added 1']);
    expect(await history({ path: 'b' })).toEqual(['ours modified 3', 'one added 1']);
  });

  it('reads each commit once, and only the segments of its manifest that its parent lacks', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 6_000 }, (_, index) => [`many/${String(index).padStart(5, '0')}`, 'x']),
    );
    await commit('one', { ...many, 'zz/last': '1' });
    for (const text of ['2', '3', '4']) await commit(text, { 'many/00000': text });
    using session = await openSession(testContext(root), 'log', 'shared');
    await using remote = await openSessionRemote(session);
    const { store } = remote;
    const keys: string[] = [];
    const read: ObjectStore['read'] = (key, options) => {
      keys.push(key);
      return store.read(key, options);
    };
    const start = await resolveCommit(session, store, 'main');
    const walk: Walk = { walked: 0, max: 100, isCut: false, rest: [] };
    const found: string[] = [];
    for await (const one of walkPathHistory(
      session,
      { ...store, read },
      [start],
      { path: 'zz/last', forgotten: new Set() },
      walk,
    ))
      found.push(`${one.commit.message} ${one.change}`);
    expect(found).toEqual(['one added']);
    expect(walk.walked).toBe(4);
    const segments = keys.filter((key) => !key.startsWith('commits/'));
    expect([keys.length - segments.length <= 4, segments.length]).toEqual([true, 1]);
  });

  it('starts at the given branch', async () => {
    await commit('one', { a: '1' });
    await branch(testContext(root), { name: 'side' });
    await commit('two', { a: '2' });
    await switchBranch(testContext(root), { name: 'side' });
    await commit('three', { a: '3' });
    expect(await history({ path: 'a' })).toEqual(['three modified 1', 'one added 1']);
  });
});
