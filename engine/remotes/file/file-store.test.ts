import { fork } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { comparePaths } from '../../model/entry.ts';
import { FILE_STORE } from '../contract/abilities.fixture.ts';
import { describeObjectStoreContract } from '../contract/suite.fixture.ts';
import { createMemoryStore } from '../memory/memory-store.fixture.ts';
import type { ListRequest, ObjectStore } from '../object-store.ts';
import { openFileStore } from './file-store.ts';

/** How often one key is written, one write after the other. */
const WRITES = runBudget({ short: 100, long: 300 });
const bytes = (text: string) => new TextEncoder().encode(text);

async function openInNewFolder(hardLinks: boolean) {
  const root = await mkdtemp(join(tmpdir(), 'dray-file-store-'));
  const store = await openFileStore({ root, hardLinks });
  return {
    store,
    root,
    close: async () => {
      await store.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

describeObjectStoreContract('The file store', () => openInNewFolder(true), FILE_STORE);
describeObjectStoreContract('The file store without hard links', () => openInNewFolder(false), FILE_STORE);

describe('The file store', () => {
  const opened: { close(): Promise<void> }[] = [];
  async function open(hardLinks = true) {
    const each = await openInNewFolder(hardLinks);
    opened.push(each);
    return each;
  }
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });

  it('keeps objects as plain files that other tools read and write', async () => {
    const { store, root } = await open();
    await store.put('a/b.txt', bytes('ours'));
    expect(await readFile(join(root, 'a/b.txt'), 'utf8')).toBe('ours');
    await writeFile(join(root, 'a/c.txt'), 'theirs');
    expect(await store.head('a/c.txt')).toMatchObject({ sizeBytes: 6 });
    await store.delete(['a/b.txt', 'a/c.txt']);
    await store.close();
    expect(await readdir(root)).toEqual([]);
  });

  it('reports a missing folder, at the start and later, and never creates it by itself', async () => {
    const { store, root } = await open();
    await rename(root, `${root}-away`);
    const calls = [
      () => openFileStore({ root }),
      () => store.head('a'),
      () => store.get('a'),
      () => store.put('a', bytes('x')),
      () => store.list({ prefix: '' }),
      () => store.delete(['a']),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'bucketMissing' });
    const made = await openFileStore({ root, create: true });
    expect((await made.list({ prefix: '' })).objects).toEqual([]);
    await rm(`${root}-away`, { recursive: true });
  });

  it('refuses a file in place of its folder', async () => {
    const { root } = await open();
    await writeFile(join(root, 'file'), '');
    await expect(openFileStore({ root: join(root, 'file') })).rejects.toMatchObject({ code: 'usage' });
  });

  it('refuses keys that would leave the folder or enter its own', async () => {
    const { store, root } = await open();
    for (const key of ['../x', 'a/../../x', '/x', 'a//b', './a', 'a/', '.dray-tmp/x', '.DRAY-TMP/x']) {
      await expect(store.put(key, bytes('x'))).rejects.toMatchObject({ code: 'unsafePath' });
      await expect(store.get(key)).rejects.toMatchObject({ code: 'unsafePath' });
    }
    for (const prefix of ['../', '/', 'a/../', '.dray-tmp/', '.dray-tmp/writes/']) {
      expect((await store.list({ prefix })).objects).toEqual([]);
    }
    expect((await readdir(root)).filter((name) => name !== '.dray-tmp')).toEqual([]);
  });

  it('reports a file where a folder is needed, and a folder where a file is needed', async () => {
    const { store } = await open();
    await store.put('a', bytes('x'));
    await store.put('b/c', bytes('x'));
    for (const key of ['a/b', 'b']) {
      for (const condition of [undefined, { absent: true } as const]) {
        const put = store.put(key, bytes('y'), condition ? { condition } : {});
        await expect(put).rejects.toMatchObject({ code: 'unsafePath' });
      }
    }
    expect(await store.head('a/b')).toBeUndefined();
    expect(await store.head('b')).toBeUndefined();
    expect(await store.get('b')).toBeUndefined();
  });

  it('ignores symbolic links, and lists nothing through them', async () => {
    const { store, root } = await open();
    await writeFile(join(root, 'real'), 'x');
    await symlink('real', join(root, 'link'));
    await symlink('/etc', join(root, 'etc'));
    expect((await store.list({ prefix: '' })).objects.map((object) => object.key)).toEqual(['real']);
    expect((await store.list({ prefix: 'etc/' })).objects).toEqual([]);
    expect(await store.head('link')).toBeUndefined();
    expect(await store.get('link')).toBeUndefined();
  });

  it('leaves no folder of its own behind once it is closed', async () => {
    const { store, root } = await open();
    const { etag } = (await store.put('a', bytes('1'))) as { etag: string };
    await store.put('a', bytes('2'), { condition: { etag } });
    await store.multipart!.abort({ key: 'b', uploadId: await store.multipart!.create('b') });
    await store.close();
    expect(await readdir(root)).toEqual(['a']);
    await store.put('b', bytes('still usable'));
    await store.close();
    expect(await readdir(root)).toEqual(['a', 'b']);
  });

  it('keeps an upload over a restart, and drops one that was abandoned long ago', async () => {
    const { store, root } = await open();
    const upload = { key: 'big', uploadId: await store.multipart!.create('big') };
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    const part = await store.multipart!.uploadPart(upload, 1, bytes('abc'), { checksum: { sha256 } });
    await store.close();
    const forgotten = join(root, '.dray-tmp/writes/forgotten');
    await mkdir(join(root, '.dray-tmp/writes'), { recursive: true });
    await writeFile(forgotten, 'x');
    await utimes(forgotten, 1, 1);
    const again = await openFileStore({ root });
    expect(await again.multipart!.listParts(upload)).toEqual([part]);
    expect(part.sha256).toBe(Buffer.from(sha256, 'hex').toString('base64'));
    expect(await again.multipart!.complete(upload, [part])).toMatchObject({ written: true });
    await again.close();
    expect(await readdir(root)).toEqual(['big']);
  });

  it('does not use the old checksum of a part that was sent again without one', async () => {
    const { store } = await open();
    const upload = { key: 'big', uploadId: await store.multipart!.create('big') };
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    await store.multipart!.uploadPart(upload, 1, bytes('abc'), { checksum: { sha256 } });
    const second = await store.multipart!.uploadPart(upload, 1, bytes('xyz'));
    expect(await store.multipart!.listParts(upload)).toEqual([second]);
    expect(second.sha256).toBeUndefined();
  });

  it('gives every write an etag of its own, however fast they follow each other', async () => {
    for (const hardLinks of [true, false]) {
      const { store } = await open(hardLinks);
      const etags = new Set<string>();
      for (let write = 0; write < WRITES; write += 1) {
        const outcome = await store.put('a', bytes(`${write % 2}`));
        if (outcome.written) etags.add(outcome.etag);
      }
      expect(etags.size).toBe(WRITES);
    }
  });

  it('fails a body that ends early with unreachable, so that it is read again', async () => {
    const { store, root } = await open();
    await store.put('a', new Uint8Array(3 * 1024 * 1024));
    const read = await store.get('a');
    await truncate(join(root, 'a'), 1024 * 1024 + 5);
    const drain = async () => {
      for await (const _ of read!.body);
    };
    await expect(drain()).rejects.toMatchObject({ code: 'unreachable', retry: 'retry' });
  });

  it('writes and removes neighbours concurrently, while folders come and go', async () => {
    const { store, root } = await open();
    await Promise.all(
      Array.from({ length: 40 }, async (_, worker) => {
        for (let round = 0; round < 10; round += 1) {
          const key = `deep/er/${worker % 4}/${worker}`;
          expect(await store.put(key, bytes(key))).toMatchObject({ written: true });
          expect(await store.head(key)).toMatchObject({ key });
          await store.delete([key]);
        }
      }),
    );
    await store.close();
    expect(await readdir(root)).toEqual([]);
  });

  it('reports that access was denied', async () => {
    const { store, root } = await open();
    await store.put('closed/a', bytes('x'));
    await chmod(join(root, 'closed'), 0o500);
    try {
      // The superuser may write everywhere, so nothing can be denied.
      const outcome = await store.put('closed/b', bytes('y')).catch((error) => error);
      expect(outcome).toMatchObject(process.getuid?.() === 0 ? { written: true } : { code: 'accessDenied' });
    } finally {
      await chmod(join(root, 'closed'), 0o700);
    }
  });
});

describe('Listings of the file store', () => {
  const names = fc.constantFrom('a', 'b', 'a b', 'a-b', 'a.txt', 'a0', 'B', '\u00e9', '\uff5e', '\u{1F600}');
  const keys = fc.array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  /** A folder cannot have the name of a file, so a key below another one gives way. */
  const trees = fc
    .uniqueArray(keys, { maxLength: 25 })
    .map((all) => all.filter((key) => !all.some((other) => other.startsWith(`${key}/`))));
  const starts = fc.oneof(
    keys,
    keys.map((key) => `${key}/`),
    fc.constantFrom('', 'a/b/c/d/e', '\u{10FFFF}', 'a\0'),
  );
  const requests = fc.record(
    {
      prefix: fc.oneof(
        fc.constant(''),
        keys,
        keys.map((key) => `${key}/`),
        fc.constantFrom('..', '../', 'x'),
      ),
      startAfter: starts,
      delimiter: fc.constant('/' as const),
      limit: fc.integer({ min: 1, max: 5 }),
    },
    { requiredKeys: ['prefix'] },
  );

  async function allPages(store: ObjectStore, request: ListRequest) {
    const pages: unknown[] = [];
    for (let next: ListRequest | undefined = request; next; ) {
      const page = await store.list(next);
      pages.push([page.objects.map((object) => object.key), page.folders]);
      const { startAfter: _, ...rest } = request;
      next = page.continuation === undefined ? undefined : { ...rest, continuation: page.continuation };
    }
    return pages;
  }

  it('give the same pages as a sorted list of keys in memory, for any tree and request', async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.array(requests, { minLength: 1, maxLength: 8 }), async (tree, asked) => {
        const memory = createMemoryStore();
        const { store, root, close } = await openInNewFolder(true);
        try {
          await mkdir(join(root, 'an/empty/folder'), { recursive: true });
          for (const each of [memory, store]) await Promise.all(tree.map((key) => each.put(key, bytes(key))));
          for (const request of asked) {
            expect(await allPages(store, request)).toEqual(await allPages(memory, request));
          }
        } finally {
          await close();
        }
      }),
      { numRuns: runBudget({ short: 15, long: 60 }) },
    );
  });

  it('see files that were written into a large folder between two pages', async () => {
    const { store, root, close } = await openInNewFolder(true);
    try {
      await mkdir(join(root, 'large'));
      const present = Array.from({ length: 1500 }, (_, index) => `large/${String(index).padStart(5, '0')}`);
      await Promise.all(present.map((key) => writeFile(join(root, key), 'x')));
      // Old enough for its names to be kept from page to page.
      await utimes(join(root, 'large'), 1_000_000, 1_000_000);
      const first = await store.list({ prefix: 'large/', limit: 10 });
      const second = await store.list({ prefix: 'large/', limit: 10, continuation: first.continuation! });
      expect(second.objects.map((object) => object.key)).toEqual(present.slice(10, 20));
      await store.put('large/00020a', bytes('new'));
      const third = await store.list({ prefix: 'large/', limit: 3, continuation: second.continuation! });
      expect(third.objects.map((object) => object.key)).toEqual(
        [...present.slice(20, 22), 'large/00020a'].sort(comparePaths),
      );
    } finally {
      await close();
    }
  });
});

describe('Conditions among processes', () => {
  const WRITERS = 4;
  const INCREMENTS = runBudget({ short: 12, long: 40 });

  /** Each process adds to one counter only by compare-and-swap, so the sum shows whether a write was lost. */
  async function countTogether(hardLinks: boolean): Promise<string> {
    const { store, root, close } = await openInNewFolder(hardLinks);
    try {
      const program = fileURLToPath(new URL('./counting-writer.fixture.ts', import.meta.url));
      const codes = Array.from({ length: WRITERS }, () => {
        const child = fork(program, [root, String(INCREMENTS), String(hardLinks)], { execArgv: [] });
        return new Promise((resolve) => child.once('exit', resolve));
      });
      expect(await Promise.all(codes)).toEqual(codes.map(() => 0));
      return new TextDecoder().decode((await store.read('counter', { maxBytes: 100 }))!.bytes);
    } finally {
      await close();
    }
  }

  it('lose no write, with hard links and without', async () => {
    expect(await countTogether(true)).toBe(String(WRITERS * INCREMENTS));
    expect(await countTogether(false)).toBe(String(WRITERS * INCREMENTS));
  });
});
