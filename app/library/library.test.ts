import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import {
  copy,
  DrayError,
  type FileChange,
  openRepository,
  openWorkspace,
  type VersionEntry,
} from './dray.ts';
import { contextOf } from './library-context.ts';

let sandbox: Sandbox;
let options: { readonly environment: Record<string, string>; readonly password: string };
let commits: readonly string[];
beforeAll(async () => {
  sandbox = createSandbox();
  const environment = { DRAY_AUTHOR: 'tester', DRAY_CONFIG: sandbox.path('config.json') };
  options = { environment, password: 'secret' };
  sandbox.write('work/images/1.txt', 'one');
  sandbox.write('work/images/deep/2.txt', 'two');
  sandbox.write('work/readme', 'x'.repeat(300_000));
  const directory = sandbox.path('work');
  await initWorkspace(contextOf({ ...options, directory }), {
    remoteUrl: sandbox.path('store'),
    encrypt: true,
  });
  const workspace = openWorkspace(directory, options);
  const first = await workspace.push({ message: 'first' });
  sandbox.write('work/images/1.txt', 'changed');
  sandbox.write('work/new', '');
  expect(await workspace.status()).toMatchObject({ changes: { added: 1, modified: 1 } });
  const second = await workspace.push({ message: 'second' });
  commits = [first.commit!, second.commit!];
});
afterAll(() => sandbox[Symbol.dispose]());

const open = () => openRepository(sandbox.path('store'), options);

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('a repository', () => {
  it('shows its refs, commits and files', async () => {
    await using repository = await open();
    const [first, second] = commits;
    expect(await repository.refs()).toEqual([{ name: 'main', kind: 'branch', commit: second }]);
    expect(await repository.resolve(first!.slice(0, 10))).toBe(first);
    expect(await repository.show('main')).toMatchObject({ message: 'second', parents: [first], files: 4 });
    const paths = async (request?: { folder?: string; recursive?: boolean }) =>
      (await gather<VersionEntry>(repository.list('main', request))).map(({ path }) => path);
    expect(await paths()).toEqual(['images/', 'new', 'readme']);
    expect(await paths({ folder: 'images' })).toEqual(['images/1.txt', 'images/deep/']);
    expect(await paths({ recursive: true })).toEqual(['images/1.txt', 'images/deep/2.txt', 'new', 'readme']);
    expect(await repository.stat('main', 'images/1.txt')).toMatchObject({ kind: 'file', sizeBytes: 7 });
    const folder = { path: 'images/', kind: 'folder', sizeBytes: 0 };
    for (const path of ['images', 'images/']) expect(await repository.stat('main', path)).toEqual(folder);
    for (const path of ['image', 'readme/', '']) expect(await repository.stat('main', path)).toBeUndefined();
    expect(Buffer.concat(await gather(repository.read(first!, 'images/1.txt'))).toString()).toBe('one');
    const range = { start: 299_998, end: 400_000 };
    expect(Buffer.concat(await gather(repository.read('main', 'readme', range))).toString()).toBe('xx');
    const changes = await gather<FileChange>(repository.diff(first!, 'main'));
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'modified images/1.txt',
      'added new',
    ]);
  });

  it('fails by a code that says why', async () => {
    mkdirSync(sandbox.path('nothing'));
    await expect(openRepository(sandbox.path('nothing'), options)).rejects.toMatchObject({
      code: 'notFound',
    });
    const wrong = { ...options, password: 'guessed' };
    await expect(openRepository(sandbox.path('store'), wrong)).rejects.toMatchObject({
      code: 'wrongPassword',
    });
    await using repository = await open();
    await expect(repository.resolve('nope')).rejects.toBeInstanceOf(DrayError);
    await expect(gather(repository.read('main', 'images'))).rejects.toMatchObject({ code: 'notFound' });
    const stopping = new AbortController();
    stopping.abort();
    const read = repository.read('main', 'readme', { signal: stopping.signal });
    await expect(gather(read)).rejects.toMatchObject({ code: 'aborted' });
  });

  it.each([
    ['a signal that has fired', 'aborted'],
    ['the end of its use', 'usage'],
    ['an argument that is no text', 'usage'],
  ])('refuses every call after %s', async (why, code) => {
    await using repository = await open();
    if (why.includes('end')) await repository.close();
    const call = why.includes('signal') ? { signal: AbortSignal.abort() } : {};
    const text = why.includes('text') ? (undefined as unknown as string) : 'main';
    const calls: Record<string, () => Promise<unknown>> = {
      resolve: () => repository.resolve(text, call),
      show: () => repository.show(text, call),
      list: () => repository.list(text, call).next(),
      stat: () => repository.stat('main', text, call),
      read: () => repository.read('main', text, call).next(),
      diff: () => repository.diff('main', text, call).next(),
      publish: async () => repository.commit(text).put('x', 'y').publish(call),
      ...(why.includes('text') ? {} : { refs: () => repository.refs(call) }),
    };
    for (const [name, act] of Object.entries(calls))
      await expect(act(), name).rejects.toMatchObject({ code });
    await repository.close();
  });

  it('refuses a range that has no bytes', async () => {
    await using repository = await open();
    for (const start of [-1, 0.5, Number.NaN])
      for (const range of [{ start }, { end: start }])
        await expect(gather(repository.read('main', 'readme', range))).rejects.toMatchObject({
          code: 'usage',
        });
  });

  it('stops what still runs when it is closed', async () => {
    const repository = await open();
    const reading = repository.read('main', 'readme').next();
    await Promise.all([repository.close(), expect(reading).rejects.toMatchObject({ code: 'aborted' })]);
  });

  it('leaves no listener on a signal', async () => {
    await using repository = await open();
    const { signal } = new AbortController();
    for (let at = 0; at < 100; at += 1) {
      for await (const _ of repository.read('main', 'readme', { signal })) break;
      for await (const _ of repository.list('main', { signal })) break;
      await repository.stat('main', 'new', { signal });
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a workspace', () => {
  it('is found from the folder that is given, wherever the program goes later', async () => {
    const directory = sandbox.path('work', '..');
    const workspace = openWorkspace('work', { ...options, directory });
    expect(workspace.root).toBe(sandbox.path('work'));
    expect(() => openWorkspace('store', { ...options, directory })).toThrow(
      expect.objectContaining({ code: 'notAWorkspace' }),
    );
    const stopped = workspace.status({ signal: AbortSignal.abort() });
    await expect(stopped).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('a commit without a folder', () => {
  it('is written over what the branch has, and nothing else changes', async () => {
    await using repository = await open();
    const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
    async function* stream() {
      for (let at = 0; at < large.length; at += 100_000) yield large.subarray(at, at + 100_000);
    }
    const { commit, sentBytes } = await repository
      .commit('made')
      .put('a/text', 'of a program')
      .put('a/stream', stream())
      .put('empty', '')
      .publish({ message: 'made', author: 'program' });
    expect(sentBytes).toBeGreaterThan(0);
    expect(await repository.resolve('made')).toBe(commit);
    expect(await repository.show('made')).toMatchObject({
      message: 'made',
      author: 'program',
      parents: [],
      files: 3,
    });
    expect(Buffer.concat(await gather(repository.read('made', 'a/stream'))).equals(large)).toBe(true);

    const next = await repository
      .commit('made')
      .delete('a/')
      .put('a', 'a file where a folder was')
      .put('new/inside', new Uint8Array([1, 2]), { executable: true, modified: new Date(1e12) })
      .publish();
    const changes = await gather<FileChange>(repository.diff(commit, next.commit));
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'added a',
      'deleted a/stream',
      'deleted a/text',
      'added new/inside',
    ]);
    expect(await repository.stat('made', 'new/inside')).toMatchObject({
      executable: true,
      modified: new Date(1e12),
    });
    const again = await repository.commit('made').put('empty', '').delete('absent').publish();
    expect(again).toEqual({ commit: next.commit, sentBytes: 0 });
    await openWorkspace(sandbox.path('work'), options).pull({ ref: 'made' });
    expect(readFileSync(sandbox.path('work/a'), 'utf8')).toBe('a file where a folder was');
    await openWorkspace(sandbox.path('work'), options).pull({ ref: 'main' });
  });

  it('of many programs at once loses nothing', async () => {
    const names = Array.from({ length: 6 }, (_, at) => `from-${at}`);
    await Promise.all(
      names.map(async (name) => {
        await using repository = await open();
        await repository.commit('shared').put(name, name).publish();
      }),
    );
    await using repository = await open();
    const listed = await gather<VersionEntry>(repository.list('shared'));
    expect(listed.map(({ path }) => path)).toEqual(names);
  });

  it('refuses what no dataset can hold', async () => {
    await using repository = await open();
    expect(() => repository.commit('made').put('../out', 'x')).toThrow(DrayError);
    expect(() => repository.commit('bad name')).toThrow(DrayError);
    const both = repository.commit('main').put('images', 'a file').publish();
    await expect(both).rejects.toMatchObject({ code: 'conflict' });
    const below = repository.commit('main').put('readme/x', 'below a file').publish();
    await expect(below).rejects.toMatchObject({ code: 'conflict' });
    async function* cut() {
      yield new Uint8Array(10);
      throw new Error('the source broke');
    }
    const broken = repository.commit('main').put('cut', cut()).publish();
    await expect(broken).rejects.toMatchObject({ code: 'io', cause: { message: 'the source broke' } });
    expect(await repository.stat('main', 'cut')).toBeUndefined();
  });
});

describe('a copy', () => {
  it('takes a version as its source, and tells of its progress', async () => {
    const events: string[] = [];
    const destination = sandbox.path('out');
    const summary = await copy(`file://${sandbox.path('store')}?ref=main&path=images`, destination, {
      ...options,
      onEvent: ({ type }) => events.push(type),
    });
    expect(summary).toMatchObject({ failed: 0 });
    expect(events).toContain('progress');
    expect(readFileSync(sandbox.path('out/deep/2.txt'), 'utf8')).toBe('two');
  });

  it('is stopped by an error of the listener, which is the cause', async () => {
    const cause = new Error('the listener broke');
    const onEvent = () => {
      throw cause;
    };
    const copying = copy(sandbox.path('work'), sandbox.path('stopped'), { ...options, onEvent });
    await expect(copying).rejects.toMatchObject({ code: 'aborted', cause });
  });
});

describe('the built package', () => {
  it('reads a repository without native modules', async () => {
    const library = new URL('library.js', `file://${process.env.DRAY_TEST_COMMAND}`).href;
    const script = sandbox.path('read.mjs');
    writeFileSync(
      script,
      `import { registerHooks } from 'node:module';
       registerHooks({
         resolve(specifier, context, next) {
           if (/^(?:better-sqlite3|koffi)$/.test(specifier)) throw new Error('refused: ' + specifier);
           return next(specifier, context);
         },
       });
       process.dlopen = () => { throw new Error('refused: a native module'); };
       const { copy, openRepository } = await import(${JSON.stringify(library)});
       await using repository = await openRepository(${JSON.stringify(sandbox.path('store'))});
       const found = [(await repository.refs()).at(-1).kind, (await repository.stat('main', 'readme')).sizeBytes];
       for await (const { path } of repository.list('main', { recursive: true })) found.push(path);
       for await (const { kind, path } of repository.diff(${JSON.stringify(commits[0])}, 'main'))
         found.push(kind + ' ' + path);
       for await (const bytes of repository.read('main', 'images/1.txt')) found.push(Buffer.from(bytes).toString());
       for (const act of [
         () => copy(${JSON.stringify(sandbox.path('work'))}, ${JSON.stringify(sandbox.path('never'))}),
         () => repository.commit('main').put('a', 'b').publish(),
       ])
         found.push(await act().catch(({ message }) => message));
       console.log(JSON.stringify(found));`,
    );
    const env = { ...process.env, ...options.environment, DRAY_PASSWORD: options.password };
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
    expect(JSON.parse(stdout)).toEqual([
      'branch',
      300_000,
      'images/1.txt',
      'images/deep/2.txt',
      'new',
      'readme',
      'modified images/1.txt',
      'added new',
      'changed',
      'refused: better-sqlite3',
      'refused: better-sqlite3',
    ]);
  });

  it('works in plain Node and in a worker', async () => {
    const library = new URL('library.js', `file://${process.env.DRAY_TEST_COMMAND}`).href;
    const script = sandbox.path('use.mjs');
    writeFileSync(
      script,
      `import { isMainThread, Worker } from 'node:worker_threads';
       import { openRepository } from ${JSON.stringify(library)};
       await using repository = await openRepository(${JSON.stringify(sandbox.path('store'))});
       let size = 0;
       for await (const bytes of repository.read('main', 'readme')) size += bytes.length;
       console.log(isMainThread ? 'main' : 'worker', size);
       if (isMainThread) new Worker(new URL(import.meta.url));`,
    );
    const env = { ...process.env, ...options.environment, DRAY_PASSWORD: options.password };
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
    expect(stdout).toBe('main 300000\nworker 300000\n');
  });
});
