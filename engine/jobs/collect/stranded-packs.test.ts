/**
 * A collection replaced a pack and was killed, and its last DELETE happens much later. Meanwhile the
 * relocation is lost. Once it is put back, everything is whole, whatever other collections did in between.
 */
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { hashFromPackKey, relocationKey } from '../../repository/keys.ts';
import {
  createTestRepository,
  type Files,
  KILLED,
  onEachRequest,
  packedFiles,
  sweepRequests,
  type TestRepository,
} from './collected-repository.fixture.ts';

/** `npm test` takes every eighth request. */
const STRIDE = runBudget({ short: 8, long: 1 });
/** Packs that are replaced at once become one pack. */
const packTarget = 1_000_000;

function large(branch: string, count: number): Files {
  return packedFiles(Array.from({ length: count }, (_, at) => `${branch}${at}`));
}

/** @returns The pack, of which the branch needs all blobs but one. */
async function pushUnused(repository: TestRepository, branch: string, count: number): Promise<RemoteKey> {
  const before = await repository.keys('packs/');
  const first = await repository.push(branch, large(branch, count));
  await repository.push(branch, large(branch, count - 1));
  await repository.forget(first);
  return (await repository.keys('packs/')).find((key) => !before.includes(key))!;
}

interface Stranded {
  readonly repository: TestRepository;
  readonly old: RemoteKey;
  /** The DELETE of the old packs, which was sent before the relocation was lost. */
  readonly late: () => Promise<unknown>;
  readonly putBack: () => Promise<unknown>;
}

/** @param others Branches whose packs are replaced together with the first one. */
async function createStranded(others: Readonly<Record<string, number>> = {}): Promise<Stranded> {
  const repository = await createTestRepository();
  const { store } = repository;
  const old = await pushUnused(repository, 'main', 7);
  for (const [branch, count] of Object.entries(others)) await pushUnused(repository, branch, count);
  let late: (() => Promise<unknown>) | undefined;
  const killed = onEachRequest(store, (_number, request, call) => {
    if (!call.startsWith('delete ')) return;
    late ??= request;
    throw KILLED;
  });
  await expect(repository.collect({ packTarget }, killed.store)).rejects.toBe(KILLED);
  const relocation = relocationKey(hashFromPackKey(old)!);
  const bytes = Uint8Array.from((await store.read(relocation, { maxBytes: 2 ** 20 }))!.bytes);
  await store.delete([relocation]);
  // So much is kept now that a pack is not worth replacing for one unused blob.
  await repository.push('ballast', { ballast: 'kept '.repeat(120_000) });
  const putBack = () => store.put(relocation, bytes, { condition: { absent: true } });
  return { repository, old, late: late!, putBack };
}

async function expectWhole({ repository, putBack }: Stranded): Promise<void> {
  await putBack();
  expect(await repository.unreadable()).toEqual([]);
  for (let round = 0; round < 2; round += 1) await repository.collect({ packTarget });
  expect(await repository.unreadable()).toEqual([]);
  expect(await repository.garbage()).toEqual([]);
}

describe('while the DELETE of a pack is under way whose relocation is lost', () => {
  it('a collection replaces the pack again and removes its first replacement', async () => {
    const stranded = await createStranded();
    const { late, old, repository } = stranded;
    const [replacement] = (await repository.keys('packs/')).filter((key) => key !== old);
    expect(replacement).toBeDefined();
    await repository.collect({ packTarget });
    expect(await repository.keys('packs/')).not.toContain(old);
    expect(await repository.garbage()).toEqual([]);
    await late();
    expect(await repository.unreadable()).toEqual([]);
    await expectWhole(stranded);
  });

  it.each([
    ['its replacement, which looks like garbage, is kept', {}],
    ['its replacement, which looks like a pack of unused blobs, is kept', { other: 5 }],
  ])('%s, whenever the DELETE happens', async (_what, others) => {
    await sweepRequests({ least: 3, stride: STRIDE }, async (at) => {
      const stranded = await createStranded(others);
      const { late, repository } = stranded;
      const collecting = onEachRequest(repository.store, async (number) => {
        if (number === at) await late();
      });
      for (let round = 0; round < 2; round += 1)
        await repository.collect({ packTarget }, collecting.store).catch((error: { code?: string }) => {
          expect(error.code).toBe('damaged');
        });
      await late();
      await expectWhole(stranded);
      return collecting;
    });
  });

  it('a collection that is killed before it replaced the pack again has given up nothing', async () => {
    const stranded = await createStranded();
    const { late, repository } = stranded;
    const collecting = onEachRequest(repository.store, (_number, _request, call) => {
      if (call.startsWith('put relocations/')) throw KILLED;
    });
    await expect(repository.collect({ packTarget }, collecting.store)).rejects.toBe(KILLED);
    await late();
    await expect(repository.collect({ packTarget })).rejects.toMatchObject({ code: 'damaged' });
    await expectWhole(stranded);
  });
});
