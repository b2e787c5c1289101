/**
 * A collection that replaces packs is killed at each of its requests. Then one pack or relocation is lost or
 * altered, others collect, and what the killed one had sent happens late. Beside the damage, others lose
 * nothing that can be read. Once it is put back, everything is whole.
 */
import { expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import {
  createTestRepository,
  expectKilled,
  KILLED,
  onEachRequest,
  packedFiles,
  sweepRequests,
  type TestRepository,
} from './collected-repository.fixture.ts';

/** `npm test` takes every fifth request. */
const STRIDE = runBudget({ short: 5, long: 1 });

/** A pack with one unused blob, and one of which a blob is needed. */
async function createRepository(): Promise<TestRepository> {
  const repository = await createTestRepository();
  const first = await repository.push('main', packedFiles(['1', '2', '3', '4']));
  await repository.push('main', packedFiles(['1', '2', '3']));
  const other = await repository.push('other', packedFiles(['5', '6', '7']));
  await repository.push('other', packedFiles(['5']));
  await repository.forget(first, other);
  return repository;
}

type Way = 'lost' | 'altered';

/** @returns Puts back what nobody has changed since. */
async function damage({ store }: TestRepository, key: RemoteKey, way: Way): Promise<() => Promise<void>> {
  const readNow = async () => {
    const read = await store.read(key, { maxBytes: 2 ** 20 });
    return read && Buffer.from(read.bytes);
  };
  const bytes = (await readNow())!;
  const altered = Buffer.from(bytes.with(5, bytes[5]! ^ 1));
  await (way === 'lost' ? store.delete([key]) : store.put(key, altered));
  return async () => {
    const now = await readNow();
    const isUnchanged = way === 'lost' ? !now : now?.equals(altered);
    if (isUnchanged) await store.put(key, bytes);
  };
}

async function collectBesideDamage(repository: TestRepository): Promise<void> {
  await repository.collect({ packTarget: 1_000_000 }).catch((error: { code?: string }) => {
    expect(error.code).toBe('damaged');
  });
}

const CASES = (['packs/', 'relocations/'] as const).flatMap((prefix) =>
  (['lost', 'altered'] as const).flatMap((way) => [0, 1, 2].map((index) => ({ prefix, way, index }))),
);

it.each(CASES)(
  'a collection beside number $index of $prefix, $way, loses nothing, whenever the one before was killed',
  async ({ index, prefix, way }) => {
    await sweepRequests({ least: 3, stride: STRIDE }, async (last) => {
      const repository = await createRepository();
      const late: (() => Promise<unknown>)[] = [];
      const killed = onEachRequest(repository.store, (number, request, call) => {
        if (number < last) return;
        if (number === last && !/^(?:read|get|head|list) /.test(call)) late.push(request);
        throw KILLED;
      });
      const run = repository.collect({ packTarget: 1_000_000 }, killed.store);
      await expectKilled(run, { isKilled: () => killed.count() >= last });
      const key = (await repository.keys(prefix))[index];
      if (key === undefined) return killed;
      const putBack = await damage(repository, key, way);
      const before = await repository.unreadable();
      // So much is kept now that a pack is not worth replacing for one unused blob.
      await repository.push('ballast', { ballast: 'kept '.repeat(120_000) });
      for (let round = 0; round < 2; round += 1) {
        await collectBesideDamage(repository);
        const lost = (await repository.unreadable()).filter((path) => !before.includes(path));
        expect(lost, `${last} ${key}`).toEqual([]);
      }
      // This may cost what an old pack alone still shows, until the damage is put back.
      for (const request of late) await request().catch(() => {});
      await collectBesideDamage(repository);
      await putBack();
      expect(await repository.unreadable(), `${last} ${key} put back`).toEqual([]);
      await repository.collect({ packTarget: 1_000_000 });
      expect(await repository.unreadable(), `${last} ${key} at the end`).toEqual([]);
      return killed;
    });
  },
);
