/**
 * Repositories that commit 3aaa4a0 made (`data/`): today's Dray reads them, pushes to them and verifies them
 * as they are, so that the earlier Dray can still read what it finds.
 */
import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../engine/jobs/collect/collect.ts';
import { log } from '../../engine/jobs/history/log.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { upgrade } from '../../engine/jobs/remotes/upgrade.ts';
import { forget } from '../../engine/jobs/retention/forget.ts';
import { keysBelow, tipOf } from '../../engine/jobs/session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';

const REPOSITORIES = fileURLToPath(new URL('../data/repositories-3aaa4a0', import.meta.url));

/** The lines that its maker's `seq -f` printed. */
function rows(name: string, first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, at) => `${name}${first + at}\n`).join('');
}

interface OldRepository {
  readonly commits: number;
  /** The files of the branch `main`; a link by its target. */
  readonly files: Readonly<Record<string, string>>;
  /** A file of it, in another version, to push. */
  readonly edit: readonly [path: string, content: string];
}

const OLD: Readonly<Record<string, OldRepository>> = {
  packs: {
    commits: 2,
    files: {
      'data/a.csv': rows('bird ', 1, 40),
      'data/b.csv': rows('heron ', 1, 9),
      'data/c.csv': rows('bird ', 61, 90),
      link: '-> data/a.csv',
      'run.sh': '#!/bin/sh\n',
    },
    edit: ['data/a.csv', rows('owl ', 1, 50)],
  },
  objects: {
    commits: 2,
    files: { 'large.txt': rows('', 1, 1400), 'small.txt': rows('owl ', 1, 30) },
    edit: ['large.txt', rows('', 1, 1450)],
  },
  merged: {
    commits: 4,
    files: { 'a.txt': rows('a ', 1, 30), 'b.txt': rows('b ', 1, 30) },
    edit: ['a.txt', rows('c ', 1, 20)],
  },
};

/** A copy of the repository, which a test may change. */
function openCopy(sandbox: Sandbox, name: string): string {
  const remote = sandbox.path('remote');
  cpSync(join(REPOSITORIES, name), remote, { recursive: true });
  return remote;
}

async function clone(sandbox: Sandbox, remote: string, name: string): Promise<string> {
  const root = sandbox.path(name);
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: root });
  return root;
}

function filesOf(root: string): Record<string, string> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((item) => !item.isDirectory())
    .map((item) => join(item.parentPath, item.name).slice(root.length + 1))
    .filter((path) => !path.startsWith('.dray/'));
  const contentOf = (path: string) => {
    const isLink = readlinkOrNone(join(root, path));
    return isLink === undefined ? readFileSync(join(root, path), 'utf8') : `-> ${isLink}`;
  };
  return Object.fromEntries(found.sort().map((path) => [path, contentOf(path)]));
}

function readlinkOrNone(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The text of every document of the repository. */
function documentsOf(remote: string): string[] {
  const plain = ['dray.json', ...keysBelow(remote, 'refs')].map((key) =>
    readFileSync(join(remote, key), 'utf8'),
  );
  const packed = keysBelow(remote, 'commits').map((key) =>
    zstdDecompressSync(readFileSync(join(remote, key))).toString('utf8'),
  );
  return [...plain, ...packed];
}

describe('a repository that an earlier Dray made', () => {
  it.each(Object.entries(OLD))('of %s clones as it was', async (name, { files }) => {
    using sandbox = createSandbox();
    const root = await clone(sandbox, openCopy(sandbox, name), 'clone');
    expect(filesOf(root)).toEqual(files);
    if (name !== 'packs') return;
    expect(existsSync(join(root, 'empty'))).toBe(true);
    expect(statSync(join(root, 'run.sh')).mode & 0o100).toBe(0o100);
  });

  it.each(Object.entries(OLD))('of %s verifies whole', async (name, { commits }) => {
    using sandbox = createSandbox();
    const root = await clone(sandbox, openCopy(sandbox, name), 'clone');
    const summary = await verify(testContext(root), { readDataPercent: 100 });
    expect(summary).toMatchObject({ commits, missing: 0, damaged: 0 });
    expect(summary.readBytes).toBeGreaterThan(0);
  });

  it.each(Object.entries(OLD))('of %s takes a push that the earlier Dray can read', async (name, old) => {
    using sandbox = createSandbox();
    const remote = openCopy(sandbox, name);
    const before = keysBelow(remote, '.');
    const descriptor = readFileSync(join(remote, 'dray.json'));
    const ours = await clone(sandbox, remote, 'ours');
    const theirs = await clone(sandbox, remote, 'theirs');
    const [path, content] = old.edit;
    sandbox.write(`ours/${path}`, content);
    sandbox.write('ours/new/file.txt', 'new\n');
    const pushed = await push(testContext(ours), { message: 'by a later Dray' });
    expect(pushed).toMatchObject({ result: 'pushed', commit: tipOf(remote) });

    await pull(testContext(theirs), {});
    expect(describeTree(theirs)).toEqual(describeTree(ours));
    expect(filesOf(theirs)).toEqual({ ...old.files, [path]: content, 'new/file.txt': 'new\n' });
    // The earlier Dray knows no feature, and only refs may have changed.
    expect(documentsOf(remote).filter((text) => text.includes('"required"'))).toEqual([]);
    expect(readFileSync(join(remote, 'dray.json'))).toEqual(descriptor);
    expect(keysBelow(remote, '.')).toEqual(expect.arrayContaining(before));
  });

  it.each(Object.entries(OLD))(
    'of %s forgets commits and collects garbage only after an upgrade',
    async (name, { commits, files }) => {
      using sandbox = createSandbox();
      const remote = openCopy(sandbox, name);
      const root = await clone(sandbox, remote, 'clone');
      const keepLast = { policy: { keepLast: 1 } };
      await expect(forget(testContext(root), keepLast)).rejects.toMatchObject({
        code: 'unsupported',
        data: { command: 'dray upgrade' },
      });

      const noGrace = { graceSeconds: 0 };
      await expect(collectGarbage(testContext(root), noGrace)).rejects.toMatchObject({ code: 'unsupported' });
      const before = await clone(sandbox, remote, 'before');

      expect((await upgrade(testContext(root))).result).toBe('upgraded');
      // The earlier Dray knows no feature, so it stops at whatever it reads first.
      const named = ['dray.json', ...keysBelow(remote, 'refs')];
      for (const key of named)
        expect(JSON.parse(readFileSync(join(remote, key), 'utf8')).required).toEqual(['collection']);
      const { forgotten, stay } = await forget(testContext(root), keepLast);
      expect(forgotten + stay).toBe(commits);
      expect(forgotten).toBeGreaterThan(0);

      const { forgottenCommits, result } = await collectGarbage(testContext(root), noGrace);
      expect(forgottenCommits).toBe(forgotten);
      // Of the other two, each blob that was stored is still needed.
      expect(result).toBe(name === 'objects' ? 'collected' : 'nothingToCollect');

      sandbox.write('clone/new.txt', 'after the upgrade\n');
      expect((await push(testContext(root), { message: 'later' })).result).toBe('pushed');
      expect(filesOf(await clone(sandbox, remote, 'again'))).toEqual({
        ...files,
        'new.txt': 'after the upgrade\n',
      });
      await pull(testContext(before), {});
      expect(describeTree(before)).toEqual(describeTree(root));
      expect(await verify(testContext(root), { readDataPercent: 100 })).toMatchObject({
        commits: stay + 1,
        forgotten,
        missing: 0,
        damaged: 0,
      });
    },
  );

  it.each(Object.entries(OLD))('of %s compresses after an upgrade that says so', async (name, { files }) => {
    using sandbox = createSandbox();
    const remote = openCopy(sandbox, name);
    const root = await clone(sandbox, remote, 'clone');
    const before = await clone(sandbox, remote, 'before');
    const upgraded = await upgrade(testContext(root), { compression: 'auto' });
    expect(upgraded).toMatchObject({ result: 'upgraded', compression: 'auto' });
    const { compression, required } = JSON.parse(readFileSync(join(remote, 'dray.json'), 'utf8'));
    expect({ compression, required }).toEqual({ compression: 'auto', required: ['collection', 'zstd'] });

    const added = { 'text.csv': rows('owl ', 1, 300_000), 'small.csv': rows('heron ', 1, 2_000) };
    for (const [path, content] of Object.entries(added)) sandbox.write(`clone/${path}`, content);
    const { uploadedBytes } = await push(testContext(root), {});
    expect(uploadedBytes).toBeLessThan(added['text.csv'].length / 2);
    // This workspace does not know of the change.
    for (const [path, content] of Object.entries(added)) sandbox.write(`before/again-${path}`, content);
    await push(testContext(before), {});
    await pull(testContext(before), {});
    const again = Object.entries(added).map(([path, content]) => [`again-${path}`, content] as const);
    const all = { ...files, ...added, ...Object.fromEntries(again) };
    expect(filesOf(before)).toEqual(all);
    expect(filesOf(await clone(sandbox, remote, 'later'))).toEqual(all);
    const whole = await verify(testContext(root), { readDataPercent: 100 });
    expect(whole).toMatchObject({ missing: 0, damaged: 0 });
  });

  it('keeps its history, tags and branches', async () => {
    using sandbox = createSandbox();
    const root = await clone(sandbox, openCopy(sandbox, 'merged'), 'clone');
    const context = testContext(root);
    await log(context, {});
    const commits = eventsOf(context, 'commit');
    expect(commits.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['Merge: b grows', 'a grows', 'b grows', 'first']),
    );
    expect(commits[0]).toMatchObject({ refs: ['main', 'side', 'tag: release/v2'] });
    expect(commits.at(-1)).toMatchObject({ message: 'first', refs: ['tag: v1'] });
  });
});
