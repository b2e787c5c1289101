/** Packs that are written anew, and what kills, pushes and other collections in between could do to them. */
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { BlobHash, BlobLocation, FileEntry } from '../../model/entry.ts';
import type { ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { damaged } from '../../repository/document.ts';
import { hashOfText } from '../../repository/entries.fixture.ts';
import { RELOCATIONS_PREFIX } from '../../repository/keys.ts';
import { SALT_BYTES } from '../../repository/packs/pack.ts';
import { ROW_BYTES } from '../../repository/packs/pack-format.ts';
import { writeRelocation } from '../../repository/packs/relocation.ts';
import { readRef, removeRef } from '../../repository/refs.ts';
import {
  createTestRepository,
  entriesOf,
  expectKilled,
  type Files,
  KILLED,
  onEachRequest,
  sweepRequests,
  type TestRepository,
} from './collected-repository.fixture.ts';

/** `npm test` takes every third request. */
const STRIDE = runBudget({ short: 3, long: 1 });

/** Larger than their rows in the index of a pack. */
const textOf = (name: string) => `${name} ${hashOfText(name).repeat(3)}`;
const packed = (...names: readonly string[]): Files =>
  Object.fromEntries(names.map((name) => [`packed/${name}`, textOf(name)]));

const ALL = packed('1', '2', '3', '4', '5');

interface Sparse {
  readonly repository: TestRepository;
  /** The entries of the commit that was forgotten. */
  readonly first: readonly FileEntry[];
  readonly pack: string;
}

/** A pack of five blobs of which the branch needs one. */
async function createSparse(): Promise<Sparse> {
  const repository = await createTestRepository();
  const first = await repository.push('main', ALL);
  const entries = await entriesOf(repository.store, first);
  await repository.push('main', packed('1'));
  await repository.forget(first);
  const [pack, ...others] = await repository.keys('packs/');
  expect(others).toEqual([]);
  return { repository, first: entries, pack: pack! };
}

/** Two collections: something may keep the first from the pack. */
async function expectMoved({ pack, repository }: Sparse): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    await repository.collect();
    expect(await repository.unreadable()).toEqual([]);
  }
  expect(await repository.missing()).toEqual([]);
  expect(await repository.keys('packs/')).not.toContain(pack);
}

it('a pack of one byte and a salt is not written anew', async () => {
  const repository = await createTestRepository();
  await repository.push('main', { a: 'kept' });
  await repository.push('gone', { 'packed/b': 'b' });
  await removeRef(repository.store, (await readRef(repository.store, 'heads/gone'))!);
  await repository.collect();
  await repository.push('main', { a: 'kept', 'packed/b': 'b' });
  expect(await repository.keys('packs/')).toHaveLength(1);
  expect((await repository.collect()).repacked.packs).toBe(0);
});

it('a pack whose relocation names it itself stays, whoever wrote that', async () => {
  const repository = await createTestRepository();
  const first = await repository.push('main', ALL);
  const entries = await entriesOf(repository.store, first);
  const location = entries[0]!.location as Extract<BlobLocation, { in: 'pack' }>;
  const { offset, pack } = location;
  const moves = [{ offset, sizeBytes: entries[0]!.sizeBytes, pack, to: offset }];
  await writeRelocation(repository.store, { pack, sizeBytes: 10_000, moves });
  // Of the commit that is kept, nothing but that blob lies in the pack.
  await repository.push('main', packed('1'));
  await repository.forget(first);
  for (let round = 0; round < 2; round += 1) await repository.collect();
  expect(await repository.unreadable()).toEqual([]);
});

it('packs of which more than half is needed are written anew, the emptiest first, until little is unused', async () => {
  const repository = await createTestRepository();
  const large = (name: string): Files => ({ [`packed/${name}`]: textOf(name).repeat(40) });
  for (const [branch, unneeded] of Object.entries({ a: 1, b: 2, c: 3 })) {
    const names = Array.from({ length: 8 }, (_, at) => `${branch}${at}`);
    const files = names.map(large);
    const first = await repository.push(branch, Object.assign({}, ...files) as Files);
    await repository.push(branch, Object.assign({}, ...files.slice(unneeded)) as Files);
    await repository.forget(first);
  }
  // Of 24 blobs 18 are needed. Once two packs are written anew, one blob is unused: more than 5 % of 18.
  expect((await repository.collect({ dryRun: true })).repacked.packs).toBe(3);
  // And not more of 20.
  await repository.push('d', large('d'));
  await repository.push('e', large('e'));
  const { repacked } = await repository.collect();
  expect(repacked.packs).toBe(2);
  expect(await repository.unreadable()).toEqual([]);
  expect(await repository.garbage()).toEqual([]);
  expect(await repository.collect()).toMatchObject({ removed: { objects: 0 }, repacked: { packs: 0 } });
});

describe('a pack of which less than half is needed', () => {
  it('is written anew and removed; its blobs stay readable', async () => {
    const sparse = await createSparse();
    const { pack, repository } = sparse;
    expect((await repository.collect({ dryRun: true })).repacked.packs).toBe(1);
    const bytes = async () => {
      const infos = (await repository.keys('packs/')).map((key) => repository.store.head(key));
      return (await Promise.all(infos)).reduce((sum, info) => sum + info!.sizeBytes, 0);
    };
    const before = await bytes();
    const { removed, repacked } = await repository.collect();
    expect(repacked.packs).toBe(1);
    expect(repacked.bytes).toBeGreaterThan(500);
    // What it frees is counted as if the new pack had needed a salt.
    expect(before - (await bytes()) - repacked.bytes).toBe(SALT_BYTES + ROW_BYTES);
    // The pack, and the segments of the forgotten commit.
    expect(removed.objects).toBe(4);
    expect(await repository.keys('packs/')).toHaveLength(1);
    expect(await repository.keys('relocations/')).toEqual([pack.replace('packs', 'relocations')]);
    expect(await repository.collect()).toMatchObject({ removed: { objects: 0 }, repacked: { packs: 0 } });
    await expectMoved(sparse);
    expect(await repository.garbage()).toEqual([]);
  });

  it('goes with its relocation when nothing needs it any more', async () => {
    const sparse = await createSparse();
    const { repository } = sparse;
    await expectMoved(sparse);
    expect(await repository.keys('relocations/')).toHaveLength(1);
    const { commit } = (await readRef(repository.store, 'heads/main'))!;
    await repository.push('main', packed('other'));
    await repository.forget(commit);
    await repository.collect();
    expect(await repository.keys('relocations/')).toEqual([]);
    expect(await repository.keys('packs/')).toHaveLength(1);
    expect(await repository.garbage()).toEqual([]);
  });

  it('may move again, and each entry still finds its blob', async () => {
    const repository = await createTestRepository();
    let files = packed(...Array.from({ length: 24 }, (_, at) => `${at}`));
    const commits = [await repository.push('main', files)];
    for (const left of [9, 3, 1]) {
      files = Object.fromEntries(Object.entries(files).slice(0, left));
      commits.push(await repository.push('main', files));
      await repository.forget(commits.at(-2)!);
      await repository.collect();
      await repository.collect();
      expect(await repository.unreadable()).toEqual([]);
      expect(await repository.keys('packs/')).toHaveLength(1);
    }
    expect(await repository.keys('relocations/')).toHaveLength(3);
    expect(await repository.garbage()).toEqual([]);
  });

  it('shares a new pack with others, up to the size of a pack, and never one blob twice', async () => {
    const repository = await createTestRepository();
    for (const branch of ['a', 'b', 'c']) {
      // Each branch has packed one of the same content.
      const first = await repository.push(branch, { ...ALL, [`packed/${branch}`]: textOf(branch) });
      await repository.push(branch, { ...packed('1'), [`packed/${branch}`]: textOf(branch) });
      await repository.forget(first);
    }
    expect((await repository.collect({ packTarget: 1_000_000 })).repacked.packs).toBe(3);
    await repository.collect();
    expect(await repository.unreadable()).toEqual([]);
    expect(await repository.keys('packs/')).toHaveLength(3);
    expect(await repository.garbage()).toEqual([]);
  });

  it('stays when an entry names a part of a blob, as other programs may write it', async () => {
    const repository = await createTestRepository();
    const first = await repository.push('main', ALL);
    const whole = (await entriesOf(repository.store, first)).at(-1)!;
    const place = whole.location as Extract<BlobLocation, { in: 'pack' }>;
    const text = textOf('5').slice(1);
    const part: FileEntry = {
      ...whole,
      path: 'packed/part',
      blob: hashOfText(text) as BlobHash,
      sizeBytes: text.length,
      location: { ...place, offset: place.offset + 1 },
    };
    const files = { ...packed('1'), 'packed/part': text };
    await repository.push('main', files, repository.store, { known: [part] });
    await repository.forget(first);
    for (let round = 0; round < 2; round += 1) await repository.collect();
    expect(await repository.unreadable()).toEqual([]);
  });

  it('is written under another name if a damaged object has the name of the new pack', async () => {
    const sparse = await createSparse();
    const { store } = sparse.repository;
    const refused = new Set<RemoteKey>();
    const refusing: ObjectStore = {
      ...store,
      head: async (key, options) => {
        if (!key.startsWith('packs/') || refused.size > 0) return store.head(key, options);
        refused.add(key);
        throw damaged(key, 'it is not authentic');
      },
    };
    expect((await sparse.repository.collect({}, refusing)).repacked.packs).toBe(1);
    const [taken] = refused;
    expect(await sparse.repository.keys('packs/')).not.toContain(taken);
    await expectMoved(sparse);
  });

  it('stays when it is damaged, young, or at least half needed', async () => {
    const { pack, repository } = await createSparse();
    expect((await repository.collect({ graceSeconds: 3_600 })).repacked.packs).toBe(0);
    const read = await repository.store.read(pack, { maxBytes: 10_000 });
    await repository.store.put(pack, Buffer.from(read!.bytes).fill(1, 0, 1));
    expect((await repository.collect()).repacked.packs).toBe(0);
    // So says the store of an encrypted repository.
    const { store } = repository;
    const refusing: ObjectStore = {
      ...store,
      read: (key, options) =>
        key === pack ? Promise.reject(damaged(key, 'it is not authentic')) : store.read(key, options),
    };
    await repository.push('main', packed('1', 'other'));
    expect((await repository.collect({}, refusing)).repacked.packs).toBe(0);
    expect(await repository.keys('packs/')).toContain(pack);
    const other = await createTestRepository();
    const first = await other.push('main', ALL);
    await other.push('main', packed('1', '2', '3'));
    await other.forget(first);
    expect((await other.collect()).repacked.packs).toBe(0);
  });
});

async function collectTwice(repository: TestRepository, store = repository.store): Promise<void> {
  await repository.collect({}, store);
  await repository.collect({}, store);
}

describe('what is needed of a pack that moves', () => {
  it.each(['never', 'answerLost', 'late'])(
    'survives a kill at any request (the last request: %s)',
    async (ending) => {
      await sweepRequests({ least: 3, stride: STRIDE }, async (last) => {
        const sparse = await createSparse();
        const { repository } = sparse;
        const late: (() => Promise<unknown>)[] = [];
        const killed = onEachRequest(repository.store, async (number, request) => {
          if (number < last) return;
          if (number === last && ending === 'answerLost') await request();
          if (number === last && ending === 'late') late.push(request);
          throw KILLED;
        });
        await expectKilled(collectTwice(repository, killed.store), {
          isKilled: () => killed.count() >= last,
        });
        expect(await repository.unreadable()).toEqual([]);
        await repository.collect();
        for (const request of late) await request();
        expect(await repository.unreadable()).toEqual([]);
        await collectTwice(repository);
        expect(await repository.unreadable()).toEqual([]);
        if (ending !== 'late') await expectMoved(sparse);
        return killed;
      });
    },
  );

  it.each(['main', 'other'])(
    'survives a push to %s that uses its other blobs again, at any request',
    async (branch) => {
      await sweepRequests({ least: 3, stride: STRIDE }, async (at) => {
        const { first, repository } = await createSparse();
        const pushing = onEachRequest(repository.store, async (number) => {
          if (number !== at) return;
          await repository.push(branch, packed('1', '2', '3'), repository.store, { known: first });
        });
        await collectTwice(repository, pushing.store);
        expect(await repository.unreadable()).toEqual([]);
        await collectTwice(repository);
        expect(await repository.unreadable()).toEqual([]);
        expect(await repository.missing()).toEqual([]);
        return pushing;
      });
    },
  );

  it('survives such a push around two collections', async () => {
    const files = packed('1', '2', '3');
    await sweepRequests({ least: 5 }, async (at) => {
      const { first, repository } = await createSparse();
      const collecting = onEachRequest(repository.store, async (number) => {
        if (number === at) await collectTwice(repository);
      });
      await repository.push('main', files, collecting.store, { known: first });
      expect(await repository.unreadable()).toEqual([]);
      await collectTwice(repository);
      expect(await repository.unreadable()).toEqual([]);
      return collecting;
    });
  });

  it.each([1, 2])('survives %i other collections between any two requests of one', async (others) => {
    await sweepRequests({ least: 3, stride: STRIDE }, async (at) => {
      const { repository } = await createSparse();
      const collecting = onEachRequest(repository.store, async (number) => {
        if (number !== at) return;
        for (let other = 0; other < others; other += 1) await repository.collect();
      });
      await collectTwice(repository, collecting.store);
      expect(await repository.unreadable()).toEqual([]);
      await collectTwice(repository);
      expect(await repository.unreadable()).toEqual([]);
      expect(await repository.missing()).toEqual([]);
      return collecting;
    });
  });

  it('survives another collection between any two requests, killed once its relocation is written', async () => {
    await sweepRequests({ least: 20 }, async (at) => {
      const { repository } = await createSparse();
      const killed = onEachRequest(repository.store, async (_, request, call) => {
        if (!call.startsWith('put relocations/')) return;
        await request();
        throw KILLED;
      });
      const collecting = onEachRequest(repository.store, async (number) => {
        if (number === at) await repository.collect({}, killed.store).catch(() => {});
      });
      await collectTwice(repository, collecting.store);
      expect(await repository.unreadable()).toEqual([]);
      await collectTwice(repository);
      expect(await repository.unreadable()).toEqual([]);
      return collecting;
    });
  });

  it('survives a collection that removes the new pack before its relocation is written', async () => {
    const { pack, repository } = await createSparse();
    const { store } = repository;
    // This one cannot write the pack anew.
    const other: ObjectStore = {
      ...store,
      read: (key, options) => (key === pack ? Promise.resolve(undefined) : store.read(key, options)),
    };
    let condemned: string | undefined;
    const overtaken = onEachRequest(store, async (_, __, call) => {
      if (!call.startsWith('put relocations/')) return;
      condemned = (await repository.keys('packs/')).find((key) => key !== pack)!;
      const read = await store.read(condemned, { maxBytes: 10_000 });
      await repository.collect({}, other);
      expect(await repository.keys('packs/')).toEqual([pack]);
      // A repetition of the request that stored it arrives late.
      await store.put(condemned, read!.bytes);
    });
    await repository.collect({}, overtaken.store);
    expect(await repository.keys('relocations/')).toHaveLength(1);
    await collectTwice(repository);
    // So does one of the requests that removed it.
    await store.delete([condemned!]);
    expect(await repository.unreadable()).toEqual([]);
    await collectTwice(repository);
    expect(await repository.unreadable()).toEqual([]);
  });

  it('survives a late removal of a relocation that another collector writes again', async () => {
    const { pack, repository } = await createSparse();
    const { store } = repository;
    const killedAfter = (prefix: string) =>
      onEachRequest(store, async (_, request, call) => {
        if (!call.startsWith(`put ${prefix}`)) return;
        await request();
        throw KILLED;
      }).store;
    // This one cannot write the pack anew.
    const other: ObjectStore = {
      ...store,
      read: (key, options) => (key === pack ? Promise.resolve(undefined) : store.read(key, options)),
    };
    // From now on each new pack has a name of its own: that of the content was a candidate.
    await expect(repository.collect({}, killedAfter('packs/'))).rejects.toBe(KILLED);
    await repository.collect({}, other);
    let lists = 0;
    const late: RemoteKey[] = [];
    /** Lists a relocation that was not there when it read them all, and removes it. */
    const removing: ObjectStore = {
      ...other,
      list: async (request, options) => {
        if (request.prefix === RELOCATIONS_PREFIX && ++lists === 2)
          await expect(repository.collect({}, killedAfter(RELOCATIONS_PREFIX))).rejects.toBe(KILLED);
        const page = await store.list(request, options);
        // The store's clock is late, so nothing is too young.
        return { ...page, objects: page.objects.map((object) => ({ ...object, modifiedMs: 0 })) };
      },
      delete: async (keys, options) => {
        late.push(...keys);
        await store.delete(keys, options);
      },
    };
    let isOvertaken = false;
    const overtaken = onEachRequest(store, async (_, __, call) => {
      if (isOvertaken || !call.startsWith('head packs/')) return;
      isOvertaken = true;
      await repository.collect({}, removing);
      expect(await repository.keys(RELOCATIONS_PREFIX)).toEqual([]);
    });
    await repository.collect({}, overtaken.store);
    await collectTwice(repository);
    // It was sent twice, and the second time is now.
    expect(late).toContain(pack.replace('packs/', RELOCATIONS_PREFIX));
    await store.delete(late);
    expect(await repository.unreadable()).toEqual([]);
    await collectTwice(repository);
    expect(await repository.unreadable()).toEqual([]);
  });
});
