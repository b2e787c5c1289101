/**
 * How copies of plain trees react to bad input: a clear error, a documented exit code, and nothing lost or
 * half-written.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import type { SyncRequest } from '../../engine/api/jobs/trees.ts';
import {
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import type { ObjectStore } from '../../engine/remotes/object-store.ts';
import { openS3Store } from '../../engine/remotes/s3/open-s3-store.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

let server: S3Server;
let sandbox: Sandbox;
let store: ObjectStore;
let places = 0;
beforeAll(async () => {
  server = await startVersitygw();
  sandbox = createSandbox();
  store = await openS3Store({ bucket: server.bucket, prefix: '', environment: server.environment });
});
afterAll(async () => {
  await store?.close();
  sandbox?.[Symbol.dispose]();
  await server?.stop();
});

const environment = () => ({ ...server.environment, DRAY_CACHE: sandbox.path('cache') });
const contextOf = (): TestContext => testContext(sandbox.folder, { environment: environment() });
const url = (prefix: string) => `s3://${server.bucket}/${prefix}`;
const freshName = () => `place-${++places}`;
const pair = (source: string, destination: string, more: Partial<SyncRequest> = {}): SyncRequest => ({
  source: { place: source },
  destination: { place: destination },
  ...more,
});

/** Makes a folder of the sandbox with these files. */
function tree(files: Readonly<Record<string, string>>): string {
  const name = freshName();
  mkdirSync(sandbox.path(name), { recursive: true });
  for (const [path, content] of Object.entries(files)) sandbox.write(`${name}/${path}`, content);
  return sandbox.path(name);
}

async function put(prefix: string, objects: Readonly<Record<string, string>>): Promise<string> {
  for (const [key, content] of Object.entries(objects))
    await store.put(`${prefix}/${key}`, Buffer.from(content));
  return url(prefix);
}

async function keysBelow(prefix: string): Promise<readonly string[]> {
  const { objects } = await store.list({ prefix: `${prefix}/` });
  return objects.map(({ key }) => key.slice(prefix.length + 1));
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

describe('A source', () => {
  it('that does not exist is named: a folder, a prefix or a bucket', async () => {
    const destination = sandbox.path(freshName());
    for (const [source, code] of [
      [sandbox.path('no-such-folder'), 'notFound'],
      [url('no-such-prefix'), 'notFound'],
      [url('no-such-prefix/'), 'notFound'],
      ['s3://no-such-bucket/x', 'bucketMissing'],
    ] as const) {
      const failure = copyTree(contextOf(), pair(source, destination));
      await expect(failure, source).rejects.toMatchObject({ code });
      await expect(failure, source).rejects.toThrow(/no-such/);
    }
    await expect(syncTree(contextOf(), pair(url('no-such-prefix'), tree({ a: 'a' })))).rejects.toMatchObject({
      code: 'notFound',
    });
  });

  it('that overlaps its destination is refused, also through a link', async () => {
    const root = tree({ 'inner/a': 'a' });
    const link = sandbox.path(freshName());
    symlinkSync(root, link);
    for (const [source, destination] of [
      [root, root],
      [root, join(root, 'inner')],
      [join(root, 'inner'), root],
      [root, join(link, 'new')],
      [url('x'), url('x/y')],
      [url('x/y/'), url('x')],
    ] as const) {
      await expect(
        syncTree(contextOf(), pair(source, destination)),
        `${source} ${destination}`,
      ).rejects.toMatchObject({
        code: 'usage',
      });
    }
    expect(filesOf(root)).toEqual(['inner/a']);
  });

  it('with an unreadable file fails with exit code 4, and a sync deletes nothing', async () => {
    const root = tree({ good: 'good', bad: 'bad' });
    const place = await put(freshName(), { extra: 'extra' });
    rmSync(join(root, 'bad'));
    symlinkSync('/proc/self/mem', join(root, 'unread'));
    mkdirSync(join(root, 'bad'));
    chmodSync(join(root, 'bad'), 0o755);
    // A name that is not UTF-8 cannot be stored under that name.
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), 'not UTF-8');
    const context = contextOf();
    await expect(syncTree(context, pair(root, place))).rejects.toMatchObject({ code: 'partial' });
    expect(eventsOf(context, 'fileFailed')).toHaveLength(1);
    expect(await keysBelow(place.slice(url('').length))).toEqual(['extra', 'good']);
    const cli = await runCli(['copy', root, place], { environment: environment() });
    expect(cli).toMatchObject({ exitCode: 4 });
  });
});

describe('Names', () => {
  it("of a workspace's own folder are never copied, in either direction", async () => {
    const prefix = freshName();
    await put(prefix, { good: 'good', '.dray/config.json': '{}', 'a/.dray/x': 'x' });
    const folder = sandbox.path(freshName());
    expect(await copyTree(contextOf(), pair(url(prefix), folder))).toMatchObject({
      copiedFiles: 1,
      failed: 0,
    });
    expect(filesOf(folder)).toEqual(['good']);
    const root = tree({ good: 'good', '.dray/config.json': '{}', 'a/.dray/x': 'x' });
    const other = freshName();
    await copyTree(contextOf(), pair(root, url(other)));
    expect(await keysBelow(other)).toEqual(['good']);
  });

  it('of 1,024 bytes fit as keys, and longer ones are reported', async () => {
    const deep = Array.from({ length: 5 }, () => 'd'.repeat(190)).join('/');
    const root = tree({ [`${deep}/${'f'.repeat(60)}`]: 'fits', [`${deep}/${'g'.repeat(80)}`]: 'too long' });
    const context = contextOf();
    const summary = await copyTree(context, pair(root, url(freshName())));
    expect(summary).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(eventsOf(context, 'fileFailed')[0]!.error).toMatchObject({ code: 'unsafePath' });
    expect(eventsOf(context, 'fileFailed')[0]!.error.message).toContain('1024');
  });
});

describe('A file in the place of a folder, or the reverse,', () => {
  it('makes that item fail and stays as it is', async () => {
    const prefix = freshName();
    await put(prefix, { 'a/b': 'in a folder', c: 'a file', d: 'fine' });
    const folder = tree({ a: 'a file here', 'c/inner': 'a folder here' });
    const context = contextOf();
    const summary = await copyTree(context, pair(url(prefix), folder));
    expect(summary).toMatchObject({ copiedFiles: 1, failed: 2 });
    expect(
      eventsOf(context, 'fileFailed')
        .map(({ error, path }) => [path, error.code])
        .sort(),
    ).toEqual([
      ['a/b', 'conflict'],
      ['c', 'conflict'],
    ]);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('a file here');
    expect(filesOf(folder)).toEqual(['a', 'c/inner', 'd']);
  });

  it('is an error before anything happens when it is the destination itself', async () => {
    const file = sandbox.write(freshName(), 'a file');
    await expect(copyTree(contextOf(), pair(tree({ a: 'a' }), file))).rejects.toMatchObject({
      code: 'usage',
    });
    expect(readFileSync(file, 'utf8')).toBe('a file');
  });
});

describe('A sync', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, String(at)]));

  it('stops before it deletes too much and says how to allow it', async () => {
    const prefix = freshName();
    await copyTree(contextOf(), pair(tree(many(150)), url(prefix)));
    const root = tree({ f0: '0' });
    const failure = syncTree(contextOf(), pair(root, url(prefix)));
    await expect(failure).rejects.toMatchObject({ code: 'tooManyDeletes' });
    await expect(failure).rejects.toThrow('--max-delete 149');
    expect(await keysBelow(prefix)).toHaveLength(150);
    const dry = contextOf();
    expect(await syncTree(dry, pair(root, url(prefix), { dryRun: true }))).toMatchObject({
      deletedFiles: 149,
    });
    expect(await keysBelow(prefix)).toHaveLength(150);
    const allowed = await syncTree(contextOf(), pair(root, url(prefix), { maxDelete: { files: 149 } }));
    expect(allowed).toMatchObject({ deletedFiles: 149 });
    expect(await keysBelow(prefix)).toEqual(['f0']);
  });

  it('never touches files that its filter excludes', async () => {
    const prefix = freshName();
    await put(prefix, { 'keep.bak': 'k', 'gone.txt': 'g' });
    const root = tree({ 'new.txt': 'n', 'new.bak': 'n' });
    const filter = { rules: [{ action: 'exclude', pattern: '*.bak' }] } as const;
    expect(await syncTree(contextOf(), pair(root, url(prefix), { filter }))).toMatchObject({
      copiedFiles: 1,
      deletedFiles: 1,
    });
    expect(await keysBelow(prefix)).toEqual(['keep.bak', 'new.txt']);
  });

  it('moves replaced and deleted files to --backup-dir, at a store and locally', async () => {
    const prefix = freshName();
    const backup = `${prefix}-backup`;
    const root = tree({ a: 'new' });
    await put(prefix, { a: 'old', b: 'gone' });
    await syncTree(contextOf(), pair(root, url(prefix), { backupDirectory: { place: url(backup) } }));
    expect(await keysBelow(prefix)).toEqual(['a']);
    expect(await keysBelow(backup)).toEqual(['a', 'b']);
    expect(Buffer.from((await store.read(`${backup}/a`, { maxBytes: 9 }))!.bytes).toString()).toBe('old');

    const folder = tree({ a: 'old', b: 'gone' });
    const kept = sandbox.path(freshName());
    await syncTree(contextOf(), pair(root, folder, { backupDirectory: { place: kept } }));
    expect([readFileSync(join(kept, 'a'), 'utf8'), readFileSync(join(kept, 'b'), 'utf8')]).toEqual([
      'old',
      'gone',
    ]);
    expect(filesOf(folder)).toEqual(['a']);
    const inside = syncTree(
      contextOf(),
      pair(root, folder, { backupDirectory: { place: join(folder, 'x') } }),
    );
    await expect(inside).rejects.toMatchObject({ code: 'usage' });
  });

  it('of two processes to one destination leaves each object whole', async () => {
    const prefix = freshName();
    const sides = ['A', 'B'].map((letter) =>
      tree(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, letter.repeat(20_000 + at)]))),
    );
    const runs = await Promise.all(
      sides.map((root, at) =>
        runCli(['sync', root, url(prefix), '--max-delete', '100%'], {
          environment: { ...environment(), DRAY_CACHE: sandbox.path(`cache-two-${at}`) },
        }),
      ),
    );
    for (const { exitCode, stderr } of runs) expect(exitCode, stderr).toBe(0);
    for (const key of await keysBelow(prefix)) {
      const { bytes } = (await store.read(`${prefix}/${key}`, { maxBytes: 100_000 }))!;
      expect(Buffer.from(bytes).toString()).toMatch(/^(A+|B+)$/);
    }
    expect(await keysBelow(prefix)).toHaveLength(60);
  });
});

describe('The options about existing files', () => {
  it('skip newer files, refuse changes, or send without a lookup', async () => {
    const prefix = freshName();
    const root = tree({ a: 'version 1', b: 'same' });
    await copyTree(contextOf(), pair(root, url(prefix)));
    writeFileSync(join(root, 'a'), 'version 2');
    utimesSync(join(root, 'a'), 1_000_000_000, 1_000_000_000);
    expect(await copyTree(contextOf(), pair(root, url(prefix), { update: true }))).toMatchObject({
      copiedFiles: 0,
      skippedFiles: 1,
      unchangedFiles: 1,
    });
    const refused = contextOf();
    expect(await copyTree(refused, pair(root, url(prefix), { immutable: true }))).toMatchObject({
      copiedFiles: 0,
      failed: 1,
    });
    expect(eventsOf(refused, 'fileFailed')[0]!.error.message).toContain('--immutable');
    await server.resetRequests();
    expect(await copyTree(contextOf(), pair(root, url(prefix), { noCheckDestination: true }))).toMatchObject({
      copiedFiles: 2,
    });
    // Only repositories above are asked for before the uploads; afterwards each file is confirmed once.
    expect((await server.requests()).map(({ operation }) => operation)).toEqual([
      'HeadObject',
      'HeadObject',
      'PutObject',
      'PutObject',
      'HeadObject',
      'HeadObject',
    ]);
  });

  it('set only the time of equal content, and compare content with --checksum', async () => {
    const prefix = freshName();
    const root = tree({ a: 'content' });
    // Old enough for the cache to remember it.
    utimesSync(join(root, 'a'), 1_100_000_000, 1_100_000_000);
    await copyTree(contextOf(), pair(root, url(prefix)));
    utimesSync(join(root, 'a'), 1_000_000_000, 1_000_000_000);
    expect(await copyTree(contextOf(), pair(root, url(prefix)))).toMatchObject({
      touchedFiles: 1,
      sentBytes: 0,
    });
    expect((await store.head(`${prefix}/a`))!.metadata).toMatchObject({ mtime: '1000000000' });
    writeFileSync(join(root, 'a'), 'CONTENT');
    utimesSync(join(root, 'a'), 1_000_000_000, 1_000_000_000);
    const checked = { compare: 'checksum', noIndex: true } as const;
    expect(await copyTree(contextOf(), pair(root, url(prefix), checked))).toMatchObject({ copiedFiles: 1 });
  });

  it('copy only the files of --files-from and report missing ones', async () => {
    const root = tree({ a: 'a', b: 'b', 'c/d': 'd' });
    const prefix = freshName();
    const context = contextOf();
    const summary = await copyTree(
      context,
      pair(root, url(prefix), { filter: { filesFrom: ['c/d', 'a', 'missing'] } }),
    );
    expect(summary).toMatchObject({ copiedFiles: 2, failed: 1 });
    expect(eventsOf(context, 'fileFailed')[0]).toMatchObject({
      path: 'missing',
      error: { code: 'notFound' },
    });
    expect(await keysBelow(prefix)).toEqual(['a', 'c/d']);
  });
});

describe('A check', () => {
  it('reports differing and one-sided files and how it compared them', async () => {
    const prefix = freshName();
    const root = tree({ same: 'same', differs: 'here!', 'only-here': 'x', size: 'long' });
    await put(prefix, { same: 'same', differs: 'there', 'only-there': 'y', size: 's' });
    const reportPath = sandbox.path('report.json');
    const context = contextOf();
    const summary = await checkTrees(context, { ...pair(root, url(prefix)), reportPath });
    expect(summary).toMatchObject({
      same: 1,
      differing: 2,
      onlyInSource: 1,
      onlyInDestination: 1,
      uncertain: 0,
    });
    const report = JSON.parse(readFileSync(reportPath, 'utf8'));
    expect(report).toMatchObject({ report: 'dray check', version: 1, totals: { same: 1, differing: 2 } });
    expect(report.files).toHaveLength(5);
    expect(report.files.find(({ path }: { path: string }) => path === 'size')).toMatchObject({
      result: 'differs',
      by: 'sizes',
    });
    const cli = await runCli(['check', root, url(prefix)], { environment: environment() });
    expect(cli).toMatchObject({ exitCode: 3 });
    expect(cli.stdout).toContain('DIFFERS  differs');
  });

  it('that cannot write its report says so and leaves none', async () => {
    const reportPath = `${sandbox.path('no-such-folder')}/deeper/report.json`;
    const checking = checkTrees(contextOf(), { ...pair(tree({ a: 'a' }), tree({ a: 'a' })), reportPath });
    await expect(checking).rejects.toMatchObject({ code: 'io' });
    expect(existsSync(reportPath)).toBe(false);
  });
});
