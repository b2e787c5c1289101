import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportDvcRequest } from '../../../api/jobs/imports.ts';
import { runBudget } from '../../../base/run-budget.fixture.ts';
import { collectGarbage } from '../../collect/collect.ts';
import { log } from '../../history/log.ts';
import { branch } from '../../history/refs.ts';
import { cloneWorkspace } from '../../pull/clone.ts';
import { push } from '../../push/push.ts';
import { initWorkspace } from '../../remotes/init.ts';
import { eventsOf, testContext } from '../../session/job.fixture.ts';
import { dvcFile, freshProjectPerTest, listOf, md5Of, project, sandbox } from './dvc-project.fixture.ts';
import { importDvc } from './import-dvc.ts';

const MIB = 1024 * 1024;

freshProjectPerTest();

const context = (more: Readonly<Record<string, string>> = {}) =>
  testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache'), ...more } });

const run = (request: Partial<ImportDvcRequest> = {}, at = context()) =>
  importDvc(at, { project: 'project', to: 'repository', ...request });

/** The files of a commit, by a clone. */
async function cloned(ref = 'main', more: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = sandbox.path(`clone-${ref.replaceAll('/', '-')}-${counter++}`);
  await cloneWorkspace(context(more), { url: sandbox.path('repository'), directory, ref });
  return directory;
}
let counter = 0;

const textIn = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');

/** The commits of a branch, newest first. */
async function history(ref = 'main') {
  const at = testContext(await cloned(ref));
  await log(at, { ref });
  return eventsOf(at, 'commit');
}

describe('an import of a DVC project', () => {
  it('takes files and folders of both layouts, and text that 2.x hashed without its carriage returns', async () => {
    const nested = project.store('nested', { isOld: true });
    const windows = project.store('a\r\nb\r\n', { isOld: true });
    const list = listOf({ 'sub/n': nested, 'w.txt': windows });
    const old = project.store(list, { isOld: true, isFolder: true });
    project.write('data.dvc', dvcFile('data', `${old}.dir`, {}));
    project.write('in/tool.dvc', dvcFile('tool', project.store('run\r\n'), { hash: 'md5', isexec: true }));
    project.write('in/empty.dvc', dvcFile('empty', project.store('')));
    project.write('in/moved.dvc', dvcFile('moved', project.store('moved', { isOld: true })));
    project.write('README', 'git has it');
    project.commit('First');
    expect(await run()).toMatchObject({ result: 'imported', commits: 1, refs: 1, failed: 0, readFiles: 5 });
    const folder = await cloned();
    expect(textIn(folder, 'data/sub/n')).toBe('nested');
    expect(textIn(folder, 'data/w.txt')).toBe('a\r\nb\r\n');
    expect(textIn(folder, 'in/tool')).toBe('run\r\n');
    expect(statSync(join(folder, 'in/tool')).mode & 0o111).not.toBe(0);
    expect(textIn(folder, 'in/empty')).toBe('');
    expect(textIn(folder, 'in/moved')).toBe('moved');
    expect(() => textIn(folder, 'README')).toThrow('ENOENT');
  });

  it('keeps authors, dates, messages, the order of parents, branches and tags', async () => {
    project.commit('Nothing yet', 1_600_000_000);
    project.git('tag', 'none');
    project.write('a.dvc', dvcFile('a', project.store('a1')));
    project.commit('One\n\nwith a body', 1_600_001_000);
    project.git('tag', '-a', '-m', 'annotated', 'v1');
    project.write('code.py', 'no data');
    project.commit('Only code', 1_600_002_000);
    project.git('checkout', '-q', '-b', 'side/x');
    project.write('b.dvc', dvcFile('b', project.store('b1')));
    const side = project.commit('Side', 1_600_003_000);
    project.git('checkout', '-q', 'main');
    project.write('a.dvc', dvcFile('a', project.store('a2')));
    project.commit('Two', 1_600_004_000);
    project.git('merge', '-q', '--no-ff', '-m', 'Merge side', 'side/x');
    const at = context();
    expect(await run({ allCommits: true }, at)).toMatchObject({ states: 6, commits: 4, refs: 3 });
    expect(eventsOf(at, 'warning').map(({ warning }) => warning)).toContain('refLeftOut');
    const [merge, ...others] = await history();
    expect(merge).toMatchObject({ message: expect.stringMatching(/^Merge side\n/) });
    const byTitle = new Map([merge!, ...others].map((commit) => [commit.message.split('\n', 1)[0], commit]));
    expect([...byTitle.keys()].sort()).toEqual(['Merge side', 'One', 'Side', 'Two']);
    expect(merge!.parents).toEqual([byTitle.get('Two')!.commit, byTitle.get('Side')!.commit]);
    expect(byTitle.get('One')).toMatchObject({ author: 'Ada Ö <ada@example.org>', parents: [] });
    expect(byTitle.get('One')!.message).toMatch(/^One\n\nwith a body\n\nDVC-Revision: [0-9a-f]{40}$/);
    expect(byTitle.get('Side')).toMatchObject({
      time: '2020-09-13T13:16:40.000Z',
      message: `Side\n\nDVC-Revision: ${side}`,
    });
    expect(textIn(await cloned('v1'), 'a')).toBe('a1');
    expect(textIn(await cloned('side/x'), 'b')).toBe('b1');
  });

  it('adds what is new, and reads nothing twice, even with a new cache', async () => {
    project.write('a.dvc', dvcFile('a', project.store('a1')));
    project.commit('One');
    await run({ allCommits: true });
    expect(await run({ allCommits: true })).toMatchObject({ result: 'upToDate', readFiles: 0, commits: 0 });
    project.write('b.dvc', dvcFile('b', project.store('b1')));
    project.commit('Two');
    rmSync(sandbox.path('cache'), { recursive: true });
    expect(await run({ allCommits: true })).toMatchObject({ commits: 1, refs: 1, uploadedObjects: 1 });
    expect((await history()).map(({ message }) => message.split('\n', 1)[0])).toEqual(['Two', 'One']);
    const second = await run({ rev: 'HEAD' });
    expect(second).toMatchObject({ result: 'upToDate', failed: 0 });
  });

  it('publishes nothing if content is missing or damaged, and names the files', async () => {
    project.write('good.dvc', dvcFile('good', project.store('good')));
    project.commit('Good');
    project.write('gone.dvc', dvcFile('gone', md5Of('gone')));
    project.write('bad.dvc', dvcFile('bad', project.store('bad', { damagedBy: 'other' })));
    project.commit('Bad');
    const at = context();
    expect(await run({ allCommits: true }, at)).toMatchObject({ result: 'refused', failed: 2, refs: 0 });
    expect(
      eventsOf(at, 'fileFailed')
        .map(({ error, path }) => [path, error.code])
        .sort(),
    ).toEqual([
      ['bad', 'damaged'],
      ['gone', 'notFound'],
    ]);
    await expect(cloned()).rejects.toMatchObject({ code: 'notFound' });
    const skipping = await run({ allCommits: true, skipMissing: true });
    expect(skipping).toMatchObject({ result: 'imported', failed: 2, commits: 2 });
    const [newest] = await history();
    expect(newest!.message).toContain('Left out, because DVC no longer had the content: "bad", "gone".');
    expect(textIn(await cloned(), 'good')).toBe('good');
  });

  it('names again what an earlier import left out, and writes no second commit for the same state', async () => {
    project.write('good.dvc', dvcFile('good', project.store('good')));
    for (const name of ['gone', 'lost']) project.write(`${name}.dvc`, dvcFile(name, md5Of(name)));
    project.commit('Two are missing');
    await run({ allCommits: true, skipMissing: true });
    project.write('code.py', 'no data');
    project.commit('Only code');
    project.write('code.py', 'still no data');
    project.commit('Only code again');
    for (const skipMissing of [false, true]) {
      const at = context();
      const again = await run({ allCommits: true, skipMissing }, at);
      expect(again).toMatchObject({ result: 'upToDate', failed: 2, commits: 0 });
      const failed = eventsOf(at, 'fileFailed').map(({ error, path }) => [path, error.message]);
      expect(failed).toEqual(
        ['gone', 'lost'].map((path) => [path, expect.stringContaining('an earlier import left it out')]),
      );
    }
    expect(await history()).toHaveLength(1);
    project.write('new.dvc', dvcFile('new', md5Of('new')));
    project.commit('A third one is missing');
    expect(await run({ allCommits: true })).toMatchObject({ result: 'refused', failed: 3 });
    project.git('reset', '-q', '--hard', 'HEAD~1');
    project.remove('lost.dvc');
    project.remove('gone.dvc');
    project.write('new.dvc', dvcFile('new', project.store('new')));
    project.commit('Nothing is missing');
    expect(await run({ allCommits: true })).toMatchObject({ result: 'imported', failed: 2, commits: 1 });
  });

  it('says how many files an earlier import left out, if its message does not name all', async () => {
    for (let at = 0; at < 25; at += 1) project.write(`${at}.dvc`, dvcFile(`${at}`, md5Of(`${at}`)));
    project.write('good.dvc', dvcFile('good', project.store('good')));
    project.commit('25 are missing');
    await run({ allCommits: true, skipMissing: true });
    const at = context();
    expect(await run({ allCommits: true }, at)).toMatchObject({ result: 'upToDate', failed: 25 });
    expect(eventsOf(at, 'fileFailed')).toHaveLength(20);
    const warnings = eventsOf(at, 'warning').filter(({ warning }) => warning === 'leftOutBefore');
    expect(warnings).toMatchObject([{ message: expect.stringContaining('left 5 more files out') }]);
  });

  it('reads each output from its own remote, and what is not pushed from the cache', async () => {
    const own = { hash: 'md5', remote: 'other' };
    project.write('o.dvc', dvcFile('o', project.store('of other', { at: 'other' }), own));
    const local = project.store('local', { at: 'project/.dvc/cache' });
    project.write('.gitignore', '.dvc/cache\n');
    project.write('l.dvc', dvcFile('l', local, { hash: 'md5', push: false }));
    project.commit('One');
    expect(await run()).toMatchObject({ result: 'imported', failed: 0 });
    expect(textIn(await cloned(), 'o')).toBe('of other');
    rmSync(join(project.root, '.dvc/cache'), { recursive: true });
    const at = context();
    expect(await run({ to: 'second' }, at)).toMatchObject({ result: 'refused', failed: 1 });
    expect(eventsOf(at, 'fileFailed')[0]!.error.message).toContain('"push: false"');
    const byPlace = { to: 'third', remote: sandbox.path('other') };
    expect(await run(byPlace)).toMatchObject({ result: 'refused', failed: 1 });
  });

  it('prefers the remote if the copy in the local cache is damaged', async () => {
    const md5 = project.store('right');
    project.store('right', { at: 'project/.dvc/cache', damagedBy: 'wrong' });
    project.write('.gitignore', '.dvc/cache\n');
    project.write('a.dvc', dvcFile('a', md5));
    project.commit('One');
    expect(await run()).toMatchObject({ result: 'imported', failed: 0 });
    expect(textIn(await cloned(), 'a')).toBe('right');
  });

  it('takes the outputs of a pipeline, but not what git tracks or dvc.yaml does not name', async () => {
    const lock = (path: string, content: string) => ({ path, hash: 'md5', md5: project.store(content) });
    const stages = {
      make: {
        cmd: 'x',
        outs: [lock('out', 'out'), lock('m.json', '{}'), lock('tracked', 'git'), lock('no', 'no')],
      },
      'each@p': { cmd: 'x', outs: [lock('p.txt', 'each')] },
      old: { cmd: 'x', outs: [lock('stale', 'stale')] },
    };
    const make = { cmd: 'x', outs: ['out', 'tracked'], metrics: [{ 'm.json': { cache: false } }] };
    const each = { foreach: ['p'], do: { cmd: 'x', outs: [`\${item}.txt`] } };
    project.write('pipe/dvc.yaml', JSON.stringify({ stages: { make, each } }));
    project.write('pipe/dvc.lock', JSON.stringify({ schema: '2.0', stages }));
    project.write('pipe/tracked', 'git');
    project.commit('One');
    expect(await run()).toMatchObject({ result: 'imported', readFiles: 2 });
    const folder = await cloned();
    expect(textIn(folder, 'pipe/out')).toBe('out');
    expect(textIn(folder, 'pipe/p.txt')).toBe('each');
  });

  it('stores large files in chunks, and everything encrypted in an encrypted repository', async () => {
    const password = { DRAY_PASSWORD: 'secret' };
    const large = randomBytes(20 * MIB);
    const middle = Buffer.from('compressible '.repeat(100_000));
    project.write('large.dvc', dvcFile('large', project.store(large)));
    project.write('middle.dvc', dvcFile('middle', project.store(middle)));
    project.write('small.dvc', dvcFile('small', project.store('small')));
    project.commit('One');
    const work = sandbox.path('work');
    sandbox.write('work/first', 'first');
    const layout = { packBelow: 1000, chunkAbove: 8 * MIB };
    for (const encrypt of [false, true]) {
      rmSync(sandbox.path('repository'), { recursive: true, force: true });
      rmSync(work, { recursive: true, force: true });
      sandbox.write('work/first', 'first');
      const init = { remoteUrl: sandbox.path('repository'), layout, encrypt };
      const { recoveryKey } = await initWorkspace(testContext(work, { environment: password }), init);
      // Opens it without the cost of a password.
      if (recoveryKey !== undefined) password.DRAY_PASSWORD = recoveryKey;
      expect(await run({ allCommits: true }, context(password))).toMatchObject({ result: 'imported' });
      const folder = await cloned('main', password);
      expect(readFileSync(join(folder, 'large')).equals(large)).toBe(true);
      expect(readFileSync(join(folder, 'middle')).equals(middle)).toBe(true);
      expect(textIn(folder, 'small')).toBe('small');
    }
  });

  it('stores a large file as one object where the repository has no chunks', async () => {
    const large = Buffer.alloc(runBudget({ short: 20, long: 65 }) * MIB, 'large');
    project.write('large.dvc', dvcFile('large', project.store(large)));
    project.commit('One');
    const init = { remoteUrl: sandbox.path('repository'), layout: { kind: 'objects' as const } };
    await initWorkspace(testContext(sandbox.path('work', '.')), init);
    expect(await run()).toMatchObject({ result: 'imported' });
    expect(readFileSync(join(await cloned(), 'large')).equals(large)).toBe(true);
  });

  it('does not put its commits over those of others', async () => {
    project.write('a.dvc', dvcFile('a', project.store('a1')));
    project.commit('One');
    sandbox.write('work/own', 'own');
    const at = testContext(sandbox.path('work'));
    await initWorkspace(at, { remoteUrl: sandbox.path('repository') });
    await push(at, {});
    await expect(run()).rejects.toMatchObject({ code: 'conflict' });
    await expect(run({ allCommits: true })).rejects.toMatchObject({ code: 'conflict' });
    expect(textIn(await cloned(), 'own')).toBe('own');
  });

  it('stores again what a collection has removed, although the cache knows it', async () => {
    project.write('a.dvc', dvcFile('a', project.store(Buffer.alloc(2 * MIB, 'an object'))));
    project.write('b.dvc', dvcFile('b', project.store('in a pack')));
    project.commit('One');
    project.git('branch', 'other');
    await run({ rev: 'main' });
    const work = await cloned();
    sandbox.write('empty/own', 'own');
    const own = testContext(sandbox.path('empty'));
    await initWorkspace(own, { remoteUrl: sandbox.path('repository'), branch: 'unrelated' });
    await push(own, {});
    await branch(own, { name: 'main', remove: true });
    const collected = await collectGarbage(testContext(work), { graceSeconds: 0 });
    expect(collected.removedObjects).toBeGreaterThan(1);
    expect(await run({ rev: 'other' })).toMatchObject({
      result: 'imported',
      readFiles: 2,
      uploadedObjects: 2,
    });
    const folder = await cloned('other');
    expect(textIn(folder, 'a')).toHaveLength(2 * MIB);
    expect(textIn(folder, 'b')).toBe('in a pack');
  });

  it('imports tagged states alone, with the nearest tagged ones as parents', async () => {
    for (const number of [1, 2, 3]) {
      project.write('a.dvc', dvcFile('a', project.store(`a${number}`)));
      project.commit(`Number ${number}`);
      if (number !== 2) project.git('tag', `v${number}`);
    }
    expect(await run({ allTags: true })).toMatchObject({ commits: 2, refs: 2, readFiles: 2 });
    expect((await history('v3')).map(({ message }) => message.split('\n', 1)[0])).toEqual([
      'Number 3',
      'Number 1',
    ]);
  });

  it('says so if a merge has more parents than a commit can name', async () => {
    const parents = Array.from({ length: 18 }, (_, at) => {
      project.git('checkout', '-q', '--orphan', `side-${at}`);
      project.write('a.dvc', dvcFile('a', project.store(`a${at}`)));
      return project.commit(`Side ${at}`);
    });
    const flags = parents.flatMap((parent) => ['-p', parent]);
    const merge = project.git('commit-tree', 'HEAD^{tree}', ...flags, '-m', 'Octopus').trim();
    project.git('branch', 'main', merge);
    const at = context();
    expect(await run({ allCommits: true }, at)).toMatchObject({ result: 'imported', commits: 19 });
    const warnings = eventsOf(at, 'warning').filter(({ warning }) => warning === 'parentsLeftOut');
    expect(warnings).toMatchObject([{ message: expect.stringContaining('18 parents') }]);
    const commits = await history();
    expect(commits.find(({ message }) => message.startsWith('Octopus'))!.parents).toHaveLength(16);
    expect(await run({ allCommits: true })).toMatchObject({ result: 'upToDate' });
  });

  it('imports one revision under its own name', async () => {
    project.write('a.dvc', dvcFile('a', project.store('a1')));
    const first = project.commit('One');
    project.write('a.dvc', dvcFile('a', project.store('a2')));
    project.commit('Two');
    await run({ rev: first });
    expect(textIn(await cloned(`dvc-${first.slice(0, 12)}`), 'a')).toBe('a1');
    expect(await run({ rev: 'main' })).toMatchObject({ commits: 1, refs: 1 });
    expect(textIn(await cloned(), 'a')).toBe('a2');
    await expect(run({ rev: 'nowhere' })).rejects.toMatchObject({ code: 'notFound' });
  });

  it('does not take a commit without its history for one of the whole history', async () => {
    for (const number of [1, 2, 3]) {
      project.write('a.dvc', dvcFile('a', project.store(`a${number}`)));
      project.commit(`Number ${number}`);
      if (number !== 2) project.git('tag', `v${number}`);
    }
    await run({ rev: 'HEAD' });
    await run({ allTags: true, to: 'tagged' });
    for (const to of ['repository', 'tagged'])
      await expect(run({ allCommits: true, to })).rejects.toMatchObject({ code: 'conflict' });
    expect(await history()).toHaveLength(1);
    await run({ allCommits: true, to: 'whole' });
    const second = project.git('rev-parse', 'HEAD~1').trim();
    expect(await run({ rev: second, to: 'whole' })).toMatchObject({ commits: 1, refs: 1 });
    project.write('a.dvc', dvcFile('a', project.store('a4')));
    project.commit('Number 4');
    expect(await run({ allCommits: true, to: 'whole' })).toMatchObject({ commits: 1, refs: 1 });
  });

  it('imports a folder without git, and later what has changed there', async () => {
    rmSync(join(project.root, '.git'), { recursive: true });
    project.write('a.dvc', dvcFile('a', project.store('a1')));
    expect(await run()).toMatchObject({ result: 'imported', commits: 1 });
    expect(await run()).toMatchObject({ result: 'upToDate', commits: 0 });
    project.write('a.dvc', dvcFile('a', project.store('a2')));
    expect(await run()).toMatchObject({ result: 'imported', commits: 1, readFiles: 1 });
    expect(await history()).toHaveLength(2);
    await expect(run({ allTags: true })).rejects.toMatchObject({ code: 'usage' });
  });

  it('reads the current version at a remote with cloud versioning, and names others', async () => {
    sandbox.write('remote/data/now', 'now');
    sandbox.write('remote/data/then', 'later');
    const cloud = (version_id: string) => ({ store: { etag: 'e', version_id } });
    const files = [
      { relpath: 'now', md5: md5Of('now'), size: 3, cloud: cloud('1') },
      { relpath: 'then', md5: md5Of('then'), size: 4, cloud: cloud('2') },
    ];
    project.write('data.dvc', JSON.stringify({ outs: [{ path: 'data', hash: 'md5', files }] }));
    project.commit('One');
    const at = context();
    expect(await run({ skipMissing: true }, at)).toMatchObject({ result: 'imported', failed: 1 });
    expect(eventsOf(at, 'fileFailed')).toMatchObject([{ path: 'data/then', error: { code: 'notFound' } }]);
    expect(textIn(await cloned(), 'data/now')).toBe('now');
  });

  it('names what it cannot read: remotes, paths outside, hashes of other kinds, and files that are no YAML', async () => {
    project.write('a.dvc', dvcFile('../../a', md5Of('a')));
    project.write('b.dvc', dvcFile('b', md5Of('b'), { hash: 'blake3' }));
    project.write(
      'c.dvc',
      dvcFile('c', `${project.store(listOf({ '../up': md5Of('') }), { isFolder: true })}.dir`),
    );
    project.commit('One');
    const at = context();
    expect(await run({}, at)).toMatchObject({ result: 'refused', failed: 3 });
    expect(
      eventsOf(at, 'fileFailed')
        .map(({ error }) => error.code)
        .sort(),
    ).toEqual(['unsafePath', 'unsupported', 'unsupported']);
    writeFileSync(join(project.root, 'd.dvc'), 'outs: [');
    project.commit('Two');
    const unreadable = context();
    expect(await run({}, unreadable)).toMatchObject({ result: 'refused', failed: 4 });
    expect(eventsOf(unreadable, 'fileFailed').filter(({ error }) => error.code === 'damaged')).toMatchObject([
      { path: 'd.dvc' },
    ]);
    const config = '[core]\nremote = far\n[\'remote "far"\']\nurl = ssh://host/x\n';
    project.write('.dvc/config', config);
    project.remove('d.dvc');
    project.write('e.dvc', dvcFile('e', md5Of('e')));
    project.commit('Three');
    await expect(run({ remote: 'far' })).rejects.toMatchObject({ code: 'unsupported' });
    await expect(run({ remote: 'none' })).rejects.toMatchObject({ code: 'usage', data: { known: ['far'] } });
    const other = context();
    expect(await run({}, other)).toMatchObject({ result: 'refused' });
    expect(eventsOf(other, 'fileFailed').at(-1)!.error.message).toContain('--remote .dvc/cache');
    await expect(run({ project: 'remote' })).rejects.toMatchObject({ code: 'notFound' });
  });
});
