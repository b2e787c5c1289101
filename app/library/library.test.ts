import { execFile } from 'node:child_process';
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
    expect(await repository.stat('main', 'images')).toBeUndefined();
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
});

describe('the built package', () => {
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
