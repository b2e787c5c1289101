import { expect, it } from 'vitest';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import { hashOfText } from '../entries.fixture.ts';
import { COLLECTION_KEY } from '../keys.ts';
import { type CollectionState, readCollectionState, writeCollectionState } from './collection-state.ts';

const STATE: CollectionState = {
  repository: '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77',
  round: 1,
  run: 'e9a1f6c2-35bb-4b0e-8f54-0f9b8a7c6d5e',
  phase: 'done',
  started: '2026-01-31T12:00:00.000Z',
  grace: 0,
  forgotten: 0,
  candidates: [],
  rescued: [],
  avoid: [hashOfText('list')],
  removed: { objects: 1, bytes: 2 },
};

it('a state of which a list was altered is damaged, and an older one without a digest is read', async () => {
  const store = createMemoryStore();
  await writeCollectionState(store, STATE, undefined);
  expect((await readCollectionState(store))?.state).toEqual(STATE);
  const { bytes } = (await store.read(COLLECTION_KEY, { maxBytes: 10_000 }))!;
  const text = Buffer.from(bytes).toString('utf8');
  const put = (changed: string) => store.put(COLLECTION_KEY, Buffer.from(changed));
  const [list] = STATE.avoid;
  await put(text.replace(list!, `${list!.startsWith('0') ? '1' : '0'}${list!.slice(1)}`));
  await expect(readCollectionState(store)).rejects.toMatchObject({
    code: 'damaged',
    data: { key: COLLECTION_KEY },
  });
  const { sha256, ...older } = JSON.parse(text) as Record<string, unknown>;
  expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  await put(JSON.stringify(older));
  expect((await readCollectionState(store))?.state).toEqual(STATE);
});
