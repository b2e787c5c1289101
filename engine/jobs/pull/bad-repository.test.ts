/**
 * Repositories that are newer, damaged or hostile: the error names the object, and nothing wrong reaches the
 * disk.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PullSummary } from '../../api/jobs/jobs.ts';
import { findCutPath } from '../../repository/manifest/cut-path.fixture.ts';
import { SEGMENT_MIN_ENTRIES } from '../../repository/manifest/segment-cutter.ts';
import { verify } from '../history/verify.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import {
  commitKeyOf,
  forgeCommit,
  forgeSegment,
  keysBelow,
  onlyKey,
  spoilObject,
  tipOf,
  truncateObject,
} from '../session/damage.fixture.ts';
import {
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from '../working-copy/status.ts';
import { cloneWorkspace } from './clone.ts';
import { pull } from './pull.ts';

let sandbox: Sandbox;
let remote: string;
let work: string;
beforeEach(() => {
  sandbox = createSandbox();
  remote = sandbox.path('store');
  work = sandbox.path('work');
  mkdirSync(work);
});
afterEach(() => sandbox[Symbol.dispose]());

/** Without compression, so that a test finds content in its pack; `compressed.test.ts` has the rest. */
const init = (layout: 'packs' | 'objects' = 'packs') =>
  initWorkspace(testContext(work), { remoteUrl: remote, layout: { kind: layout }, compression: 'off' });

/** Another user's clone from before the damage. */
async function cloneTo(name: string, context: TestContext = testContext(sandbox.folder)) {
  const summary = await cloneWorkspace(context, { url: remote, directory: name });
  return { root: sandbox.path(name), context, summary };
}

const failedPaths = (context: TestContext) =>
  eventsOf(context, 'fileFailed')
    .map(({ path }) => path)
    .sort();

/** The paths that `verify` reports as lost, and its message for each finding. */
async function verified(root: string, readDataPercent?: number) {
  const context = testContext(root);
  const summary = await verify(context, readDataPercent === undefined ? {} : { readDataPercent });
  const findings = eventsOf(context, 'check').filter(({ result }) => result === 'failed');
  return { summary, findings, paths: findings.flatMap(({ paths = [] }) => paths).sort() };
}

describe('a repository of a newer format', () => {
  beforeEach(async () => {
    await init();
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
  });

  it.each([
    ['a format number', '"format": 1', '"format": 2'],
    ['another hash', '"hash": "sha256"', '"hash": "blake3"'],
    ['encryption', '"encryption": null', '"encryption": {"kind": "age"}'],
    ['a required feature', '"collection"', '"tiers"'],
  ])('is not joined, cloned or changed when its descriptor has %s', async (_, from, to) => {
    const text = readFileSync(`${remote}/dray.json`, 'utf8');
    writeFileSync(`${remote}/dray.json`, text.replace(from, to));
    expect(readFileSync(`${remote}/dray.json`, 'utf8')).not.toBe(text);
    const error = { code: 'formatTooNew', message: expect.stringMatching(/^dray\.json .*Upgrade Dray/) };
    await expect(cloneTo('copy')).rejects.toMatchObject(error);
    expect(existsSync(`${sandbox.folder}/copy`)).toBe(false);
    const other = sandbox.path('other');
    mkdirSync(other);
    await expect(initWorkspace(testContext(other), { remoteUrl: remote })).rejects.toMatchObject(error);
    expect(readdirSync(other)).toEqual([]);
  });

  it.each([
    ['a commit', (text: string) => text.replace('{"format":1', '{"format":2')],
    [
      'a required feature of a commit',
      (text: string) => text.replace('{"format":1', '{"format":1,"required":["tiers"]'),
    ],
    [
      'the segment in a commit',
      (text: string) => text.replace('"manifest":{"format":1', '"manifest":{"format":2'),
    ],
    ['an entry', (text: string) => text.replace('{"path":"a"', '{"path":"a","encoding":"xz"')],
  ])('is reported by the commit for %s, and the pull changes nothing', async (_, edit) => {
    const { root } = await cloneTo('copy');
    const before = describeTree(root);
    const commit = forgeCommit(remote, edit);
    await expect(pull(testContext(root), {})).rejects.toMatchObject({
      code: 'formatTooNew',
      data: { key: commitKeyOf(commit) },
      message: expect.stringContaining('Upgrade Dray'),
    });
    expect(describeTree(root)).toEqual(before);
    sandbox.write('copy/a', 'mine');
    await expect(push(testContext(root), {})).rejects.toMatchObject({ code: 'formatTooNew' });
    expect(tipOf(remote)).toBe(commit);
  });
});

describe('a damaged commit', () => {
  it('stops the pull with its name and changes nothing; verify reports it and continues', async () => {
    await init();
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    const { root } = await cloneTo('copy');
    sandbox.write('work/a', 'two');
    await push(testContext(work), {});
    const key = commitKeyOf(tipOf(remote));
    truncateObject(remote, key);
    const before = describeTree(root);
    await expect(pull(testContext(root), {})).rejects.toMatchObject({ code: 'damaged', data: { key } });
    expect(describeTree(root)).toEqual(before);
    await expect(cloneTo('fresh')).rejects.toMatchObject({ code: 'damaged', data: { key } });
    expect(existsSync(`${sandbox.folder}/fresh`)).toBe(false);
    // The workspace that pushed it has it in its index and must still report the damage.
    for (const folder of [root, work]) {
      const { summary, findings } = await verified(folder);
      expect(summary.damaged).toBe(1);
      expect(findings).toMatchObject([{ check: 'damaged', detail: expect.stringContaining(key) }]);
    }
  });

  it('is reported as missing when it is gone', async () => {
    await init();
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    forgeRef('f'.repeat(64));
    const error = { code: 'damaged', message: expect.stringContaining('f'.repeat(64)) };
    await expect(cloneTo('copy')).rejects.toMatchObject(error);
    expect(existsSync(`${sandbox.folder}/copy`)).toBe(false);
  });

  it('is reported when the ref is not JSON', async () => {
    await init();
    sandbox.write('work/a', 'one');
    await push(testContext(work), {});
    truncateObject(remote, 'refs/heads/main');
    const error = { code: 'damaged', data: { key: 'refs/heads/main' } };
    await expect(pull(testContext(work), {})).rejects.toMatchObject(error);
    await expect(push(testContext(work), {})).rejects.toMatchObject(error);
    await expect(cloneTo('copy')).rejects.toMatchObject(error);
    const { findings } = await verified(work);
    expect(findings).toMatchObject([
      { check: 'damaged', detail: expect.stringContaining('refs/heads/main') },
    ]);
  });

  function forgeRef(commit: string): void {
    const path = `${remote}/refs/heads/main`;
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), commit }));
  }
});

describe('a damaged segment', () => {
  const FILES = SEGMENT_MIN_ENTRIES;
  const LETTERS = 'abcdefgh';
  const pathOf = (at: number) => `${LETTERS[at % LETTERS.length]}/${at}`;

  beforeEach(async () => {
    await init('objects');
    for (const letter of LETTERS) mkdirSync(`${work}/${letter}`);
    for (let at = 0; at < FILES; at += 1) writeFileSync(`${work}/${pathOf(at)}`, '');
    sandbox.write(`work/${findCutPath('y')}`, '');
    sandbox.write('work/z-first', 'one');
    await push(testContext(work), {});
  });

  it('stops the pull with its name and changes nothing', async () => {
    const { root } = await cloneTo('copy');
    const before = new Set(keysBelow(remote, 'manifests'));
    sandbox.write('work/z-first', 'two');
    await push(testContext(work), {});
    const [key] = keysBelow(remote, 'manifests').filter((name) => !before.has(name));
    truncateObject(remote, key!);
    await expect(pull(testContext(root), {})).rejects.toMatchObject({ code: 'damaged', data: { key } });
    expect(readFileSync(`${root}/z-first`, 'utf8')).toBe('one');
  });

  it('is reported by verify with its range of paths, and the other segments are still verified', async () => {
    const keys = keysBelow(remote, 'manifests');
    expect(keys.length).toBeGreaterThan(1);
    const text = readFileSync(`${remote}/${commitKeyOf(tipOf(remote))}`);
    expect(text.length).toBeGreaterThan(0);
    const first = keys.find((key) => !isLastSegment(key))!;
    truncateObject(remote, first);
    const lost = onlyKey(remote, 'objects');
    truncateObject(remote, lost, 1);
    const { summary, findings, paths } = await verified(work);
    expect(summary).toMatchObject({ damaged: 2 });
    expect(paths).toEqual(['z-first']);
    expect(findings.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(new RegExp(`^${first} .*\\w/\\d+ to \\w/\\d+`)),
      expect.stringContaining(lost),
    ]);
  });

  it('of a newer format stops the clone with its name', async () => {
    const key = forgeSegment(remote, keysBelow(remote, 'manifests')[0]!, (text) =>
      text.replace('{"format":1', '{"format":2'),
    );
    await expect(cloneTo('copy')).rejects.toMatchObject({ code: 'formatTooNew', data: { key } });
  });

  /** Whether this is the segment with `z-first`. */
  function isLastSegment(key: string): boolean {
    const [, fanout, rest] = key.split('/');
    const last = segmentsOf().at(-1);
    return last === `${fanout}${rest}`;
  }

  function segmentsOf(): string[] {
    let found: string[] = [];
    // Reads the commit through the edit that forges one, without keeping it.
    try {
      forgeCommit(remote, (text) => {
        found = JSON.parse(text).segments.map((segment: { hash: string }) => segment.hash);
        return text;
      });
    } catch {
      // The edit changed nothing, as intended.
    }
    return found;
  }
});

describe('a damaged pack', () => {
  const sizes: Record<string, number> = { a: 20_000, b: 30_000, c: 25_000, d: 40_000 };
  const bytesOf = (name: string) => Buffer.alloc(sizes[name]!, `the content of ${name}, `);

  beforeEach(async () => {
    await init();
    for (const name of Object.keys(sizes)) sandbox.write(`work/${name}`, bytesOf(name));
    await push(testContext(work), {});
  });

  it('costs only the files whose bytes were cut off; the next pull gets them once it is repaired', async () => {
    const key = onlyKey(remote, 'packs');
    const whole = readFileSync(`${remote}/${key}`);
    const keptBytes = whole.indexOf(bytesOf('c')) + 1000;
    truncateObject(remote, key, keptBytes);
    const kept = Object.keys(sizes).filter(
      (name) => whole.indexOf(bytesOf(name)) + sizes[name]! <= keptBytes,
    );
    const lost = Object.keys(sizes).filter((name) => !kept.includes(name));
    const { root, summary, context } = await cloneTo('copy');
    expect(summary).toMatchObject({ commit: null, failed: lost.length, changes: { added: kept.length } });
    expect(failedPaths(context)).toEqual(lost);
    expect(
      readdirSync(root)
        .filter((name) => name !== '.dray')
        .sort(),
    ).toEqual(kept);
    for (const { error } of eventsOf(context, 'fileFailed'))
      expect(error).toMatchObject({ code: 'damaged', message: expect.stringContaining(key) });
    expect(readdirSync(`${root}/.dray/tmp`)).toEqual([]);
    const { summary: found, paths } = await verified(root);
    expect(found).toMatchObject({ damaged: 1, missing: 0, affectedPaths: lost.length });
    expect(paths).toEqual(lost);
    writeFileSync(`${remote}/${key}`, whole);
    expect(await pull(testContext(root), {})).toMatchObject({ failed: 0 });
    expect(describeTree(root)).toEqual(describeTree(work));
  });

  it('is not written where its bytes do not match; verify --read-data names every file with them', async () => {
    sandbox.write('work/again/c', bytesOf('c'));
    await push(testContext(work), {});
    const key = onlyKey(remote, 'packs');
    spoilObject(remote, key, readFileSync(`${remote}/${key}`).indexOf(bytesOf('c')) + 7);
    const { root, summary, context } = await cloneTo('copy');
    expect(summary.failed).toBe(2);
    expect(failedPaths(context)).toEqual(['again/c', 'c']);
    expect(existsSync(`${root}/c`)).toBe(false);
    expect(existsSync(`${root}/again/c`)).toBe(false);
    expect((await verified(work)).summary).toMatchObject({ damaged: 0 });
    const { summary: found, paths, findings } = await verified(work, 100);
    expect(found).toMatchObject({ damaged: 1, affectedPaths: 2 });
    expect(paths).toEqual(['again/c', 'c']);
    expect(findings[0]!.detail).toContain(key);
  });

  it('does not replace the existing file', async () => {
    const { root } = await cloneTo('copy');
    sandbox.write('work/a', 'newer');
    sandbox.write('work/e', 'new');
    const before = new Set(keysBelow(remote, 'packs'));
    await push(testContext(work), {});
    const [key] = keysBelow(remote, 'packs').filter((name) => !before.has(name));
    spoilObject(remote, key!, readFileSync(`${remote}/${key}`).indexOf('newer'));
    const context = testContext(root);
    expect(await pull(context, {})).toMatchObject({ failed: 1 });
    expect(failedPaths(context)).toEqual(['a']);
    expect(readFileSync(`${root}/a`)).toEqual(bytesOf('a'));
    expect(readFileSync(`${root}/e`, 'utf8')).toBe('new');
  });
});

describe('a damaged object', () => {
  it.each(['cut', 'spoiled', 'gone'] as const)('costs only its own files when it is %s', async (how) => {
    await init('objects');
    const bytes = Buffer.alloc(100_000, 'some bytes ');
    sandbox.write('work/a', bytes);
    sandbox.write('work/same', bytes);
    sandbox.write('work/b', 'fine');
    await push(testContext(work), {});
    const key = keysBelow(remote, 'objects').find(
      (name) => statSync(`${remote}/${name}`).size === bytes.length,
    )!;
    if (how === 'cut') truncateObject(remote, key);
    else if (how === 'spoiled') spoilObject(remote, key, 50_000);
    else await import('node:fs').then(({ rmSync }) => rmSync(`${remote}/${key}`));
    const { root, summary, context } = await cloneTo('copy');
    expect(summary.failed).toBe(2);
    expect(failedPaths(context)).toEqual(['a', 'same']);
    expect(readdirSync(root).sort()).toEqual(['.dray', 'b']);
    const { summary: found, paths } = await verified(root, 100);
    expect(found).toMatchObject({
      missing: how === 'gone' ? 1 : 0,
      damaged: how === 'gone' ? 0 : 1,
      affectedPaths: 2,
    });
    expect(paths).toEqual(['a', 'same']);
  });

  it('that is a chunk of a large file keeps that file from being written at all', async () => {
    await initWorkspace(testContext(work), { remoteUrl: remote, layout: { chunkAbove: 4_000_000 } });
    const bytes = Buffer.alloc(12_000_000);
    for (let at = 0; at < bytes.length; at += 4)
      bytes.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, at);
    sandbox.write('work/large', bytes);
    sandbox.write('work/b', 'fine');
    await push(testContext(work), {});
    const chunks = keysBelow(remote, 'objects');
    expect(chunks.length).toBeGreaterThan(1);
    spoilObject(remote, chunks[1]!, 5);
    const { root, summary, context } = await cloneTo('copy');
    expect(summary.failed).toBe(1);
    expect(failedPaths(context)).toEqual(['large']);
    expect(readdirSync(root).sort()).toEqual(['.dray', 'b']);
    expect(readdirSync(`${root}/.dray/tmp`)).toEqual([]);
    const { paths } = await verified(root, 100);
    expect(paths).toEqual(['large']);
  });
});

describe('a hostile manifest', () => {
  beforeEach(async () => {
    await init();
    sandbox.write('work/victim', 'content');
    await push(testContext(work), {});
  });

  it.each([
    '../victim',
    'a/../../victim',
    '/tmp/dray-victim',
    './victim',
    'a//victim',
    'nul\\u0000byte',
    '.dray/config.json',
    '.DRAY/config.json',
    'a/.dray/config.json',
  ])('is refused for the path %s before anything is written', async (path) => {
    const { root } = await cloneTo('copy');
    const before = describeTree(root);
    const commit = forgeCommit(remote, (text) => text.replace('"path":"victim"', `"path":"${path}"`));
    const outside = readdirSync(sandbox.folder).sort();
    await expect(pull(testContext(root), {})).rejects.toMatchObject({
      code: 'damaged',
      data: { key: commitKeyOf(commit) },
    });
    await expect(cloneTo('fresh')).rejects.toMatchObject({ code: 'damaged' });
    expect(describeTree(root)).toEqual(before);
    expect(readdirSync(sandbox.folder).sort()).toEqual(outside);
    expect(existsSync('/tmp/dray-victim')).toBe(false);
  });

  it('cannot write through a link in the workspace', async () => {
    const { root } = await cloneTo('copy');
    const elsewhere = sandbox.path('elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, `${root}/d`);
    sandbox.write('work/d/x', 'from the remote');
    sandbox.write('work/fine', 'fine');
    await push(testContext(work), {});
    for (const conflicts of ['stop', 'theirs'] as const) {
      const context = testContext(root);
      const outcome = await pull(context, { conflicts }).catch((error: unknown) => error);
      expect(readdirSync(elsewhere)).toEqual([]);
      if (conflicts === 'stop') expect(outcome).toMatchObject({ code: 'conflict' });
    }
  });

  it('cannot write through a link that it brings itself', async () => {
    const elsewhere = sandbox.path('elsewhere');
    mkdirSync(elsewhere);
    sandbox.write('work/d/x', 'inside');
    await push(testContext(work), {});
    forgeCommit(remote, (text) => {
      const commit = JSON.parse(text);
      commit.manifest.entries.unshift({ path: 'd', link: elsewhere });
      commit.totals.links += 1;
      return JSON.stringify(commit);
    });
    const context = testContext(sandbox.folder);
    const outcome = await cloneTo('copy', context).catch((error: unknown) => error);
    expect(readdirSync(elsewhere)).toEqual([]);
    const refused =
      eventsOf(context, 'fileFailed').length > 0 || (outcome as { code?: string }).code === 'damaged';
    expect(refused).toBe(true);
  });
});

describe('names that are the same where case or Unicode form does not count', () => {
  it.each([
    ['case', 'Read.me', 'read.me'],
    ['Unicode form', 'caf\u00e9', 'cafe\u0301'],
    ['the case of a folder', 'Data/x', 'data/y'],
  ])(
    'get a warning from a push, and one of them is left out by a pull and a clone there: %s',
    async (_, one, other) => {
      await init();
      sandbox.write('work/plain', 'plain');
      await push(testContext(work), {});
      const environment = { DRAY_AUTHOR: 'tester', DRAY_ASSUME_CASE_INSENSITIVE: '1' };
      const { root } = await cloneTo('copy', testContext(sandbox.folder, { environment }));
      sandbox.write(`work/${one}`, 'one');
      sandbox.write(`work/${other}`, 'other');
      sandbox.write('work/another', 'one more');
      const pushing = testContext(work);
      expect(await push(pushing, {})).toMatchObject({ result: 'pushed', failed: 0 });
      const [warning, ...more] = eventsOf(pushing, 'warning').filter(
        (event) => event.warning === 'nameCollision',
      );
      expect(more).toEqual([]);
      expect(warning!.message).toContain(one.split('/')[0]);
      expect(warning!.message).toContain(other.split('/')[0]);
      const [kept, left] = [one, other].sort();
      const leavesOne = async (run: (context: TestContext) => Promise<PullSummary>, at: string) => {
        const context = testContext(at, { environment });
        expect(await run(context)).toMatchObject({ failed: 1, commit: tipOf(remote) });
        expect(eventsOf(context, 'warning').filter((event) => event.warning === 'notHeld')).toMatchObject([
          { path: left, message: expect.stringContaining(`${left} beside `) },
        ]);
      };
      await leavesOne((context) => pull(context, {}), root);
      await leavesOne(async (context) => (await cloneTo('fresh', context)).summary, sandbox.folder);
      for (const at of [root, `${sandbox.folder}/fresh`]) {
        const context = () => testContext(at, { environment });
        expect(readFileSync(`${at}/${kept}`, 'utf8')).toBe(kept === one ? 'one' : 'other');
        expect(existsSync(`${at}/${left}`)).toBe(false);
        expect(readFileSync(`${at}/another`, 'utf8')).toBe('one more');
        expect(await pull(context(), {})).toMatchObject({ failed: 0, changes: { added: 0 } });
        expect((await status(context(), {})).changes).toMatchObject({ added: 0, deleted: 0, modified: 0 });
        writeFileSync(`${at}/plain`, `from ${at}`);
        expect(await push(context(), {})).toMatchObject({ changes: { modified: 1, deleted: 0 } });
        await pull(testContext(work), {});
        expect(readFileSync(`${work}/${left}`, 'utf8')).toBe(left === one ? 'one' : 'other');
        await pull(testContext(root, { environment }), {});
      }
    },
  );
});
