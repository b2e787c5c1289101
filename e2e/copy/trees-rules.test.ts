/**
 * Rules that only whole runs show: what a sync must keep at a store, and what a check must not take for
 * success.
 */
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CheckTreesRequest, SyncRequest } from '../../engine/api/jobs/trees.ts';
import { eventsOf } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';

freshStorePerTest();

/** The upload time that the fake store reports for every object. */
const STORED_MS = Date.UTC(2026, 10, 13, 10);
const DAY_MS = 86_400_000;

const at = (path: string) => ({
  place: `s3://${store.bucket}/${path}`,
  connection: { endpoint: store.endpoint },
});
const put = (key: string, content = '') => store.objects.set(key, Buffer.from(content));
const keys = () => [...store.objects.keys()].sort();
const file = (path: string, content: string, timeMs: number) =>
  utimesSync(sandbox.write(path, content), timeMs / 1000, timeMs / 1000);
const sync = (request: SyncRequest) => syncTree(contextIn(), { maxDelete: { percent: 100 }, ...request });
const check = (request: CheckTreesRequest) => checkTrees(contextIn(), request);

describe('A sync to a store', () => {
  it('keeps folder markers and workspace folders, which no source can have', async () => {
    file('from/a', 'a', STORED_MS);
    for (const key of ['to/', 'to/empty/', 'to/.dray/config.json', 'to/x/.dray/state', 'to/gone'])
      put(key, key.endsWith('/') ? '' : 'x');
    expect(await sync({ source: { place: 'from' }, destination: at('to') })).toMatchObject({
      copiedFiles: 1,
      deletedFiles: 1,
    });
    expect(keys()).toEqual(['to/', 'to/.dray/config.json', 'to/a', 'to/empty/', 'to/x/.dray/state']);
  });

  it.each(['newerThanMs', 'olderThanMs'] as const)(
    'keeps files of the source that an age filter excludes (%s)',
    async (bound) => {
      const limit = STORED_MS + (bound === 'newerThanMs' ? -DAY_MS : DAY_MS);
      const [out, taken] =
        bound === 'newerThanMs' ? [limit - DAY_MS, limit + DAY_MS] : [limit + DAY_MS, limit - DAY_MS];
      file('from/out', 'left out', out);
      file('from/taken', 'taken', taken);
      for (const name of ['out', 'taken', 'extra']) put(`to/${name}`, 'other');
      expect(
        await sync({ source: { place: 'from' }, destination: at('to'), filter: { [bound]: limit } }),
      ).toMatchObject({ files: 1, copiedFiles: 1, deletedFiles: 1 });
      expect(keys()).toEqual(['to/out', 'to/taken']);
      expect(store.objects.get('to/out')!.toString()).toBe('other');
    },
  );

  it.each(['minSizeBytes', 'maxSizeBytes'] as const)(
    'keeps files of the source that a size filter excludes (%s)',
    async (bound) => {
      file('from/small', 's', STORED_MS);
      file('from/large', 'l'.repeat(100), STORED_MS);
      for (const name of ['small', 'large']) put(`to/${name}`, 'x'.repeat(50));
      await sync({ source: { place: 'from' }, destination: at('to'), filter: { [bound]: 50 } });
      const sizes = Object.fromEntries([...store.objects].map(([key, bytes]) => [key, bytes.length]));
      expect(sizes).toEqual(
        bound === 'minSizeBytes' ? { 'to/small': 50, 'to/large': 100 } : { 'to/small': 1, 'to/large': 50 },
      );
    },
  );

  it('of one file touches nothing beside it', async () => {
    file('from/a', 'a', STORED_MS);
    put('to/other', 'x');
    put('to/z', 'x');
    expect(await sync({ source: { place: 'from/a' }, destination: at('to/') })).toMatchObject({
      copiedFiles: 1,
      deletedFiles: 0,
    });
    expect(keys()).toEqual(['to/a', 'to/other', 'to/z']);
  });
});

describe('A folder of unfinished files at a store', () => {
  const putParts = () => {
    for (const key of ['a', 'x/.dray-tmp/part', '.dray-tmp']) put(`there/${key}`, 'x');
  };

  it('is not copied from there, and the local one stays', async () => {
    putParts();
    const here = sandbox.write('here/x/.dray-tmp/part', 'own');
    const both = { source: at('there'), destination: { place: 'here' } };
    expect(await sync(both)).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(readFileSync(here, 'utf8')).toBe('own');
    expect(await sync(both)).toMatchObject({ result: 'upToDate', files: 1 });
    const same = { same: 1, onlyInSource: 0, onlyInDestination: 0 };
    expect(await check(both)).toMatchObject(same);
    expect(await check({ source: both.destination, destination: both.source })).toMatchObject(same);
    const filter = { filesFrom: ['x/.dray-tmp/part'] };
    expect(await copyTree(contextIn(), { ...both, filter })).toMatchObject({ copiedFiles: 0, failed: 1 });
  });

  it('is neither deleted there nor copied to another place of the store', async () => {
    putParts();
    file('from/a', 'x', STORED_MS);
    expect(await sync({ source: { place: 'from' }, destination: at('there') })).toMatchObject({
      deletedFiles: 0,
    });
    expect(await sync({ source: at('there'), destination: at('to') })).toMatchObject({ copiedFiles: 1 });
    expect(keys()).toEqual(['there/.dray-tmp', 'there/a', 'there/x/.dray-tmp/part', 'to/a']);
  });
});

describe('A copy to a store', () => {
  it("copies nothing from a workspace's own folder, even if --files-from lists it", async () => {
    file('from/.dray/config.json', 'secret', STORED_MS);
    file('from/a', 'a', STORED_MS);
    const context = contextIn();
    expect(
      await copyTree(context, {
        source: { place: 'from' },
        destination: at('to'),
        filter: { filesFrom: ['.dray/config.json', 'a'] },
      }),
    ).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([
      { path: '.dray/config.json', error: { code: 'unsafePath' } },
    ]);
    expect(keys()).toEqual(['to/a']);
  });

  it('keeps unusual names in both directions', async () => {
    const names = [
      '\uffee',
      '\u{1f600}',
      'a\u0300',
      '\u00e0',
      'a b',
      'a%2Fb',
      '-',
      '#',
      '?',
      '&<>',
      'a-',
      'a/b',
      'a!/b',
      '+',
    ];
    for (const name of names) file(`from/${name}`, name, STORED_MS);
    const up = { source: { place: 'from' }, destination: at('to'), noIndex: true };
    const down = { source: at('to'), destination: { place: 'back' }, noIndex: true };
    for (const request of [up, down]) {
      expect(await sync(request)).toMatchObject({ copiedFiles: names.length, failed: 0 });
      expect(await sync(request)).toMatchObject({
        copiedFiles: 0,
        deletedFiles: 0,
        unchangedFiles: names.length,
      });
    }
    for (const name of names) expect(readFileSync(sandbox.path('back', name), 'utf8')).toBe(name);
  });

  it('sends no write in a dry run', async () => {
    file('from/a', 'a', STORED_MS);
    put('to/a', 'b');
    put('to/gone', 'c');
    const request = {
      source: { place: 'from' },
      destination: at('to'),
      backupDirectory: at('old'),
      dryRun: true,
    };
    expect(await sync(request)).toMatchObject({ copiedFiles: 1, deletedFiles: 1 });
    expect(store.log.filter((line) => !/^(GET|HEAD) /.test(line))).toEqual([]);
  });
});

describe('A sync from a store', () => {
  it('keeps local files of objects that an age filter excludes', async () => {
    put('from/out', 'o');
    put('from/in', 'i');
    file('to/out', 'old', STORED_MS - 100 * DAY_MS);
    const filter = { olderThanMs: STORED_MS - DAY_MS };
    expect(await sync({ source: at('from'), destination: { place: 'to' }, filter })).toMatchObject({
      files: 0,
      deletedFiles: 0,
    });
    expect(readFileSync(sandbox.path('to/out'), 'utf8')).toBe('old');
  });

  it('of one object touches nothing beside its file', async () => {
    put('from/a', 'a');
    file('to/other', 'x', STORED_MS);
    expect(await sync({ source: at('from/a'), destination: { place: 'to/' } })).toMatchObject({
      copiedFiles: 1,
      deletedFiles: 0,
    });
    expect(existsSync(sandbox.path('to/other'))).toBe(true);
  });
});

describe('A check', () => {
  it('of an empty source prefix is an error, also with --one-way', async () => {
    file('to/a', 'a', STORED_MS);
    for (const oneWay of [true, false])
      await expect(check({ source: at('typo'), destination: { place: 'to' }, oneWay })).rejects.toMatchObject(
        { code: 'notFound' },
      );
  });

  it('of an empty source prefix is an error with a filter too', async () => {
    const filter = { rules: [{ action: 'exclude', pattern: '*.tmp' }] } as const;
    await expect(
      check({ source: at('typo'), destination: { place: 'to' }, oneWay: true, filter }),
    ).rejects.toMatchObject({ code: 'notFound' });
  });

  it.each(['newerThanMs', 'olderThanMs'] as const)(
    "filters by the source's ages, since a store knows only upload times (%s)",
    async (bound) => {
      const limit = STORED_MS + (bound === 'newerThanMs' ? -DAY_MS : DAY_MS);
      const sign = bound === 'newerThanMs' ? -1 : 1;
      for (const [name, timeMs] of [
        ['out', limit + sign * DAY_MS],
        ['taken', limit - sign * DAY_MS],
      ] as const) {
        file(`from/${name}`, name, timeMs);
        put(`to/${name}`, name);
      }
      const filter = { [bound]: limit };
      expect(await check({ source: { place: 'from' }, destination: at('to'), filter })).toMatchObject({
        files: 1,
        same: 1,
        onlyInSource: 0,
        onlyInDestination: 0,
      });
    },
  );

  it('with --files-from reports a file that the destination lacks', async () => {
    for (const name of ['a', 'b']) file(`from/${name}`, name, STORED_MS);
    put('to/a', 'a');
    const filter = { filesFrom: ['a', 'b'] };
    expect(await check({ source: { place: 'from' }, destination: at('to'), filter })).toMatchObject({
      ...{ same: 1, onlyInSource: 1, failed: 0 },
    });
  });

  it('ignores its own report in the first run and in the next', async () => {
    for (const side of ['left', 'right']) file(`${side}/a`, 'a', STORED_MS);
    const request = {
      source: { place: 'left' },
      destination: { place: 'right' },
      reportPath: sandbox.path('left/report.json'),
    };
    for (const _ of [1, 2])
      expect(await check(request)).toMatchObject({ same: 1, onlyInSource: 0, files: 1 });
  });
});

describe('A check with --links', () => {
  it('compares local links with their stored objects by the checksums of their targets', async () => {
    file('from/a', 'a', STORED_MS);
    const { rmSync, symlinkSync } = await import('node:fs');
    symlinkSync('a', sandbox.path('from/link'));
    symlinkSync('../nowhere/\u00e4', sandbox.path('from/dangling'));
    const request = { source: { place: 'from' }, destination: at('to'), links: true };
    expect(await copyTree(contextIn(), request)).toMatchObject({ copiedFiles: 3, failed: 0 });
    for (const more of [{}, { download: true }])
      expect(await check({ ...request, ...more })).toMatchObject({ same: 3, differing: 0, failed: 0 });
    expect(await check({ source: at('to'), destination: { place: 'from' }, links: true })).toMatchObject({
      same: 3,
      onlyInSource: 0,
    });
    rmSync(sandbox.path('from/link'));
    symlinkSync('b', sandbox.path('from/link'));
    const context = contextIn();
    expect(await checkTrees(context, request)).toMatchObject({ same: 2, differing: 1 });
    expect(eventsOf(context, 'compared').find(({ result }) => result === 'differs')).toMatchObject({
      path: 'link.rclonelink',
      by: 'md5',
    });
    expect(await check({ ...request, links: false })).toMatchObject({ same: 1, onlyInDestination: 2 });
  });
});

describe('A copy', () => {
  it('with --no-check-dest refuses options that need a lookup at the destination', async () => {
    file('from/a', 'a', STORED_MS);
    for (const more of [{ immutable: true }, { update: true }, { backupDirectory: at('old') }])
      await expect(
        copyTree(contextIn(), {
          source: { place: 'from' },
          destination: at('to'),
          noCheckDestination: true,
          ...more,
        }),
      ).rejects.toMatchObject({ code: 'usage' });
    expect(keys()).toEqual([]);
  });

  it('from a name like "constructor" finds no remote', async () => {
    for (const name of ['constructor', 'toString', 'valueOf'])
      await expect(
        copyTree(contextIn(), { source: { place: `${name}:x` }, destination: at('to') }),
      ).rejects.toMatchObject({ code: 'usage' });
  });

  it.runIf(process.platform === 'linux')(
    'with --links keeps every byte of a target, even invalid UTF-8 (needs Linux)',
    async () => {
      const { readlinkSync, symlinkSync } = await import('node:fs');
      file('from/a', 'a', STORED_MS);
      const targets = {
        latin: Buffer.from('caf\xe9.csv', 'latin1'),
        marked: Buffer.from('\ufeffa'),
        utf8: Buffer.from('caf\u00e9'),
      };
      for (const [name, target] of Object.entries(targets)) symlinkSync(target, sandbox.path(`from/${name}`));
      for (const [source, destination] of [
        [{ place: 'from' }, { place: 'copied' }],
        [{ place: 'from' }, at('to')],
        [at('to'), { place: 'back' }],
      ] as const) {
        const request = { source, destination, links: true };
        expect(await copyTree(contextIn(), request)).toMatchObject({ copiedFiles: 4, failed: 0 });
        expect(await copyTree(contextIn(), request)).toMatchObject({ copiedFiles: 0, unchangedFiles: 4 });
      }
      for (const folder of ['copied', 'back'])
        for (const [name, target] of Object.entries(targets))
          expect(readlinkSync(sandbox.path(`${folder}/${name}`), 'buffer'), `${folder}/${name}`).toEqual(
            target,
          );
    },
  );

  it('of a link between folders with --links keeps it, and the next run finds it', async () => {
    file('from/a', 'a', STORED_MS);
    (await import('node:fs')).symlinkSync('a', sandbox.path('from/link'));
    const request = { source: { place: 'from' }, destination: { place: 'to' }, links: true };
    const first = contextIn();
    const s1 = await copyTree(first, request);
    expect([s1, eventsOf(first, 'fileFailed')]).toMatchObject([{ copiedFiles: 2, failed: 0 }, []]);
    for (const noIndex of [false, true]) {
      const c = contextIn();
      const s = await copyTree(c, { ...request, noIndex });
      expect([s, eventsOf(c, 'fileFailed')]).toMatchObject([
        { copiedFiles: 0, touchedFiles: 0, failed: 0, unchangedFiles: 2 },
        [],
      ]);
    }
  });
});
