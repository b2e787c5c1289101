import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { CommitHash } from '../../model/entry.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { hashOfText } from '../entries.fixture.ts';
import { COLLECTION_KEY, objectKey } from '../keys.ts';
import { listAnyRefs, listRefs, readAnyRef, readRef, removeRef, writeAnyRef } from '../refs.ts';
import { avoidValueOf, encodeAvoidList } from './avoid-list.ts';
import { type CollectionState, readCollectionState, writeCollectionState } from './collection-state.ts';
import { createCollectionView, newObject } from './collection-view.ts';
import { publish } from './publish.ts';
import { writeList } from './stored-list.ts';

const REPOSITORY = '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77';
const NAME = 'heads/main';
const [first, second] = ['first', 'second'].map((text) => hashOfText(text) as CommitHash) as [
  CommitHash,
  CommitHash,
];
const condemned = hashOfText('condemned') as never;

/** Begins a round in which one object is a candidate, and fences the refs. */
async function beginRound(store: ObjectStore, round: number): Promise<void> {
  const list = await writeList(
    store,
    encodeAvoidList({ round, run: crypto.randomUUID() }, Float64Array.of(avoidValueOf(objectKey(condemned)))),
  );
  const state: CollectionState = {
    repository: REPOSITORY,
    round,
    run: crypto.randomUUID(),
    phase: 'marked',
    started: '2026-01-31T12:00:00.000Z',
    grace: 0,
    forgotten: 0,
    candidates: [],
    rescued: [],
    avoid: [list],
    removed: { objects: 0, bytes: 0 },
  };
  const before = await readCollectionState(store);
  expect((await writeCollectionState(store, state, before))?.state.run).toBe(state.run);
  for (const { etag, name, ...ref } of await listAnyRefs(store, 'heads'))
    await writeAnyRef(store, name, { ...ref, epoch: round }, { etag });
}

async function publishTo(
  store: ObjectStore,
  prepare: (view: ReturnType<typeof createCollectionView>) => Promise<CommitHash>,
) {
  const view = createCollectionView(store);
  const tip = await readRef(store, NAME);
  const published = await publish({
    store,
    name: NAME,
    repository: REPOSITORY,
    tip,
    view,
    clock: { ...systemClock, sleep: async () => {} },
    prepare: () => prepare(view),
  });
  return { published, view };
}

describe('a new ref', () => {
  it('is pending until the collection was read again, and no reader sees it before', async () => {
    const inner = createMemoryStore();
    const writes: string[] = [];
    const store: ObjectStore = {
      ...inner,
      put: async (key, bytes, options) => {
        writes.push(JSON.parse(Buffer.from(bytes).toString()).state ?? 'live');
        expect(await readRef(inner, NAME)).toBeUndefined();
        return inner.put(key, bytes, options);
      },
    };
    await publishTo(store, async () => first);
    expect(writes).toEqual(['pending', 'live']);
    expect(await readRef(inner, NAME)).toMatchObject({ commit: first, epoch: 0, collects: true });
  });

  it('is prepared again when a round began after it was written as pending', async () => {
    const inner = createMemoryStore();
    let rounds = 0;
    const store: ObjectStore = {
      ...inner,
      put: async (key, bytes, options) => {
        const outcome = await inner.put(key, bytes, options);
        if (rounds === 0 && key.startsWith('refs/')) {
          rounds += 1;
          await beginRound(inner, 1);
        }
        return outcome;
      },
    };
    const prepared: number[] = [];
    const { view } = await publishTo(store, async ({ round }) => {
      prepared.push(round);
      return round === 0 ? first : second;
    });
    expect(prepared).toEqual([0, 1]);
    expect(view.avoids(objectKey(condemned))).toBe(true);
    expect(newObject(view, condemned)).toEqual({ generation: 1 });
    expect(newObject(view, hashOfText('other') as never)).toEqual({});
    expect(await readRef(inner, NAME)).toMatchObject({ commit: second, epoch: 1 });
  });

  it('takes the place of one that was removed, and of one whose maker was killed', async () => {
    for (const state of ['removed', 'pending'] as const) {
      const store = createMemoryStore();
      const value = { commit: second, epoch: 0, repository: REPOSITORY, collects: true, state } as const;
      await writeAnyRef(store, NAME, value, { absent: true });
      expect(await listRefs(store, 'heads')).toEqual([]);
      await publishTo(store, async () => first);
      expect(await readRef(store, NAME)).toMatchObject({ commit: first });
    }
  });

  it('made by two at once has the commit of one of them, and the other meets it', async () => {
    const store = createMemoryStore();
    const one = publishTo(store, async () => first);
    const two = publish({
      store,
      name: NAME,
      repository: REPOSITORY,
      tip: undefined,
      view: createCollectionView(store),
      clock: { ...systemClock, sleep: async () => {} },
      prepare: async (tip) => tip?.commit ?? second,
    });
    const commits = [(await one).published.commit, (await two).commit];
    expect(commits).toContain((await readRef(store, NAME))?.commit);
  });
});

describe('a ref that exists', () => {
  it('is prepared again when a round has fenced it', async () => {
    const store = createMemoryStore();
    await publishTo(store, async () => first);
    const prepared: number[] = [];
    await publishTo(store, async ({ round }) => {
      prepared.push(round);
      if (round === 0) await beginRound(store, 1);
      return second;
    });
    expect(prepared).toEqual([0, 1]);
    expect(await readRef(store, NAME)).toMatchObject({ commit: second, epoch: 1 });
  });

  it('stays in the store as removed, and is nobody else’s by then', async () => {
    const store = createMemoryStore();
    await publishTo(store, async () => first);
    const seen = (await readRef(store, NAME))!;
    await removeRef(store, seen);
    expect(await readRef(store, NAME)).toBeUndefined();
    expect(await readAnyRef(store, NAME)).toMatchObject({ state: 'removed', commit: first });
    await expect(removeRef(store, seen)).resolves.toBeUndefined();
    await publishTo(store, async () => second);
    await expect(removeRef(store, seen)).rejects.toMatchObject({ code: 'conflict' });
    expect(await readRef(store, NAME)).toMatchObject({ commit: second });
  });

  it('moves as before in a repository that does not collect', async () => {
    const store = createMemoryStore();
    const clock = { ...systemClock, sleep: async () => {} };
    const options = { store, name: NAME, repository: REPOSITORY, view: undefined, clock };
    await publish({ ...options, tip: undefined, prepare: async () => first });
    const tip = await readRef(store, NAME);
    expect(tip?.collects).toBeUndefined();
    await publish({ ...options, tip, prepare: async () => second });
    expect(await readRef(store, NAME)).toMatchObject({ commit: second, epoch: 0 });
    await removeRef(store, (await readRef(store, NAME))!);
    expect(await readAnyRef(store, NAME)).toBeUndefined();
  });
});

it('makes no new ref while the state of a round is lost: its absence does not mean that there was none', async () => {
  const store = createMemoryStore();
  await publishTo(store, async () => first);
  await beginRound(store, 1);
  const { bytes } = (await store.read(COLLECTION_KEY, { maxBytes: 10_000 }))!;
  await store.delete([COLLECTION_KEY]);
  const make = (name: string) =>
    publish({
      store,
      name,
      repository: REPOSITORY,
      tip: undefined,
      view: createCollectionView(store),
      isChosen: true,
      clock: { ...systemClock, sleep: async () => {} },
      prepare: async () => second,
    });
  // The first leaves a pending ref, which must not hide the round from the second.
  for (const name of ['heads/a', 'tags/v1']) {
    await expect(make(name)).rejects.toMatchObject({ code: 'damaged', data: { key: COLLECTION_KEY } });
    expect(await readRef(store, name)).toBeUndefined();
  }
  await store.put(COLLECTION_KEY, bytes);
  await make('tags/v1');
  expect(await readRef(store, 'tags/v1')).toMatchObject({ commit: second, epoch: 1 });
});
