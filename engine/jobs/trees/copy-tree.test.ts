/** Whole runs between two folders: what they copy, what they leave alone, and what remains after an error. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { SyncRequest } from '../../api/jobs/trees.ts';
import {
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../session/job.fixture.ts';
import { copyTree, syncTree } from './copy-tree.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const context = (more: Partial<JobContext> = {}): TestContext =>
  testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') }, ...more });
const there = { source: { place: 'from' }, destination: { place: 'to' } };
const back = { source: { place: 'to' }, destination: { place: 'from' } };
const sync = (more: Partial<SyncRequest> = {}, reported = context()) =>
  syncTree(reported, { ...there, ...more });
const copy = (more: Partial<SyncRequest> = {}, reported = context()) =>
  copyTree(reported, { ...there, ...more });

/** Long ago, so that tokens can be trusted. */
let seconds = 1_000_000_000;
function file(path: string, content = path): void {
  seconds += 1;
  utimesSync(sandbox.write(path, content), seconds, seconds);
}

/** Content by path, of files and links, without folders. */
function tree(name: string): Record<string, string> {
  const root = sandbox.path(name);
  const paths = existsSync(root) ? (readdirSync(root, { recursive: true }) as string[]) : [];
  return Object.fromEntries(
    paths.sort().flatMap((path) => {
      const full = join(root, path);
      const stat = lstatSync(full);
      if (stat.isSymbolicLink()) return [[path, `-> ${readlinkSync(full)}`]];
      return stat.isFile() ? [[path, readFileSync(full, 'utf8')]] : [];
    }),
  );
}

describe('A dry run', () => {
  it('lists everything that a sync would do and changes nothing, and the sync then does just that', async () => {
    for (const name of ['new', 'folder/new', 'changed', 'touched', 'same']) file(`from/${name}`);
    file('to/changed', 'otherwise');
    file('to/touched', 'from/touched');
    file('to/gone/away');
    utimesSync(sandbox.write('to/same', 'from/same'), seconds - 1, seconds - 1);
    utimesSync(sandbox.path('from/same'), seconds - 1, seconds - 1);
    const before = tree('to');
    const dry = context();
    const wet = context();
    const planned = await sync({ dryRun: true }, dry);
    expect(tree('to')).toEqual(before);
    const done = await sync({}, wet);
    expect(planned).toMatchObject({
      result: 'wouldCopy',
      copiedFiles: 3,
      touchedFiles: 1,
      deletedFiles: 1,
      unchangedFiles: 1,
    });
    for (const key of [
      'files',
      'bytes',
      'copiedFiles',
      'copiedBytes',
      'touchedFiles',
      'deletedFiles',
    ] as const)
      expect(planned[key], key).toBe(done[key]);
    const changes = (reported: TestContext) =>
      eventsOf(reported, 'change')
        .map(({ change, path }) => `${change} ${path}`)
        .sort();
    expect(changes(dry)).toEqual(changes(wet));
    expect(tree('to')).toEqual(tree('from'));
  });

  it('does not make the destination', async () => {
    file('from/a');
    expect(await copy({ dryRun: true })).toMatchObject({ copiedFiles: 1 });
    expect(existsSync(sandbox.path('to'))).toBe(false);
  });
});

describe('The memory of earlier copies', () => {
  it('also serves the way back', async () => {
    for (const name of ['a', 'b', 'c']) file(`from/${name}`);
    await copy();
    // Recent copies are trusted from the second run on.
    await copy();
    const reported = context();
    expect(await copyTree(reported, back)).toMatchObject({
      unchangedFiles: 3,
      copiedFiles: 0,
      touchedFiles: 0,
    });
    expect(eventsOf(reported, 'lookup')).toMatchObject([{ lookup: { decidedByHash: 0, decidedByHead: 0 } }]);
    file('to/b', 'changed there');
    expect(await copyTree(context(), back)).toMatchObject({ unchangedFiles: 2, copiedFiles: 1 });
    expect(tree('from')).toEqual(tree('to'));
  });

  it('does not hide that another program changed the destination', async () => {
    file('from/a', 'good');
    await copy();
    await copy();
    file('to/a', 'evil');
    expect(await copy()).toMatchObject({ copiedFiles: 1 });
    expect(tree('to')).toEqual({ a: 'good' });
  });
});

describe('A file that vanishes before it is copied', () => {
  it('fails alone, and the sync deletes nothing', async () => {
    for (let at = 0; at < 300; at += 1) file(`from/${String(at).padStart(3, '0')}`);
    file('to/extra');
    const reported: TestContext = context({
      emit: (event) => {
        reported.events.push(event);
        if (event.type === 'change') rmSync(sandbox.path('from/299'), { force: true });
      },
    });
    await expect(sync({ maxDelete: { percent: 100 } }, reported)).rejects.toMatchObject({ code: 'partial' });
    expect(eventsOf(reported, 'fileFailed').map(({ path }) => path)).toEqual(['299']);
    expect(Object.keys(tree('to'))).toHaveLength(300);
    expect(existsSync(sandbox.path('to/extra'))).toBe(true);
  });
});

describe('A run that is stopped', () => {
  it('ends as aborted, deletes nothing, and leaves no partial file', async () => {
    for (let at = 0; at < 300; at += 1) file(`from/${String(at).padStart(3, '0')}`, `content ${at}`);
    file('to/extra');
    const stop = new AbortController();
    const reported: TestContext = context({
      signal: stop.signal,
      emit: (event) => {
        reported.events.push(event);
        if (event.type === 'change') stop.abort();
      },
    });
    await expect(sync({}, reported)).rejects.toMatchObject({ code: 'aborted' });
    const { extra, ...brought } = tree('to');
    expect(extra).toBe('to/extra');
    for (const [path, content] of Object.entries(brought)) expect(content).toBe(`content ${Number(path)}`);
    expect(await sync()).toMatchObject({ failed: 0, deletedFiles: 1 });
    expect(tree('to')).toEqual(tree('from'));
  });
});

describe('Names', () => {
  it('of every kind are copied, and found again in the order of their bytes', async () => {
    const names = [
      '\uffee',
      '\u{1f600}',
      'a\u0300',
      '\u00e0',
      'a b',
      'a\nb',
      'a%2Fb',
      '-',
      '#',
      'a-',
      'a/b',
      'a!/b',
    ];
    for (const name of names) file(`from/${name}`, name);
    expect(await sync()).toMatchObject({ copiedFiles: names.length, failed: 0 });
    expect(await sync()).toMatchObject({ unchangedFiles: names.length, copiedFiles: 0, deletedFiles: 0 });
    expect(tree('to')).toEqual(tree('from'));
  });

  it('that are the same at the destination are copied once, and the others are named and left out', async () => {
    const names = ['Data/x', 'README', 'data/y', 'data/z', 'dataset', 'readme', 'readme.txt'];
    for (const name of names) file(`from/${name}`);
    const environment = { DRAY_CACHE: sandbox.path('cache'), DRAY_ASSUME_CASE_INSENSITIVE: '1' };
    for (const dryRun of [true, false]) {
      const reported = context({ environment });
      expect(await copy({ dryRun }, reported)).toMatchObject({ copiedFiles: 4, failed: 3 });
      expect(
        eventsOf(reported, 'fileFailed').map(({ error, path }) => [path, error.code, error.data.other]),
      ).toEqual([
        ['data/y', 'unsafePath', 'Data/'],
        ['data/z', 'unsafePath', 'Data/'],
        ['readme', 'unsafePath', 'README'],
      ]);
    }
    expect(Object.keys(tree('to'))).toEqual(['Data/x', 'README', 'dataset', 'readme.txt']);
  });

  it("of Dray's own folders in a workspace are never copied, even when --files-from lists them", async () => {
    file('from/.dray/config.json');
    file('from/deep/.dray/state.json');
    file('from/a');
    const filesFrom = ['.dray/config.json', 'a', 'deep/.dray/state.json'];
    const reported = context();
    expect(await copy({ filter: { filesFrom } }, reported)).toMatchObject({ copiedFiles: 1, failed: 2 });
    expect(eventsOf(reported, 'fileFailed').map(({ path }) => path)).toEqual([filesFrom[0], filesFrom[2]]);
    expect(tree('to')).toEqual({ a: 'from/a' });
  });

  it('listed by --files-from that cannot be copied are reported with the reason, and the others are copied', async () => {
    for (const name of ['a', 'folder/b']) file(`from/${name}`);
    symlinkSync('a', sandbox.path('from/link'));
    const reported = context();
    const filter = { filesFrom: ['a', 'absent', 'folder', 'link'] };
    expect(await copy({ filter }, reported)).toMatchObject({ copiedFiles: 1, failed: 3 });
    expect(eventsOf(reported, 'fileFailed').map(({ error }) => error.message)).toEqual([
      'absent is listed in --files-from, but it does not exist.',
      'folder is listed in --files-from, but it is a folder.',
      'link is listed in --files-from, but it is not a file (a link, for example).',
    ]);
  });

  it('listed by --files-from may be copied to a folder inside the source and to the one above', async () => {
    for (const name of ['a', 'b', 'c']) file(`from/${name}`);
    const filter = { filesFrom: ['a', 'b'] };
    const [from, within] = [{ place: sandbox.path('from') }, { place: sandbox.path('from/within') }];
    expect(await copy({ source: from, destination: within, filter })).toMatchObject({ copiedFiles: 2 });
    expect(tree('from/within')).toEqual({ a: 'from/a', b: 'from/b' });
    file('from/within/d');
    const up = { source: within, destination: from, filter: { filesFrom: ['d'] } };
    expect(await copy(up)).toMatchObject({ copiedFiles: 1 });
    expect(tree('from')).toMatchObject({ a: 'from/a', d: 'from/within/d' });
    await expect(copy({ source: from, destination: from, filter })).rejects.toThrow('are the same place');
    const deep = copy({ source: from, destination: within, filter: { filesFrom: ['within/d'] } });
    await expect(deep).rejects.toThrow('lies inside');
  });

  it('listed by --files-from are all that a sync changes, whatever else exists there', async () => {
    for (const name of ['a', 'b']) file(`from/${name}`);
    for (const name of ['b', 'c', 'gone']) file(`to/${name}`);
    expect(await sync({ filter: { filesFrom: ['a'] } })).toMatchObject({ copiedFiles: 1, deletedFiles: 0 });
    expect(tree('to')).toEqual({ a: 'from/a', b: 'to/b', c: 'to/c', gone: 'to/gone' });
  });
});

describe('A filter', () => {
  it.each([
    ['by name', { rules: [{ action: 'exclude', pattern: '*.log' }] }, ['x.log']],
    ['of folders', { rules: [{ action: 'exclude', pattern: '/logs/**' }] }, ['logs/x', 'logs/deep/y']],
    ['by size', { maxSizeBytes: 30 }, ['large'.padEnd(40, '-')]],
  ] as const)(
    '%s hides files of the destination from the deletions, and no others',
    async (_, filter, hidden) => {
      file('from/a');
      for (const name of hidden) file(`to/${name}`, name);
      file('to/gone');
      expect(await sync({ filter })).toMatchObject({ copiedFiles: 1, deletedFiles: 1 });
      expect(Object.keys(tree('to'))).toEqual(['a', ...hidden].sort());
    },
  );
});

describe('Links', () => {
  it('are left out with a warning, and those at the destination stay', async () => {
    file('from/a');
    symlinkSync('a', sandbox.path('from/link'));
    mkdirSync(sandbox.path('to'));
    symlinkSync('nowhere', sandbox.path('to/other'));
    const reported = context();
    expect(await sync({}, reported)).toMatchObject({ copiedFiles: 1, skippedFiles: 1, deletedFiles: 0 });
    expect(eventsOf(reported, 'warning')).toMatchObject([{ warning: 'skippedSpecialFile', path: 'link' }]);
    expect(tree('to')).toEqual({ a: 'from/a', other: '-> nowhere' });
  });

  it('at the path of a file to be copied are replaced, and their targets are not', async () => {
    file('from/a', 'content');
    file('outside', 'precious');
    mkdirSync(sandbox.path('to'));
    symlinkSync('../outside', sandbox.path('to/a'));
    expect(await copy()).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(tree('to')).toEqual({ a: 'content' });
    expect(readFileSync(sandbox.path('outside'), 'utf8')).toBe('precious');
  });

  it('with --links are kept, found equal, changed and deleted like files', async () => {
    file('from/a');
    symlinkSync('a', sandbox.path('from/link'));
    symlinkSync('nowhere', sandbox.path('from/dangling'));
    const links = true;
    expect(await sync({ links })).toMatchObject({ copiedFiles: 3, failed: 0 });
    expect(tree('to')).toEqual(tree('from'));
    for (const more of [{}, { noIndex: true }, { compare: 'checksum' }] as const)
      expect(await sync({ links, ...more })).toMatchObject({
        unchangedFiles: 3,
        copiedFiles: 0,
        touchedFiles: 0,
        failed: 0,
      });
    rmSync(sandbox.path('from/link'));
    symlinkSync('b', sandbox.path('from/link'));
    rmSync(sandbox.path('from/dangling'));
    expect(await sync({ links })).toMatchObject({ copiedFiles: 1, deletedFiles: 1, failed: 0 });
    expect(tree('to')).toEqual(tree('from'));
  });
});

describe('A sync that would delete too much', () => {
  const extras = (count: number) => {
    for (let at = 0; at < count; at += 1) file(`to/extra-${at}`);
  };

  it.each([
    ['100 files of 101 may go', 100, undefined, true],
    ['101 files of 102 may not', 101, undefined, false],
    ['more than the given number may not', 3, { files: 2 }, false],
    ['the given number may', 2, { files: 2 }, true],
    ['one may not when the limit is 0', 1, { files: 0 }, false],
    ['more than the given share may not', 2, { percent: 50 }, false],
    ['the given share may', 1, { percent: 50 }, true],
  ] as const)('stops before the first deletion: %s', async (_, count, maxDelete, isAllowed) => {
    file('from/kept');
    file('to/kept');
    extras(count);
    const run = sync(maxDelete ? { maxDelete } : {});
    if (isAllowed) await expect(run).resolves.toMatchObject({ deletedFiles: count });
    else await expect(run).rejects.toMatchObject({ code: 'tooManyDeletes', data: { deletes: count } });
    expect(Object.keys(tree('to'))).toHaveLength(isAllowed ? 1 : count + 1);
    expect(tree('to').kept).toBe('from/kept');
  });

  it('says so in a dry run, and still lists what it would delete', async () => {
    file('from/kept');
    extras(3);
    const reported = context();
    expect(await sync({ dryRun: true, maxDelete: { files: 1 } }, reported)).toMatchObject({
      deletedFiles: 3,
    });
    expect(eventsOf(reported, 'warning')).toMatchObject([{ warning: 'tooManyDeletes' }]);
    expect(Object.keys(tree('to'))).toHaveLength(3);
  });
});

describe('A file at the path of a folder', () => {
  it('fails the files of that folder, and the rest is copied', async () => {
    file('from/a/b');
    file('from/c');
    file('to/a');
    const reported = context();
    expect(await copy({}, reported)).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(eventsOf(reported, 'fileFailed')).toMatchObject([{ path: 'a/b', error: { code: 'conflict' } }]);
    expect(tree('to')).toEqual({ a: 'to/a', c: 'from/c' });
  });

  it('is deleted first in a sync, which then copies them; a folder at the path of a file too', async () => {
    for (const name of ['a/b', 'a/deep/c', 'e']) file(`from/${name}`);
    for (const name of ['a', 'e/f', 'e/deep/g', 'gone']) file(`to/${name}`);
    const planned = await sync({ dryRun: true });
    const done = await sync({ backupDirectory: { place: 'old' } });
    expect(done).toMatchObject({ copiedFiles: 3, deletedFiles: 4, failed: 0 });
    for (const key of ['files', 'bytes', 'copiedFiles', 'copiedBytes', 'deletedFiles'] as const)
      expect(planned[key], key).toBe(done[key]);
    expect(tree('to')).toEqual(tree('from'));
    expect(Object.keys(tree('old'))).toEqual(['a', 'e/deep/g', 'e/f', 'gone']);
    expect(await sync()).toMatchObject({ result: 'upToDate' });
  });

  it('is listed by a dry run with the links in the folder, which the sync removes as well', async () => {
    for (const name of ['e', 'f', 'g', 'link']) file(`from/${name}`);
    for (const name of ['e', 'f/deep', 'g']) mkdirSync(sandbox.path('to', name), { recursive: true });
    for (const name of ['e/one', 'f/deep/two']) symlinkSync('nowhere', sandbox.path('to', name));
    symlinkSync('e', sandbox.path('to/link'));
    file('to/f/three');
    const listed = async (dryRun: boolean) => {
      const reported = context();
      const { copiedFiles, deletedFiles, failed } = await sync({ dryRun }, reported);
      const paths = eventsOf(reported, 'change').map(({ change, path }) => `${change} ${path}`);
      return { copiedFiles, deletedFiles, failed, paths: paths.sort() };
    };
    const planned = await listed(true);
    expect(planned.paths).toEqual(
      expect.arrayContaining(['deleted e/one', 'deleted f/deep/two', 'deleted f/three']),
    );
    expect(await listed(false)).toEqual(planned);
  });

  it('is reported with the other failures of a sync, which then deletes nothing', async () => {
    for (const name of ['a/b', 'c']) file(`from/${name}`);
    for (const name of ['a', 'c/kept.tmp', 'c/d', 'gone']) file(`to/${name}`);
    const before = tree('to');
    const failures = (reported: TestContext) => eventsOf(reported, 'fileFailed').map(({ path }) => path);
    const bounded = context();
    await expect(sync({ maxDelete: { files: 2 } }, bounded)).rejects.toMatchObject({
      code: 'tooManyDeletes',
    });
    expect(failures(bounded).sort()).toEqual(['a/b', 'c']);
    expect(tree('to')).toEqual(before);
    // A file that the filter protects is not an extra.
    const filtered = context();
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    await expect(sync({ filter }, filtered)).rejects.toMatchObject({
      code: 'partial',
      message: expect.stringContaining('Nothing more was deleted'),
      data: { deletes: 1 },
    });
    expect(failures(filtered)).toEqual(['c']);
    expect(tree('to')).toEqual({ 'a/b': 'from/a/b', 'c/kept.tmp': 'to/c/kept.tmp', gone: 'to/gone' });
  });
});

describe('A backup folder', () => {
  const backupDirectory = { place: 'old' };

  it('keeps replaced and deleted files under their paths, and the next run overwrites them', async () => {
    file('from/deep/a', 'second');
    file('to/deep/a', 'first');
    file('to/gone');
    expect(await sync({ backupDirectory })).toMatchObject({ copiedFiles: 1, deletedFiles: 1 });
    expect(tree('old')).toEqual({ 'deep/a': 'first', gone: 'to/gone' });
    file('from/deep/a', 'third');
    await sync({ backupDirectory });
    expect(tree('old')).toEqual({ 'deep/a': 'second', gone: 'to/gone' });
    expect(tree('to')).toEqual({ 'deep/a': 'third' });
  });

  it('that cannot take a file leaves that file as it is', async () => {
    for (const name of ['a', 'b']) {
      file(`from/${name}`, 'new one');
      file(`to/${name}`, 'old');
    }
    file('old/a/in the way');
    const reported = context();
    expect(await copy({ backupDirectory }, reported)).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(eventsOf(reported, 'fileFailed')).toMatchObject([{ path: 'a', error: { code: 'io' } }]);
    expect(tree('to')).toEqual({ a: 'old', b: 'new one' });
  });

  it('inside one of the trees, or around it, is refused', async () => {
    file('from/a');
    file('to/b');
    for (const place of ['to/old', 'from/old', '.', 'to'])
      await expect(sync({ backupDirectory: { place } }), place).rejects.toMatchObject({ code: 'usage' });
    expect(tree('to')).toEqual({ b: 'to/b' });
  });
});

describe('Afterwards', () => {
  it('the destination has no files of Dray', async () => {
    for (const name of ['a', 'deep/b']) file(`from/${name}`);
    await sync();
    writeFileSync(sandbox.path('from/a'), 'changed');
    await sync();
    expect(readdirSync(sandbox.path('to'), { recursive: true }).sort()).toEqual(['a', 'deep', 'deep/b']);
  });
});
