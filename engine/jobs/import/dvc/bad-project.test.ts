/** Projects of DVC's that are wrong, unusual or hostile. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ImportDvcRequest } from '../../../api/jobs/imports.ts';
import { log } from '../../history/log.ts';
import { cloneWorkspace } from '../../pull/clone.ts';
import { push } from '../../push/push.ts';
import { eventsOf, testContext } from '../../session/job.fixture.ts';
import { dvcFile, freshProjectPerTest, listOf, md5Of, project, sandbox } from './dvc-project.fixture.ts';
import { importDvc } from './import-dvc.ts';

freshProjectPerTest();

const context = (more: Readonly<Record<string, string>> = {}) =>
  testContext(sandbox.folder, {
    environment: { PATH: process.env.PATH, DRAY_CACHE: sandbox.path('cache'), ...more },
  });

const run = (request: Partial<ImportDvcRequest> = {}, at = context()) =>
  importDvc(at, { project: 'project', to: 'repository', ...request });

/** What an import that publishes nothing says of each path. */
async function refused(request: Partial<ImportDvcRequest> = {}) {
  const at = context();
  expect(await run(request, at)).toMatchObject({ result: 'refused', refs: 0, commits: 0 });
  expect(existsSync(sandbox.path(request.to ?? 'repository', 'refs/heads'))).toBe(false);
  return Object.fromEntries(
    eventsOf(at, 'fileFailed').map(({ error, path }) => [path, [error.code, error.message]]),
  );
}

async function cloned(ref = 'main') {
  const directory = sandbox.path(`clone-${counter++}`);
  await cloneWorkspace(context(), { url: sandbox.path('repository'), directory, ref });
  return directory;
}
let counter = 0;

const git = (...words: string[]) =>
  execFileSync('git', words, {
    cwd: sandbox.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
  });

const oneFile = () => {
  project.write('a.dvc', dvcFile('a', project.store('a')));
  project.commit('One');
};

describe('an import of a bad DVC project', () => {
  it('lists paths of a folder that leave it or cannot be paths', async () => {
    const paths = ['../x', '/etc/passwd', 'n\0l', '', '.', 'a//b', './b', 'a/', '.dray/x', '\ud800'];
    for (const [at, path] of paths.entries()) {
      const files = { [path]: project.store('c'), [`${'d/'.repeat(3000)}f`]: project.store('c') };
      const list = project.store(listOf(files), { isFolder: true });
      project.write(`${at}.dvc`, dvcFile(`data${at}`, `${list}.dir`));
    }
    project.commit('One');
    const found = await refused();
    expect(new Set(Object.values(found).map(([code]) => code))).toEqual(new Set(['unsafePath']));
    expect(Object.keys(found)).toHaveLength(2 * paths.length);
  });

  it('says which list of a folder is none', async () => {
    const texts = ['{}', 'null', '[1]', '', '[[', '[{"md5":"zz","relpath":"a"}]', '[{"relpath":"a"}]'];
    for (const [at, text] of texts.entries())
      project.write(`${at}.dvc`, dvcFile(`d${at}`, `${project.store(text, { isFolder: true })}.dir`));
    project.commit('One');
    const found = Object.values(await refused());
    const isNone = ['damaged', expect.stringContaining('is no list of files')];
    expect(found).toEqual(texts.map(() => isNone));
  });

  it('lists a file of DVC that cannot be read, such as one with the marks of a conflict', async () => {
    oneFile();
    project.write('b.dvc', `<<<<<<< HEAD\n${dvcFile('b', md5Of('b'))}=======\n`);
    project.write('c.dvc', 'outs: 5');
    project.write('pipe/dvc.yaml', 'stages: 5');
    project.write('pipe/dvc.lock', 'stages: {}');
    project.commit('Conflict');
    project.remove('b.dvc');
    project.remove('c.dvc');
    project.remove('pipe/dvc.lock');
    project.write('d.dvc', dvcFile('d', project.store('d')));
    project.commit('Resolved');
    const found = await refused({ allCommits: true });
    expect(Object.keys(found).sort()).toEqual(['b.dvc', 'c.dvc', 'pipe/dvc.lock']);
    expect(new Set(Object.values(found).map(([code]) => code))).toEqual(new Set(['damaged']));
    const skipping = await run({ allCommits: true, skipMissing: true });
    expect(skipping).toMatchObject({ result: 'imported', commits: 3, failed: 3 });
    expect(readdirSync(await cloned()).sort()).toEqual(['.dray', 'a', 'd']);
  });

  it('follows no symbolic link to a file of DVC, and lists it', async () => {
    sandbox.write('secret.dvc', dvcFile('stolen', project.store('secret')));
    symlinkSync('../secret.dvc', join(project.root, 'link.dvc'));
    oneFile();
    const isLink = { 'link.dvc': ['unsupported', expect.stringContaining('symbolic link')] };
    expect(await refused()).toEqual(isLink);
    rmSync(join(project.root, '.git'), { recursive: true });
    expect(await refused({ to: 'second' })).toEqual(isLink);
  });

  it('writes no repository to the project, its cache or its remote', async () => {
    project.write('.gitignore', '.dvc/cache\n');
    project.store('a', { at: 'project/.dvc/cache' });
    project.write(
      'o.dvc',
      dvcFile('o', project.store('o', { at: 'other' }), { hash: 'md5', remote: 'other' }),
    );
    oneFile();
    symlinkSync('remote', sandbox.path('link'));
    for (const to of ['project/.dvc/cache', 'project/.dvc/store', 'project', 'remote', 'link'])
      await expect(run({ to }), to).rejects.toMatchObject({ code: 'usage', data: { advice: /--to/ } });
    expect(readdirSync(sandbox.path('remote'))).toEqual(['files']);
    await expect(run({ to: 'other' })).rejects.toMatchObject({ code: 'usage' });
    expect(existsSync(sandbox.path('other/refs/heads'))).toBe(false);
    expect(await run()).toMatchObject({ result: 'imported' });
  });

  it('says where it looked for content, and what to do without a default remote', async () => {
    project.write('gone.dvc', dvcFile('gone', md5Of('gone')));
    project.commit('One');
    expect((await refused()).gone![1]).toContain(`remote file://${sandbox.path('remote')}`);
    project.write('.dvc/config', '[\'remote "only"\']\nurl = ../../remote\n');
    expect((await refused()).gone![1]).toMatch(/core\.remote.*--remote/);
    project.write('.dvc/config', '[core]\nremote = far\n[\'remote "far"\']\nurl = remote://none/etc\n');
    await expect(run()).rejects.toMatchObject({ code: 'usage', data: { remote: 'far' } });
    project.write('.dvc/config', '[core]\nremote = far\n[\'remote "far"\']\nurl = remote://far/x\n');
    await expect(run()).rejects.toMatchObject({ code: 'usage', data: { remote: 'far' } });
  });

  it('needs git for a git repository, and all of its history', async () => {
    oneFile();
    for (const request of [{}, { allCommits: true }])
      await expect(run(request, context({ PATH: '/nowhere' }))).rejects.toMatchObject({
        code: 'io',
        message: expect.stringContaining('git is not installed'),
      });
    project.write('a.dvc', dvcFile('a', project.store('a2')));
    project.commit('Two');
    git('clone', '-q', '--depth', '1', `file://${project.root}`, 'shallow');
    await expect(run({ project: 'shallow', allCommits: true })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--unshallow'),
    });
    expect(await run({ project: 'shallow', rev: 'HEAD' })).toMatchObject({ result: 'imported', commits: 1 });
    await expect(run({ allTags: true })).rejects.toMatchObject({ code: 'notFound' });
    rmSync(join(project.root, '.git/objects'), { recursive: true });
    await expect(run()).rejects.toMatchObject({ code: 'io', data: { path: project.root } });
    await expect(run({ project: 'none' })).rejects.toMatchObject({ code: 'notFound' });
    await expect(run({ project: 'project/a.dvc' })).rejects.toMatchObject({ code: 'notFound' });
  });

  it('reads a bare repository, a working tree of another one, and one with SHA-256', async () => {
    oneFile();
    git('clone', '-q', '--bare', 'project', 'bare');
    project.git('worktree', 'add', '-q', '../tree', '-b', 'side');
    git('clone', '-q', 'project', 'copy');
    rmSync(sandbox.path('copy/.git'), { recursive: true });
    git('init', '-q', '--object-format=sha256', 'copy');
    git('-C', 'copy', 'add', '-A');
    git('-C', 'copy', '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-qm', 'One');
    for (const name of ['bare', 'tree', 'copy'])
      expect(await run({ project: name, to: `of-${name}`, allCommits: true }), name).toMatchObject({
        result: 'imported',
        commits: 1,
        failed: 0,
      });
  });

  it('moves no branch if one of them is that of somebody else', async () => {
    oneFile();
    project.git('branch', 'zebra');
    await run({ allCommits: true });
    const work = await cloned('zebra');
    sandbox.write(`${work.slice(sandbox.folder.length + 1)}/own`, 'own');
    await push(testContext(work), {});
    project.write('b.dvc', dvcFile('b', project.store('b')));
    project.commit('Two');
    project.git('branch', '-f', 'zebra');
    await expect(run({ allCommits: true })).rejects.toMatchObject({
      code: 'conflict',
      data: { ref: 'heads/zebra' },
    });
    expect(existsSync(join(await cloned('main'), 'b'))).toBe(false);
    expect(readFileSync(join(await cloned('zebra'), 'own'), 'utf8')).toBe('own');
  });

  it('keeps commits with odd authors, dates and messages readable', async () => {
    oneFile();
    const tree = project.git('rev-parse', 'HEAD^{tree}').trim();
    const authors = {
      old: 'A <a@a> -1000000000 +0000',
      far: 'A <a@a> 253402300800 +0000',
      further: 'A <a@a> 8640000000000 +0000',
      huge: 'A <a@a> 99999999999999999999999999 +0000',
      none: 'A',
      control: 'A\u0001\u001b[31m <a@a> 5 +1400',
      long: `${'A'.repeat(5000)} <a@a> 5 +0000`,
    };
    for (const [name, author] of Object.entries(authors)) {
      const input = `tree ${tree}\nauthor ${author}\ncommitter C <c@c> 1 +0000\n\n${name.repeat(20_000)}`;
      const words = ['-C', project.root, 'hash-object', '-t', 'commit', '-w', '--stdin', '--literally'];
      project.git('branch', name, execFileSync('git', words, { input, encoding: 'utf8' }).trim());
    }
    project.git('tag', 'of-a-tree', 'HEAD^{tree}');
    project.git('tag', '-a', '-m', 'n', 'outer', 'HEAD');
    expect(await run({ allCommits: true })).toMatchObject({ result: 'imported', refs: 9 });
    expect(await run({ allCommits: true })).toMatchObject({ result: 'upToDate' });
    for (const name of Object.keys(authors)) {
      const at = testContext(await cloned(name));
      await log(at, { ref: name });
      expect(eventsOf(at, 'commit'), name).toMatchObject([
        { message: expect.stringMatching(/^(old|f|h|n|c|l)/) },
      ]);
    }
  });

  it('does not hang on a template with many parts', async () => {
    const path = `${'a'.repeat(200)}b`;
    const outs = [`${Array(30).fill('\u0024{x}').join('a')}c`, path];
    project.write('dvc.yaml', JSON.stringify({ stages: { s: { cmd: 'x', outs } } }));
    const out = { path, hash: 'md5', md5: project.store('a') };
    project.write('dvc.lock', JSON.stringify({ schema: '2.0', stages: { s: { outs: [out] } } }));
    project.commit('One');
    expect(await run()).toMatchObject({ result: 'imported', readFiles: 1 });
  });

  it('reads the first form of dvc.lock, and the old name of the hash', async () => {
    const windows = project.store('a\r\nb\r\n', { isOld: true });
    project.write('dvc.yaml', JSON.stringify({ stages: { s: { cmd: 'x', outs: ['o'] } } }));
    project.write(
      'dvc.lock',
      JSON.stringify({ s: { cmd: 'x', outs: [{ path: 'o', md5: project.store('o') }] } }),
    );
    project.write('w.dvc', dvcFile('w', windows, { hash: 'md5-dos2unix' }));
    project.commit('One');
    expect(await run()).toMatchObject({ result: 'imported', readFiles: 2, failed: 0 });
    expect(readFileSync(join(await cloned(), 'w'), 'utf8')).toBe('a\r\nb\r\n');
  });

  it('lists what is not UTF-8, and an output in a folder that a template names', async () => {
    const latin = (name: string) => Buffer.from(name, 'latin1');
    for (const name of ['é.dvc', 'è.dvc'])
      writeFileSync(
        Buffer.concat([Buffer.from(`${project.root}/`), latin(name)]),
        dvcFile(name, project.store(name)),
      );
    writeFileSync(join(project.root, 'text.dvc'), latin(dvcFile('é', project.store('a'))));
    const stages = { s: { cmd: 'x', wdir: 'in/\u0024{x}', outs: ['o'] } };
    project.write('dvc.yaml', JSON.stringify({ stages }));
    const out = { path: 'o', hash: 'md5', md5: project.store('o') };
    project.write('dvc.lock', JSON.stringify({ schema: '2.0', stages: { s: { outs: [out] } } }));
    oneFile();
    const expected = {
      '\ufffd.dvc': ['unsupported', expect.stringContaining('not UTF-8')],
      'text.dvc': ['damaged', expect.stringContaining('not UTF-8')],
      'in/\u0024{x}/o': ['unsupported', expect.stringContaining('template')],
    };
    expect(await refused()).toEqual(expected);
    rmSync(join(project.root, '.git'), { recursive: true });
    expect(await refused({ to: 'second' })).toEqual(expected);
  });

  it('looks for no content by a name that is no MD5', async () => {
    sandbox.write('outside', 'secret');
    const files = [{ relpath: 'x', md5: '../../../outside', size: 6 }];
    project.write('data.dvc', JSON.stringify({ outs: [{ path: 'data', hash: 'md5', files }] }));
    project.write('one.dvc', dvcFile('one', '../../../outside'));
    project.commit('One');
    const isNone = ['unsupported', expect.stringContaining('no valid MD5')];
    expect(await refused()).toEqual({ data: isNone, one: isNone });
  });

  it('takes credentials from the file that the settings of the remote name', async () => {
    const server = createServer((_, answer) => answer.writeHead(403).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const remote = `[core]\nremote = far\n['remote "far"']\nurl = s3://bucket/x\nendpointurl = http://127.0.0.1:${port}\n`;
    project.write('gone.dvc', dvcFile('gone', md5Of('gone')));
    project.commit('One');
    project.write('keys', '[default]\naws_access_key_id = A\naws_secret_access_key = B\n');
    const home = { HOME: sandbox.path('home'), AWS_EC2_METADATA_DISABLED: 'true' };
    for (const [more, code] of [
      ['credentialpath = keys\n', 'accessDenied'],
      ['', 'noCredentials'],
    ]) {
      project.write('.dvc/config.local', `${remote}${more}`);
      await expect(run({}, context(home))).rejects.toMatchObject({ code });
    }
    server.close();
  });
});
