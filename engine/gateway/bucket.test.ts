/** Listings against a naive model of a bucket, over HTTP as clients see them. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePaths, type Entry } from '../model/entry.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { byPath, countedEntries } from '../repository/entries.fixture.ts';
import { refKey } from '../repository/keys.ts';
import {
  ask,
  createStillClock,
  emptyFile,
  gatewaysOfTests,
  setRef,
  type TestGateway,
  writeCommit,
} from './gateway.fixture.ts';

const { end, open } = gatewaysOfTests();

type Query = Readonly<Record<string, string>>;

interface Page {
  readonly keys: readonly string[];
  readonly folders: readonly string[];
  readonly isTruncated: boolean;
  /** The parameter of the next page. */
  readonly next: Query;
  readonly text: string;
}

async function listPage({ port }: TestGateway, query: Query): Promise<Page> {
  const { body, status } = await ask(port, `/data?${formatQuery(query)}`);
  const text = body.toString();
  expect(status, text).toBe(200);
  const isEncoded = query['encoding-type'] === 'url';
  const read = (found: string) => (isEncoded ? decodeURIComponent(unescapeXml(found)) : unescapeXml(found));
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => read(found!));
  const token = /<NextContinuationToken>(.*?)<\/NextContinuationToken>/s.exec(text)?.[1];
  const marker = /<NextMarker>(.*?)<\/NextMarker>/s.exec(text)?.[1];
  return {
    keys: all(/<Key>(.*?)<\/Key>/gs),
    folders: all(/<CommonPrefixes><Prefix>(.*?)<\/Prefix>/gs),
    isTruncated: text.includes('<IsTruncated>true</IsTruncated>'),
    next: {
      ...(token !== undefined && { 'continuation-token': unescapeXml(token) }),
      ...(marker !== undefined && { marker: read(marker) }),
    },
    text,
  };
}

const formatQuery = (query: Query) =>
  Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&');

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
const unescapeXml = (text: string) =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) => (code ? String.fromCharCode(code) : NAMED[name]!));

/** All pages, each of another gateway than the one before. */
async function listAll(gateways: readonly TestGateway[], query: Query) {
  const keys: string[] = [];
  const folders: string[] = [];
  let next: Query = {};
  for (let turn = 0; ; turn += 1) {
    const page = await listPage(gateways[turn % gateways.length]!, { ...query, ...next });
    expect(page.keys.length + page.folders.length).toBeLessThanOrEqual(Number(query['max-keys'] ?? 1_000));
    keys.push(...page.keys);
    folders.push(...page.folders);
    expect(page.isTruncated).toBe(Object.keys(page.next).length > 0);
    if (!page.isTruncated) return { keys, folders };
    next = page.next;
  }
}

/** Ends the keys of links in the model. */
const LINK = '\0';

/** What S3 would list of these keys. */
function modelOf(keys: readonly string[], refs: readonly string[], query: Query) {
  const { delimiter, marker, prefix = '', 'start-after': startAfter = marker ?? '' } = query;
  const found = { keys: [] as string[], folders: new Set<string>() };
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter ? key.indexOf('/', prefix.length) : -1;
    const folder = key.slice(0, end + 1);
    // A version is a folder: whether a key of it comes after `startAfter` is not looked up for that.
    const isRefs = end >= 0 && refs.some((ref) => `${ref}/`.startsWith(folder));
    const isPast = comparePaths(key, startAfter) > 0 || (isRefs && startAfter.startsWith(folder));
    if (!isPast) continue;
    if (end < 0 && !key.endsWith(LINK)) found.keys.push(key);
    // A folder of nothing but links is an empty folder.
    if (end >= 0) found.folders.add(folder);
  }
  return { keys: found.keys.sort(comparePaths), folders: [...found.folders].sort(comparePaths) };
}

const part = fc.constantFrom('a', 'b', 'a.b', 'é', '\u{1f600}', '<&"\'>', '\u0001', '\n', ' +%', '￮');
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const REFS = {
  'heads/main': 'main',
  'tags/v1': 'v1',
  'heads/feature/x': 'feature/x',
  'tags/feature/y/z': 'feature/y/z',
  'tags/hides': 'hides',
} as const;
const entryOf = fc.oneof(
  { weight: 6, arbitrary: path.map((name): Entry => emptyFile(name)) },
  { weight: 1, arbitrary: path.map((name): Entry => ({ kind: 'link', path: `${name}!`, target: 'a' })) },
  { weight: 1, arbitrary: path.map((name): Entry => ({ kind: 'folder', path: `${name}?/` })) },
);
const version = fc.array(entryOf, { minLength: 1, maxLength: 15 }).map(byPath);

describe('a listing', () => {
  it('is that of a store with the same keys, in both versions of the call, page by page', async () => {
    const place = fc.oneof(
      fc.constantFrom('', 'm', 'main', 'feature', 'feature/', 'feature/y', 'none/'),
      fc
        .tuple(
          fc.constantFrom('main', 'v1', 'feature/x', 'feature/y/z', 'HASH'),
          fc.oneof(path, fc.constant('')),
        )
        .map((parts) => parts.join('/')),
    );
    const query = fc.record(
      {
        'max-keys': fc.integer({ min: 1, max: 5 }).map(String),
        prefix: place,
        delimiter: fc.constant('/'),
        after: place.filter((text) => !text.endsWith('/')),
        'encoding-type': fc.constant('url'),
        'list-type': fc.constant('2'),
      },
      { requiredKeys: ['max-keys'] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(version, { minLength: 5, maxLength: 5 }),
        fc.array(query, { minLength: 1, maxLength: 8 }),
        async (versions, queries) => {
          const store = createMemoryStore();
          const keysOf = (ref: string, entries: readonly Entry[]) =>
            entries.map(({ kind, path: name }) => `${ref}/${name}${kind === 'link' ? LINK : ''}`);
          const keys: string[] = [];
          for (const [at, [name, ref]] of Object.entries(REFS).entries()) {
            const entries = [emptyFile('always'), ...versions[at]!];
            await setRef(store, name, await writeCommit(store, byPath(entries)));
            keys.push(...keysOf(ref, byPath(entries)));
          }
          await setRef(store, 'heads/hides/this', await writeCommit(store, [emptyFile('hidden')]));
          const hash = await writeCommit(store, versions[0]!);
          const gateways = [await open(store), await open(store)];
          for (const { after, ...asked } of queries) {
            const named: Query = JSON.parse(JSON.stringify(asked).replace('HASH', hash));
            const start = after?.replace('HASH', hash);
            const isV2 = 'list-type' in named;
            const request = {
              ...named,
              ...(start !== undefined && { [isV2 ? 'start-after' : 'marker']: start }),
            };
            const seen = named.prefix?.startsWith(`${hash}/`) ? keysOf(hash, versions[0]!) : keys;
            expect(await listAll(gateways, request), JSON.stringify(request)).toEqual(
              modelOf(seen, Object.values(REFS), request),
            );
          }
          await end();
        },
      ),
      { numRuns: 60, seed: 24 },
    );
  });

  it('has at most 1,000 keys on a page, and none if none is asked for', async () => {
    const store = createMemoryStore();
    await setRef(store, 'heads/main', await writeCommit(store, countedEntries(1_500)));
    const gateway = await open(store);
    for (const query of [{ 'list-type': '2' }, { 'list-type': '2', 'max-keys': '5000' }, {}]) {
      const page = await listPage(gateway, { prefix: 'main/', ...query });
      expect(page.keys).toHaveLength(1_000);
      expect(page.isTruncated).toBe(true);
      expect(page.text).toContain('<MaxKeys>1000</MaxKeys>');
    }
    const none = await listPage(gateway, { prefix: 'main/', 'max-keys': '0' });
    expect(none).toMatchObject({ keys: [], isTruncated: false });
    expect(none.text).toContain('<MaxKeys>0</MaxKeys>');
    expect((await listAll([gateway], { 'list-type': '2' })).keys).toHaveLength(1_500);
  });

  it('goes on in the commit in which it began, also when the branch moves or is gone', async () => {
    const store = createMemoryStore();
    const names = (letter: string) => Array.from({ length: 9 }, (_, at) => `${letter}${at}`);
    await setRef(store, 'heads/main', await writeCommit(store, names('a').map(emptyFile)));
    const expected = names('a').map((name) => `main/${name}`);
    for (const prefix of ['main/', '']) {
      const query = { 'list-type': '2', 'max-keys': '4', prefix };
      const first = await listPage(await open(store), query);
      await setRef(store, 'heads/main', await writeCommit(store, names('b').map(emptyFile)));
      const after = await open(store);
      const second = await listPage(after, { ...query, ...first.next });
      const third = await listPage(after, { ...query, ...second.next });
      expect([...first.keys, ...second.keys, ...third.keys]).toEqual(expected);
      expect(third.isTruncated).toBe(false);
      await setRef(store, 'heads/main', await writeCommit(store, names('a').map(emptyFile)));
      if (prefix === '') continue;
      const token = (await listPage(after, query)).next;
      await store.delete([refKey('heads/main')], {});
      expect((await listPage(await open(store), { ...query, ...token })).keys).toEqual(expected.slice(4, 8));
      await setRef(store, 'heads/main', await writeCommit(store, names('a').map(emptyFile)));
    }
  });

  it('follows a branch within a second', async () => {
    const store = createMemoryStore();
    const clock = createStillClock();
    await setRef(store, 'heads/main', await writeCommit(store, [emptyFile('old')]));
    const gateway = await open(store, clock);
    const keys = async () => (await listPage(gateway, { prefix: 'main/' })).keys;
    const get = async (key: string) => (await ask(gateway.port, `/data/main/${key}`)).status;
    expect([await keys(), await get('old'), await get('new')]).toEqual([['main/old'], 200, 404]);
    await setRef(store, 'heads/main', await writeCommit(store, [emptyFile('new')]));
    await setRef(store, 'tags/made/since', await writeCommit(store, [emptyFile('new')]));
    clock.moveOn(1_000);
    expect([await keys(), await get('old'), await get('new')]).toEqual([['main/new'], 404, 200]);
    expect((await listPage(gateway, { delimiter: '/' })).folders).toEqual(['made/', 'main/']);
  });

  it('looks a branch in use up again while requests go on', async () => {
    const inner = createMemoryStore();
    const clock = createStillClock();
    await setRef(inner, 'heads/main', await writeCommit(inner, [emptyFile('old')]));
    const key = refKey('heads/main');
    let lookUps = 0;
    let held: Promise<void> | undefined;
    const store: ObjectStore = {
      ...inner,
      async read(asked, options) {
        if (asked !== key) return inner.read(asked, options);
        lookUps += 1;
        await held;
        return inner.read(asked, options);
      },
    };
    const gateway = await open(store, clock);
    const get = async (name: string) => (await ask(gateway.port, `/data/main/${name}`)).status;
    for (const ms of [0, 100, 300]) {
      clock.moveOn(ms);
      expect(await get('old')).toBe(200);
    }
    expect(lookUps).toBe(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    await setRef(inner, 'heads/main', await writeCommit(inner, [emptyFile('new')]));
    clock.moveOn(100);
    // They are answered although the look-up has no answer.
    expect([await get('old'), await get('old')]).toEqual([200, 200]);
    expect(lookUps).toBe(2);
    resolve();
    await expect.poll(() => get('new')).toBe(200);
    expect(lookUps).toBe(2);
    // A look-up that fails is made again by a request, which waits for it.
    held = Promise.reject(new Error('cut'));
    held.catch(() => {});
    clock.moveOn(500);
    await get('new');
    held = undefined;
    await expect.poll(() => get('new')).toBe(200);
  });

  it('refuses parameters that it cannot read', async () => {
    const store = createMemoryStore();
    await setRef(store, 'heads/main', await writeCommit(store, [emptyFile('a')]));
    const gateway = await open(store);
    const token = (text: string) =>
      `list-type=2&prefix=main/&continuation-token=${Buffer.from(text).toString('base64url')}`;
    for (const [query, code] of [
      ['list-type=3', 'InvalidArgument'],
      ['max-keys=-1', 'InvalidArgument'],
      ['max-keys=x', 'InvalidArgument'],
      ['encoding-type=xml', 'InvalidArgument'],
      ['delimiter=b', 'NotImplemented'],
      ['list-type=2&continuation-token=nonsense', 'InvalidArgument'],
      [token('[]'), 'InvalidArgument'],
      [token('["main/a",1,2]'), 'InvalidArgument'],
      [token('["main/a","main","../../dray.json"]'), 'InvalidArgument'],
      [token(`["main/a","main","${'0'.repeat(64)}"]`), 'NoSuchKey'],
      ['prefix=%ff', 'InvalidURI'],
      ['uploads', 'NotImplemented'],
      ['versions', 'NotImplemented'],
    ])
      expect([query, (await ask(gateway.port, `/data?${query}`)).code]).toEqual([query, code]);
    expect((await ask(gateway.port, '/other?list-type=2')).code).toBe('NoSuchBucket');
    expect(gateway.failures).toEqual([]);
  });
});
