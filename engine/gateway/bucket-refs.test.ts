/** Unusual refs and keys: forgotten commits, refs that move or go, and names that look like others. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { branch } from '../jobs/history/refs.ts';
import { push } from '../jobs/push/push.ts';
import { initIn } from '../jobs/remotes/init.fixture.ts';
import { forget } from '../jobs/retention/forget.ts';
import { keysBelow, tipOf } from '../jobs/session/damage.fixture.ts';
import { createSandbox, testContext } from '../jobs/session/job.fixture.ts';
import { openRepositoryAt, parseGivenUrl } from '../jobs/session/opened-remote.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { byPath } from '../repository/entries.fixture.ts';
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

const { open } = gatewaysOfTests();
const commitOf = (store: ObjectStore, ...names: readonly string[]) =>
  writeCommit(store, byPath(names.map(emptyFile)));
const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/');

async function read({ port }: TestGateway, key: string): Promise<string | number> {
  const { code, status } = await ask(port, `/data/${encodePath(key)}`);
  return code ?? status;
}

async function list({ port }: TestGateway, query: string) {
  const { body, code, status } = await ask(port, `/data?${query}`);
  const text = body.toString();
  const [, token = ''] = /<NextContinuationToken>(.*?)</.exec(text) ?? [];
  const [, marker = ''] = /<NextMarker>(.*?)</.exec(text) ?? [];
  return {
    answer: code ?? status,
    keys: [...text.matchAll(/<Key>(.*?)</g)].map(([, key]) => key),
    token,
    marker,
  };
}

describe('a commit that was forgotten', () => {
  it('is not there for any call, also for the next page of a listing after a restart', async () => {
    using sandbox = createSandbox();
    const root = await initIn(sandbox);
    const commit = async (name: string) => {
      for (let at = 0; at < 4_000; at += 1) sandbox.write(`work/${at}`, `${name} ${at}`);
      await push(testContext(root), { message: name });
      return tipOf(sandbox.path('store'));
    };
    const first = await commit('one');
    const folders = ['packs', 'objects', 'manifests'];
    const content = folders.flatMap((folder) => keysBelow(sandbox.path('store'), folder));
    const second = await commit('two');
    const context = testContext(sandbox.folder);
    const url = parseGivenUrl(context, sandbox.path('store'), sandbox.folder);
    const { store } = await openRepositoryAt(context, url);
    const clock = createStillClock();
    const gateway = await open(store, clock);
    const page = `list-type=2&max-keys=5&prefix=${first}/`;
    const { answer, token } = await list(gateway, page);
    expect([answer, await read(gateway, `${first}/7`)]).toEqual([200, 200]);
    await forget(testContext(root), { policy: { keepLast: 1 } });
    clock.moveOn(1_000);
    expect(content.length).toBeGreaterThan(1);
    const restarted = await open(store);
    for (const each of [gateway, restarted]) {
      expect(await read(each, `${first}/7`)).toBe('NoSuchKey');
      expect(await read(each, `${first.slice(0, 12)}/7`)).toBe('NoSuchKey');
      expect((await list(each, page)).answer).toBe('NoSuchKey');
      expect([await read(each, `${second}/7`), await read(each, 'main/7')]).toEqual([200, 200]);
    }
    // As a collection does later.
    for (const key of content) rmSync(join(sandbox.path('store'), key));
    const later = await open(store);
    expect((await list(later, `${page}&continuation-token=${token}`)).answer).toBe('NoSuchKey');
    expect(await read(later, `${first}/7`)).toBe('NoSuchKey');
    await store.close();
  });
});

describe('REF~N', () => {
  it('is the N-th commit before a branch, also of one with a slash in its name', async () => {
    using sandbox = createSandbox();
    const root = await initIn(sandbox);
    for (const name of ['one', 'two']) {
      sandbox.write(`work/${name}`, name);
      await push(testContext(root), {});
    }
    await branch(testContext(root), { name: 'a/b' });
    await branch(testContext(root), { name: 'a/bc' });
    const context = testContext(sandbox.folder);
    const { store } = await openRepositoryAt(
      context,
      parseGivenUrl(context, sandbox.path('store'), sandbox.folder),
    );
    const gateway = await open(store);
    for (const ref of ['main', 'a/b', 'a/bc']) {
      expect([await read(gateway, `${ref}/two`), await read(gateway, `${ref}~/one`)]).toEqual([200, 200]);
      for (const key of [`${ref}~1/two`, `${ref}~2/one`, `${ref}~x/one`, `${ref}~99999/one`])
        expect(await read(gateway, key)).toBe('NoSuchKey');
    }
    expect(await list(gateway, 'list-type=2&prefix=main~1/')).toMatchObject({ keys: ['main~1/one'] });
    await store.close();
  });
});

describe('a ref', () => {
  it('that goes between two pages is listed to its end in the commit of the first page', async () => {
    const store = createMemoryStore();
    await setRef(store, 'heads/keeps', await commitOf(store, 'z'));
    for (const prefix of ['', 'goes/']) {
      await setRef(store, 'heads/goes', await commitOf(store, 'a', 'b', 'c'));
      const query = `list-type=2&max-keys=2&prefix=${prefix}`;
      const first = await list(await open(store), query);
      await store.delete([refKey('heads/goes')], {});
      const second = await list(await open(store), `${query}&continuation-token=${first.token}`);
      const rest = prefix === '' ? ['keeps/z'] : [];
      expect([...first.keys, ...second.keys]).toEqual(['goes/a', 'goes/b', 'goes/c', ...rest]);
      expect(second.token).toBe('');
    }
  });

  it('is followed by the pages of a listing in version 1, which have no token', async () => {
    const store = createMemoryStore();
    await setRef(store, 'heads/main', await commitOf(store, 'a', 'b', 'c'));
    const query = 'max-keys=1&prefix=main/';
    const { keys, marker } = await list(await open(store), query);
    await setRef(store, 'heads/main', await commitOf(store, 'a', 'c', 'd'));
    const next = await list(await open(store), `${query}&marker=${marker}`);
    expect([...keys, ...next.keys]).toEqual(['main/a', 'main/c']);
    await store.delete([refKey('heads/main')], {});
    const last = await list(await open(store), `${query}&marker=${next.marker}`);
    expect([last.answer, last.keys]).toEqual([200, []]);
  });

  it('with a slash in its name is the longest beginning of a key that is a ref', async () => {
    const store = createMemoryStore();
    await setRef(store, 'tags/release/1.0', await commitOf(store, 'inside'));
    await setRef(store, 'tags/release/1.0.1', await commitOf(store, 'other'));
    const gateway = await open(store);
    expect(await read(gateway, 'release/1.0/inside')).toBe(200);
    expect(await read(gateway, 'release/1.0.1/other')).toBe(200);
    for (const key of ['release/1.0/other', 'release/inside', 'release/1/inside', 'release/1.0'])
      expect(await read(gateway, key)).toBe('NoSuchKey');
  });

  it('named like the beginning of a commit is a branch, and the whole hash is the commit', async () => {
    const store = createMemoryStore();
    const commit = await commitOf(store, 'of-the-commit');
    await setRef(store, 'heads/main', commit);
    const digits = commit.slice(0, 12);
    const before = await open(store);
    expect(await read(before, `${digits}/of-the-commit`)).toBe(200);
    await setRef(store, `heads/${digits}`, await commitOf(store, 'of-the-branch'));
    const gateway = await open(store);
    expect(await read(gateway, `${digits}/of-the-branch`)).toBe(200);
    expect(await read(gateway, `${digits}/of-the-commit`)).toBe('NoSuchKey');
    expect(await read(gateway, `${commit}/of-the-commit`)).toBe(200);
    expect((await list(gateway, `prefix=${digits}/`)).keys).toEqual([`${digits}/of-the-branch`]);
  });
});

describe('a key', () => {
  it('is its bytes: nothing of it is decoded twice, joined or left out', async () => {
    const store = createMemoryStore();
    const long = Array.from({ length: 5 }, () => 'é'.repeat(120)).join('/');
    const names = [
      '50%',
      '%41',
      'a+b',
      'a b',
      '%2e%2e',
      'caf\u00e9',
      'cafe\u0301',
      '\u{1f600}',
      'x/y',
      `${long}`,
    ];
    await setRef(store, 'heads/main', await commitOf(store, ...names));
    const gateway = await open(store);
    for (const name of names) expect([name, await read(gateway, `main/${name}`)]).toEqual([name, 200]);
    expect(Buffer.byteLength(`main/${long}`)).toBeGreaterThan(1_024);
    for (const name of ['A', '50', 'a%2Bb', '..', 'x//y', '/x/y', 'x/./y', 'x/y/', 'x/../x/y', '.', ''])
      expect([name, await read(gateway, `main/${name}`)]).toEqual([name, 'NoSuchKey']);
    const raw = async (path: string) => (await ask(gateway.port, `/data/main/${path}`)).status;
    expect([await raw('a+b'), await raw('a%2bb'), await raw('a%2Bb'), await raw('a%252Bb')]).toEqual([
      200, 200, 200, 404,
    ]);
    expect([await raw('%2541'), await raw('%41'), await raw('x%2fy')]).toEqual([200, 404, 200]);
    expect(await read(gateway, `main/${'a'.repeat(1_400)}`)).toBe('KeyTooLongError');
  });
});
