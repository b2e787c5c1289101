import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { CommitHash } from '../../model/entry.ts';
import { checkWhole } from '../../repository/collection/check-whole.ts';
import { readCollectionState } from '../../repository/collection/collection-state.ts';
import { createCollectionView } from '../../repository/collection/collection-view.ts';
import { publish } from '../../repository/collection/publish.ts';
import { readCommit } from '../../repository/commit.ts';
import { collectionListKey } from '../../repository/keys.ts';
import { readAnyRef, readRef, removeRef } from '../../repository/refs.ts';
import {
  createTestRepository,
  expectKilled,
  type Files,
  KILLED,
  onEachRequest,
  sweepRequests,
  type TestRepository,
} from './collected-repository.fixture.ts';

const OLD: Files = { a: 'old a', b: 'old b', c: 'both', 'packed/1': 'old one', 'packed/2': 'old two' };
const NEW: Files = { a: 'new a', c: 'both', d: 'new d', 'packed/1': 'new one' };

/** A branch that is gone, and one that stays. */
async function createWithGarbage(): Promise<TestRepository> {
  const repository = await createTestRepository();
  await repository.push('main', NEW);
  await repository.push('gone', OLD);
  await removeRef(repository.store, (await readRef(repository.store, 'heads/gone'))!);
  return repository;
}

async function expectCollected(repository: TestRepository, { isSwept = false } = {}): Promise<void> {
  expect(await repository.missing()).toEqual([]);
  expect(await repository.garbage()).toEqual([]);
  const { state } = (await readCollectionState(repository.store)) ?? {};
  if (state) expect(state).toMatchObject({ phase: 'done', candidates: [], rescued: [] });
  // A list that a killed collector wrote for the next round stays until that is over.
  const lists = await repository.keys('collection/');
  for (const name of state?.avoid ?? []) expect(lists).toContain(collectionListKey(name));
  // The last one is the record of the refs.
  if (isSwept) expect(lists).toHaveLength(state!.avoid.length + 1);
}

describe('a collection', () => {
  it('removes what no ref needs, and nothing else', async () => {
    const repository = await createWithGarbage();
    const before = await repository.keys();
    const garbage = await repository.garbage();
    // Two objects, a pack, three segments, a commit: "both" is needed.
    expect(garbage).toHaveLength(7);
    const { removed, round, commits } = await repository.collect();
    expect([removed.objects, round, commits]).toEqual([7, 1, 1]);
    await expectCollected(repository, { isSwept: true });
    expect(before.filter((key) => !garbage.includes(key))).toEqual(
      (await repository.keys()).filter((key) => !key.startsWith('collection')),
    );
  });

  it('keeps all of the history', async () => {
    const repository = await createTestRepository();
    await repository.push('main', OLD);
    await repository.push('main', NEW);
    const keys = await repository.keys();
    expect(await repository.collect()).toMatchObject({ removed: { objects: 0 }, round: 0, commits: 2 });
    expect(await repository.keys()).toEqual(keys);
  });

  it('removes a pending ref whose maker was killed, and what only that needs', async () => {
    const repository = await createTestRepository();
    await repository.push('main', OLD);
    const stop = onEachRequest(repository.store, async (_, request) => {
      await request();
      if ((await readAnyRef(repository.store, 'heads/new'))?.state === 'pending') throw KILLED;
    });
    await expect(repository.push('new', { x: 'only pending' }, stop.store)).rejects.toBe(KILLED);
    expect(await repository.garbage()).toHaveLength(2);
    expect(await repository.collect({ dryRun: true })).toMatchObject({ removed: { objects: 2 } });
    expect(await repository.collect()).toMatchObject({ removed: { objects: 2 }, round: 1, commits: 1 });
    expect(await readAnyRef(repository.store, 'heads/new')).toMatchObject({ state: 'removed' });
    await expectCollected(repository, { isSwept: true });
    await repository.push('new', { x: 'only pending' });
    expect(await repository.missing()).toEqual([]);
  });

  it('between any two requests of a push that makes a branch leaves the branch whole', async () => {
    await sweepRequests({ least: 10 }, async (at) => {
      const repository = await createWithGarbage();
      const collecting = onEachRequest(repository.store, async (number) => {
        if (number === at) await repository.collect();
      });
      await repository.push('new', OLD, collecting.store);
      expect(await readRef(repository.store, 'heads/new')).toBeDefined();
      expect(await repository.missing()).toEqual([]);
      return collecting;
    });
  });

  it('leaves young garbage alone, and removes it when it is older', async () => {
    const repository = await createWithGarbage();
    expect(await repository.collect({ graceSeconds: 3_600 })).toMatchObject({
      removed: { objects: 0 },
      young: { objects: 7 },
      round: 0,
    });
    expect(await repository.garbage()).toHaveLength(7);
    await repository.collect();
    await expectCollected(repository);
  });

  it('only counts in a dry run', async () => {
    const repository = await createWithGarbage();
    const writes = onEachRequest(repository.store, () => {});
    const keys = await repository.keys();
    const outcome = await repository.collect({ dryRun: true }, writes.store);
    expect(outcome).toMatchObject({ removed: { objects: 7 }, round: 0, isContinued: false });
    expect(await repository.keys()).toEqual(keys);
  });

  it('refuses a repository without a branch or tag', async () => {
    const repository = await createTestRepository();
    await repository.push('main', NEW);
    await removeRef(repository.store, (await readRef(repository.store, 'heads/main'))!);
    const keys = await repository.keys();
    await expect(repository.collect()).rejects.toMatchObject({ code: 'notFound' });
    expect(await repository.keys()).toEqual(keys);
  });

  it.each(['commits/', 'manifests/', 'refs/heads/main'])(
    'removes nothing if something of %s cannot be read that a branch needs',
    async (prefix) => {
      const repository = await createWithGarbage();
      const needed = await repository.needed();
      const isNeeded = (key: string) => needed.has(key) || key.startsWith('refs/');
      const [key] = (await repository.keys(prefix)).filter(isNeeded);
      await repository.store.put(key!, Buffer.from('not what it was'));
      const keys = await repository.keys();
      await expect(repository.collect()).rejects.toMatchObject({ code: 'damaged', data: { key } });
      expect(await repository.keys()).toEqual(keys);
    },
  );

  it('refuses a state of another repository, whose candidates this one may need', async () => {
    const [repository, other] = [await createTestRepository(), await createWithGarbage()];
    await repository.push('main', OLD);
    const stop = onEachRequest(other.store, async () => {
      const { state } = (await readCollectionState(other.store)) ?? {};
      if (state?.phase === 'sealed') throw KILLED;
    });
    await expect(other.collect({}, stop.store)).rejects.toBe(KILLED);
    for (const key of await other.keys('collection')) {
      const { bytes } = (await other.store.read(key, { maxBytes: 1_000_000 }))!;
      await repository.store.put(key, bytes);
    }
    const keys = await repository.keys();
    const refusal = { code: 'damaged', data: { key: 'collection.json' } };
    await expect(repository.collect()).rejects.toMatchObject(refusal);
    await expect(repository.collect({ dryRun: true })).rejects.toMatchObject(refusal);
    expect(await repository.keys()).toEqual(keys);
    expect(await repository.missing()).toEqual([]);
  });

  it('refuses a list of forgotten commits of another repository', async () => {
    const [repository, other] = [await createWithGarbage(), await createTestRepository()];
    await other.forget(await other.push('main', NEW));
    const { bytes } = (await other.store.read('retention.json', { maxBytes: 1_000_000 }))!;
    await repository.store.put('retention.json', bytes);
    const keys = await repository.keys();
    const refusal = { code: 'damaged', data: { key: 'retention.json' } };
    await expect(repository.collect()).rejects.toMatchObject(refusal);
    expect(await repository.keys()).toEqual(keys);
  });

  it('refuses a state that is older than the refs', async () => {
    const repository = await createWithGarbage();
    await repository.collect();
    await repository.store.delete(['collection.json']);
    await repository.push('gone', OLD).catch(() => {});
    const keys = await repository.keys();
    await expect(repository.collect()).rejects.toMatchObject({
      code: 'damaged',
      data: { ref: 'heads/main' },
    });
    expect(await repository.keys()).toEqual(keys);
  });
});

describe('content that was condemned', () => {
  it('comes back under other keys, which a late DELETE does not hit', async () => {
    const repository = await createWithGarbage();
    const condemned = await repository.garbage();
    await repository.collect();
    await repository.push('again', OLD);
    await repository.store.delete(condemned);
    expect(await repository.missing()).toEqual([]);
    await repository.push('main', OLD);
    await repository.store.delete(condemned);
    expect(await repository.missing()).toEqual([]);
  });

  it('is removed again in later rounds, and their lists stay few', async () => {
    const repository = await createWithGarbage();
    const rounds = runBudget({ short: 6, long: 20 });
    for (let round = 1; round <= rounds; round += 1) {
      expect((await repository.collect()).round).toBe(round);
      await expectCollected(repository, { isSwept: true });
      await repository.push('gone', OLD);
      await removeRef(repository.store, (await readRef(repository.store, 'heads/gone'))!);
    }
    const { state } = (await readCollectionState(repository.store))!;
    expect(state.avoid.length).toBeLessThanOrEqual(Math.ceil(Math.log2(rounds)) + 1);
  });
});

describe('forgotten commits', () => {
  it('keep their record, and lose what only they had', async () => {
    const repository = await createTestRepository();
    const first = await repository.push('main', OLD);
    const second = await repository.push('main', NEW);
    expect(await repository.garbage()).toEqual([]);
    await repository.forget(first, second);
    // Two objects, a pack, three segments.
    expect(await repository.collect()).toMatchObject({
      removed: { objects: 6 },
      commits: 1,
      forgottenCommits: 1,
    });
    await expectCollected(repository, { isSwept: true });
    expect(await repository.keys('commits/')).toHaveLength(2);
  });

  it.each(['before', 'while'])('that get a tag %s the collection keep everything', async (when) => {
    const tagAt = async (at: number) => {
      const { first, repository } = await startForgotten();
      let isTagged = true;
      const tagging = onEachRequest(repository.store, async (number) => {
        if (number === at) isTagged = await tagCommit(repository, first);
      });
      await repository.collect({}, tagging.store);
      expect(await repository.missing()).toEqual([]);
      expect(isTagged || at > 10).toBe(true);
      return tagging;
    };
    if (when === 'before') await tagAt(1);
    else await sweepRequests({ least: 20 }, tagAt);
  });

  it('may be forgotten between any two requests of a collection', async () => {
    await sweepRequests({ least: 20 }, async (at) => {
      const repository = await createWithGarbage();
      const first = (await readRef(repository.store, 'heads/main'))!.commit;
      const forgetting = onEachRequest(repository.store, async (number) => {
        if (number !== at) return;
        await repository.push('main', { a: 'newest' });
        await repository.forget(first);
      });
      await repository.collect({}, forgetting.store);
      expect(await repository.missing()).toEqual([]);
      await repository.collect();
      await expectCollected(repository);
      return forgetting;
    });
  });
});

async function startForgotten() {
  const repository = await createTestRepository();
  const first = await repository.push('main', OLD);
  await repository.push('main', NEW);
  await repository.forget(first);
  return { first, repository };
}

/** @returns False if a collection may have removed something of the commit. */
async function tagCommit({ id, store }: TestRepository, hash: CommitHash): Promise<boolean> {
  const view = createCollectionView(store);
  const commit = await readCommit(store, hash);
  const prepare = async () => {
    await checkWhole(store, { commit, hash }, { branch: 'heads/main', view });
    return hash;
  };
  const clock = { ...systemClock, sleep: async () => {} };
  try {
    await publish({ store, name: 'tags/v1', repository: id, tip: undefined, view, clock, prepare });
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'conflict', data: { reason: 'collected' } });
    return false;
  }
}

/** How the last request of a killed process ends. */
const ENDINGS = ['never', 'answerLost', 'late'] as const;

describe('a collection that is killed at any request', () => {
  it.each(ENDINGS)('is ended by the next one (the last request: %s)', async (ending) => {
    await sweepRequests({ least: 20 }, async (last) => {
      const repository = await createWithGarbage();
      const late: (() => Promise<unknown>)[] = [];
      const killed = onEachRequest(repository.store, async (number, request) => {
        if (number < last) return;
        if (number === last && ending === 'answerLost') await request();
        if (number === last && ending === 'late') late.push(request);
        throw KILLED;
      });
      await expectKilled(repository.collect({}, killed.store), { isKilled: () => killed.count() >= last });
      expect(await repository.missing()).toEqual([]);
      await repository.collect();
      await expectCollected(repository, { isSwept: true });
      await repository.push('main', OLD);
      for (const request of late) await request();
      expect(await repository.missing()).toEqual([]);
      await repository.collect();
      await expectCollected(repository);
      return killed;
    });
  });
});

describe('a push between any two requests of a collection', () => {
  it.each<[string, string]>([
    ['to an existing branch', 'main'],
    ['to a new branch', 'other'],
    ['to a branch that was removed', 'gone'],
  ])('%s loses nothing', async (_, branch) => {
    await sweepRequests({ least: 20 }, async (at) => {
      const repository = await createWithGarbage();
      const pushing = onEachRequest(repository.store, async (number) => {
        if (number === at) await repository.push(branch, OLD);
      });
      await repository.collect({}, pushing.store);
      expect(await repository.missing()).toEqual([]);
      await repository.collect();
      await expectCollected(repository);
      return pushing;
    });
  });

  it('loses nothing if the push began before and ends after it', async () => {
    for (const branch of ['main', 'other'])
      await sweepRequests({ least: 10 }, async (at) => {
        const repository = await createWithGarbage();
        const collecting = onEachRequest(repository.store, async (number) => {
          if (number === at) await repository.collect();
        });
        await repository.push(branch, OLD, collecting.store);
        expect(await repository.missing()).toEqual([]);
        await repository.collect();
        await expectCollected(repository);
        return collecting;
      });
  });
});

describe('two collections at once', () => {
  it('do no harm, wherever the second runs between two requests of the first', async () => {
    await sweepRequests({ least: 20 }, async (at) => {
      const repository = await createWithGarbage();
      const pushing = onEachRequest(repository.store, async (number) => {
        if (number !== at) return;
        await repository.collect();
        await repository.push('other', OLD);
      });
      await repository.collect({}, pushing.store);
      expect(await repository.missing()).toEqual([]);
      await repository.collect();
      await expectCollected(repository);
      return pushing;
    });
  });
});
