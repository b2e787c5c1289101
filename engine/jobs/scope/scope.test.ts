import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tag } from '../history/refs.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { switchBranch } from '../pull/switch.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { diff } from '../working-copy/diff.ts';
import { restore } from '../working-copy/restore.ts';
import { status } from '../working-copy/status.ts';
import { scope } from './scope.ts';

let sandbox: Sandbox;
let whole: string;
let part: string;

beforeEach(async () => {
  sandbox = createSandbox();
  whole = sandbox.path('whole');
  part = sandbox.path('part');
  for (const folder of ['a', 'b', 'c/d', 'c/e'])
    for (let at = 0; at < 5; at += 1) sandbox.write(`whole/${folder}/${at}.txt`, `${folder} ${at}`);
  sandbox.write('whole/.drayignore', '*.tmp\n');
  mkdirSync(sandbox.path('whole/empty'));
  await initWorkspace(testContext(whole), { remoteUrl: sandbox.path('store') });
  await push(testContext(whole), {});
});
afterEach(() => sandbox[Symbol.dispose]());

const clonePart = (...only: string[]) =>
  cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'part', only });
const changed = async (root: string) => (await status(testContext(root), {})).changes;
const NOTHING = { added: 0, modified: 0, deleted: 0 };

describe('A clone of a part', () => {
  it('has the files of the part and the ignore files above it', async () => {
    expect(await clonePart('c/d')).toMatchObject({ changes: { added: 6 }, failed: 0 });
    const held = describeTree(whole).filter((line) => /^(\.drayignore|c\/$|c\/d\/)/.test(line));
    expect(held).toHaveLength(8);
    expect(describeTree(part)).toEqual(held);
    expect(await status(testContext(part), {})).toMatchObject({
      changes: NOTHING,
      scope: { only: ['c/d'], outside: { count: 0 } },
    });
  });

  it('is refused by a Dray that knows no scope', async () => {
    await clonePart('c/d');
    expect(JSON.parse(readFileSync(`${part}/.dray/state.json`, 'utf8'))).toMatchObject({ format: 2 });
    await scope(testContext(part), { action: 'clear' });
    expect(JSON.parse(readFileSync(`${part}/.dray/state.json`, 'utf8'))).toMatchObject({ format: 1 });
  });

  it('goes on only with the same part', async () => {
    await clonePart('c/d');
    expect(await clonePart('c/d')).toMatchObject({ result: 'upToDate' });
    await expect(clonePart('a')).rejects.toMatchObject({ code: 'workspaceExists' });
    await expect(clonePart()).rejects.toMatchObject({ code: 'workspaceExists' });
  });
});

describe('A push from a part', () => {
  it('keeps everything outside as the branch has it', async () => {
    await clonePart('c/d');
    writeFileSync(`${part}/c/d/new.txt`, 'new');
    writeFileSync(`${part}/c/d/0.txt`, 'other');
    rmSync(`${part}/c/d/1.txt`);
    expect(await push(testContext(part), {})).toMatchObject({
      result: 'pushed',
      changes: { added: 1, modified: 1, deleted: 1 },
    });
    expect(await changed(part)).toMatchObject(NOTHING);
    await pull(testContext(whole), {});
    expect(readFileSync(`${whole}/c/d/new.txt`, 'utf8')).toBe('new');
    expect(existsSync(`${whole}/c/d/1.txt`)).toBe(false);
    expect(existsSync(`${whole}/a/0.txt`)).toBe(true);
    expect(existsSync(`${whole}/empty`)).toBe(true);
  });

  it('names files outside, and neither sends nor removes them', async () => {
    await clonePart('c/d');
    sandbox.write('part/a/0.txt', 'mine');
    sandbox.write('part/x.txt', 'mine');
    sandbox.write('part/c/d/new.txt', 'new');
    const state = await status(testContext(part), {});
    expect(state.scope?.outside).toEqual({ count: 2, paths: ['a/0.txt', 'x.txt'] });
    const context = testContext(part);
    expect(await push(context, {})).toMatchObject({ changes: { added: 1, modified: 0 } });
    expect(eventsOf(context, 'warning').map(({ warning }) => warning)).toContain('outsideScope');
    await pull(testContext(whole), {});
    expect(readFileSync(`${whole}/a/0.txt`, 'utf8')).toBe('a 0');
    expect(existsSync(`${whole}/x.txt`)).toBe(false);
    expect(readFileSync(`${part}/a/0.txt`, 'utf8')).toBe('mine');
  });

  it('merges with what others changed outside, without a download', async () => {
    await clonePart('c/d');
    sandbox.write('whole/a/0.txt', Buffer.alloc(300_000, 'x'));
    rmSync(`${whole}/b`, { recursive: true });
    await push(testContext(whole), {});
    sandbox.write('part/c/d/new.txt', 'new');
    expect(await push(testContext(part), {})).toMatchObject({ result: 'pushed' });
    const pulled = await pull(testContext(part), {});
    expect(pulled).toMatchObject({ result: 'pulled', downloadedBytes: 0, failed: 0, changes: NOTHING });
    await pull(testContext(whole), {});
    expect(existsSync(`${whole}/b`)).toBe(false);
    expect(existsSync(`${whole}/c/d/new.txt`)).toBe(true);
    expect(await changed(part)).toMatchObject(NOTHING);
  });

  it('ends an empty folder of the branch that its new file fills', async () => {
    await clonePart('c/d', 'empty/x/');
    sandbox.write('part/empty/x/1', 'one');
    await push(testContext(part), {});
    await pull(testContext(whole), {});
    expect(await changed(whole)).toMatchObject(NOTHING);
    const copy = { url: sandbox.path('store'), directory: 'again' };
    await cloneWorkspace(testContext(sandbox.folder), copy);
    expect(await changed(sandbox.path('again'))).toMatchObject(NOTHING);
    expect(describeTree(sandbox.path('again'))).toEqual(describeTree(whole));
  });

  it('is refused below a file of the branch', async () => {
    await clonePart('c/d', 'a/0.txt/x/');
    sandbox.write('part/a/0.txt/x/1', 'one');
    await expect(push(testContext(part), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'outsideScope', paths: ['a/0.txt'] },
    });
  });

  it('takes the place of that file once the file is in the part, as the refusal says', async () => {
    await clonePart('c/d', 'a/0.txt/x/');
    sandbox.write('part/a/0.txt/x/1', 'one');
    const pushing = () => push(testContext(part), {});
    const advice = expect.stringContaining('"dray scope add a/0.txt", delete the file, move the folder back');
    await expect(pushing()).rejects.toMatchObject({ data: { advice } });
    renameSync(`${part}/a/0.txt`, sandbox.path('away'));
    await scope(testContext(part), { action: 'add', patterns: ['a/0.txt'] });
    rmSync(`${part}/a/0.txt`);
    renameSync(sandbox.path('away'), `${part}/a/0.txt`);
    expect(await pushing()).toMatchObject({ result: 'pushed', changes: { added: 1, deleted: 1 } });
    await pull(testContext(whole), {});
    expect(readFileSync(`${whole}/a/0.txt/x/1`, 'utf8')).toBe('one');
  });

  it('is refused below a file of its base alone until it pulls, as the refusal says', async () => {
    await clonePart('c/d', 'a/0.txt/x/');
    rmSync(`${whole}/a/0.txt`);
    await push(testContext(whole), {});
    sandbox.write('part/a/0.txt/x/1', 'one');
    const refused = await push(testContext(part), {}).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'conflict', data: { advice: 'Pull first, then push.' } });
    expect((refused as Error).message).toMatch(/is based has a file at a\/0\.txt.* another commit now/);
    await pull(testContext(part), {});
    expect(await push(testContext(part), {})).toMatchObject({ result: 'pushed' });
    await pull(testContext(whole), {});
    expect(readFileSync(`${whole}/a/0.txt/x/1`, 'utf8')).toBe('one');
  });

  it('is refused below a file that others have put there meanwhile', async () => {
    await clonePart('c/d', 'n/x/');
    sandbox.write('whole/n', 'a file');
    await push(testContext(whole), {});
    sandbox.write('part/n/x/1', 'one');
    await expect(push(testContext(part), {})).rejects.toMatchObject({ data: { reason: 'outsideScope' } });
  });
});

describe('A change of scope', () => {
  it('fetches what enters and removes what leaves', async () => {
    await clonePart('c/d');
    const added = await scope(testContext(part), { action: 'add', patterns: ['a', '*.none'] });
    expect(added).toMatchObject({ only: ['c/d', 'a', '*.none'], fetched: 5, removed: 0, failed: 0 });
    expect(await changed(part)).toMatchObject(NOTHING);
    const dropped = await scope(testContext(part), { action: 'drop', patterns: ['c/d/', '*.none'] });
    expect(dropped).toMatchObject({ only: ['a'], fetched: 0, removed: 5, outside: { count: 0 } });
    expect(existsSync(`${part}/c`)).toBe(false);
    const moved = await scope(testContext(part), { action: 'only', patterns: ['b'] });
    expect(moved).toMatchObject({ only: ['b'], fetched: 5, removed: 5 });
    await scope(testContext(part), { action: 'clear' });
    expect(describeTree(part)).toEqual(describeTree(whole));
    expect(await changed(part)).toMatchObject(NOTHING);
    const narrowed = await scope(testContext(part), { action: 'only', patterns: ['c'] });
    expect(narrowed).toMatchObject({ removed: 10, requests: { total: 0 } });
    expect(await changed(part)).toMatchObject(NOTHING);
    expect(await push(testContext(part), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it('keeps what was not pushed, and names it', async () => {
    await clonePart('a', 'b');
    writeFileSync(`${part}/b/0.txt`, 'edited');
    writeFileSync(`${part}/b/new.txt`, 'new');
    rmSync(`${part}/b/1.txt`);
    const dropped = await scope(testContext(part), { action: 'drop', patterns: ['b'] });
    expect(dropped).toMatchObject({ removed: 3, outside: { count: 2, paths: ['b/0.txt', 'b/new.txt'] } });
    expect(await push(testContext(part), {})).toMatchObject({ result: 'nothingToPush' });
    const adding = () => scope(testContext(part), { action: 'add', patterns: ['b'] });
    const refused = { code: 'conflict', data: { reason: 'inTheWay', paths: ['b/0.txt'] } };
    await expect(adding()).rejects.toMatchObject(refused);
    expect(readFileSync(`${part}/b/0.txt`, 'utf8')).toBe('edited');
    renameSync(`${part}/b/0.txt`, `${part}/b/mine.txt`);
    expect(await adding()).toMatchObject({ fetched: 5, outside: { count: 0 } });
    expect(await changed(part)).toMatchObject({ added: 2, modified: 0, deleted: 0 });
    expect(readFileSync(`${part}/b/mine.txt`, 'utf8')).toBe('edited');
  });

  it('takes a file that is already here for what it is', async () => {
    await clonePart('a');
    sandbox.write('part/b/0.txt', 'b 0');
    sandbox.write('part/b/new.txt', 'mine');
    const added = await scope(testContext(part), { action: 'add', patterns: ['b'] });
    expect(added).toMatchObject({ fetched: 4 });
    expect(await changed(part)).toMatchObject({ added: 1, modified: 0, deleted: 0 });
  });

  it('never takes a file of an older commit for an edit, which a push would record', async () => {
    await clonePart('a');
    sandbox.write('part/b/0.txt', 'b 0');
    sandbox.write('whole/b/0.txt', 'of others');
    await push(testContext(whole), {});
    await pull(testContext(part), {});
    const adding = scope(testContext(part), { action: 'add', patterns: ['b'] });
    await expect(adding).rejects.toMatchObject({ data: { reason: 'inTheWay', paths: ['b/0.txt'] } });
    expect(await status(testContext(part), {})).toMatchObject({ changes: NOTHING, scope: { only: ['a'] } });
  });

  it('fetches files where empty folders lie', async () => {
    await clonePart('a');
    mkdirSync(`${part}/b/0.txt`, { recursive: true });
    mkdirSync(`${part}/b/1.txt/deep/er`, { recursive: true });
    const added = await scope(testContext(part), { action: 'add', patterns: ['b'] });
    expect(added).toMatchObject({ fetched: 5, failed: 0 });
    expect(readFileSync(`${part}/b/1.txt`, 'utf8')).toBe('b 1');
    expect(await changed(part)).toMatchObject(NOTHING);
  });

  it('is refused while something here is in the way', async () => {
    await clonePart('a');
    sandbox.write('part/b', 'a file in place of the folder');
    const adding = scope(testContext(part), { action: 'add', patterns: ['b'] });
    await expect(adding).rejects.toMatchObject({ code: 'conflict', data: { reason: 'inTheWay' } });
    expect(await status(testContext(part), {})).toMatchObject({ changes: NOTHING, scope: { only: ['a'] } });
    expect(readFileSync(`${part}/b`, 'utf8')).toBe('a file in place of the folder');
  });

  it('that misses an object on the remote leaves the scope as it was', async () => {
    await clonePart('a');
    renameSync(sandbox.path('store/packs'), sandbox.path('away'));
    const context = testContext(part);
    expect(await scope(context, { action: 'add', patterns: ['b'] })).toMatchObject({
      only: ['a'],
      failed: 5,
    });
    renameSync(sandbox.path('away'), sandbox.path('store/packs'));
    expect(await changed(part)).toMatchObject(NOTHING);
    expect(await scope(context, { action: 'add', patterns: ['b'] })).toMatchObject({ fetched: 5, failed: 0 });
  });

  it('is refused if it names nothing that makes sense', async () => {
    const change = (root: string, action: 'add' | 'drop', pattern: string) =>
      scope(testContext(root), { action, patterns: [pattern] });
    await expect(change(whole, 'add', 'a')).rejects.toMatchObject({ data: { reason: 'noScope' } });
    await clonePart('a', 'b');
    await expect(change(part, 'drop', 'c')).rejects.toMatchObject({ data: { reason: 'notInScope' } });
    await expect(change(part, 'add', '../c')).rejects.toMatchObject({ code: 'usage' });
    await scope(testContext(part), { action: 'drop', patterns: ['a'] });
    await expect(change(part, 'drop', 'b')).rejects.toMatchObject({ data: { reason: 'nothingLeft' } });
  });
});

describe('A workspace that holds a part', () => {
  it('switches, restores and compares within it', async () => {
    await clonePart('c');
    await switchBranch(testContext(whole), { name: 'trial', create: true });
    sandbox.write('whole/a/0.txt', 'trial');
    sandbox.write('whole/c/d/0.txt', 'trial');
    await push(testContext(whole), {});
    const switched = await switchBranch(testContext(part), { name: 'trial' });
    expect(switched).toMatchObject({ branch: 'trial', changes: { modified: 1 } });
    expect(await changed(part)).toMatchObject(NOTHING);
    expect(existsSync(`${part}/a`)).toBe(false);
    expect(await diff(testContext(part), { from: 'main' })).toMatchObject({ changes: { modified: 1 } });
    const both = await diff(testContext(part), { from: 'main', to: 'trial' });
    expect(both).toMatchObject({ changes: { modified: 2 } });
    expect(await restore(testContext(part), { paths: ['.'], from: 'main' })).toMatchObject({ restored: 1 });
    expect(readFileSync(`${part}/c/d/0.txt`, 'utf8')).toBe('c/d 0');
    const outside = restore(testContext(part), { paths: ['a'] });
    await expect(outside).rejects.toMatchObject({ data: { reason: 'outsideScope' } });
    expect(await status(testContext(part), { remote: true })).toMatchObject({ upstream: { state: 'same' } });
  });

  it('is of a tag too, and goes on with the branch, which keeps what it has got since', async () => {
    await tag(testContext(whole), { name: 'v1' });
    sandbox.write('whole/a/0.txt', 'later');
    sandbox.write('whole/c/d/0.txt', 'later');
    await push(testContext(whole), {});
    const request = { url: sandbox.path('store'), directory: 'part', ref: 'v1', only: ['c/d'] };
    await cloneWorkspace(testContext(sandbox.folder), request);
    expect(readFileSync(`${part}/c/d/0.txt`, 'utf8')).toBe('c/d 0');
    expect(await changed(part)).toMatchObject(NOTHING);
    sandbox.write('part/c/d/new.txt', 'new');
    await expect(push(testContext(part), {})).rejects.toMatchObject({ data: { reason: 'detached' } });
    await switchBranch(testContext(part), { name: 'main' });
    expect(await push(testContext(part), {})).toMatchObject({ changes: { added: 1, modified: 0 } });
    await pull(testContext(whole), {});
    for (const path of ['a/0.txt', 'c/d/0.txt'])
      expect(readFileSync(`${whole}/${path}`, 'utf8')).toBe('later');
    expect(existsSync(`${whole}/c/d/new.txt`)).toBe(true);
  });

  it('is empty on a branch that has nothing of it, and comes back', async () => {
    await clonePart('c/d');
    const held = describeTree(part);
    await switchBranch(testContext(whole), { name: 'trial', create: true });
    rmSync(`${whole}/c`, { recursive: true });
    await push(testContext(whole), {});
    await switchBranch(testContext(part), { name: 'trial' });
    expect(describeTree(part).map((line) => line.split(' ')[0])).toEqual(['.drayignore']);
    expect(await push(testContext(part), {})).toMatchObject({ result: 'nothingToPush' });
    await switchBranch(testContext(part), { name: 'main' });
    expect(describeTree(part)).toEqual(held);
    expect(await changed(part)).toMatchObject(NOTHING);
  });

  it('works after its index is lost', async () => {
    await clonePart('c');
    sandbox.write('part/c/d/0.txt', 'edited');
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${part}/.dray/index.db${suffix}`, { force: true });
    expect(await changed(part)).toMatchObject({ added: 0, modified: 1, deleted: 0 });
    expect(await push(testContext(part), { noIndex: true })).toMatchObject({ changes: { modified: 1 } });
    await pull(testContext(whole), {});
    expect(existsSync(`${whole}/a/0.txt`)).toBe(true);
    expect(readFileSync(`${whole}/c/d/0.txt`, 'utf8')).toBe('edited');
  });
});
