/** A commit that any live ref has may get another name, although its keys were candidates once. */
import { expect, it } from 'vitest';
import type { CommitHash } from '../../model/entry.ts';
import { checkWhole } from '../../repository/collection/check-whole.ts';
import { createCollectionView } from '../../repository/collection/collection-view.ts';
import { readCommit } from '../../repository/commit.ts';
import { readRef, removeRef } from '../../repository/refs.ts';
import {
  createTestRepository,
  KILLED,
  onEachRequest,
  type TestRepository,
} from './collected-repository.fixture.ts';

/** A push that ends while a round is marked makes `heads/other` need candidates, which are rescued. */
async function createRescued(): Promise<{
  readonly repository: TestRepository;
  readonly commits: readonly CommitHash[];
}> {
  const repository = await createTestRepository();
  await repository.push('main', { a: 'kept' });
  const commits = [
    await repository.push('other', { b: 'one', c: 'one', d: 'one' }),
    await repository.push('other', { b: 'two', c: 'one', d: 'one' }),
  ];
  const bytes = (await repository.store.read('refs/heads/other', { maxBytes: 1_000 }))!.bytes;
  await removeRef(repository.store, (await readRef(repository.store, 'heads/other'))!);
  const { store } = onEachRequest(repository.store, (_number, _request, call) => {
    if (call.startsWith('put refs/')) throw KILLED;
  });
  await expect(repository.collect({}, store)).rejects.toThrow('killed');
  await repository.store.put('refs/heads/other', bytes);
  await repository.collect();
  expect(await repository.missing()).toEqual([]);
  return { repository, commits };
}

async function check({ store }: TestRepository, hash: CommitHash): Promise<void> {
  const view = createCollectionView(store);
  const commit = await readCommit(store, hash);
  await checkWhole(store, { commit, hash }, { branch: 'heads/main', view });
}

it('a commit that another branch names, or leads to, may get a name', async () => {
  const { commits, repository } = await createRescued();
  for (const commit of commits) await check(repository, commit);
});

it('a commit that no ref leads to any more may not, nor a forgotten one', async () => {
  const { commits, repository } = await createRescued();
  await repository.forget(commits[0]!);
  await check(repository, commits[1]!);
  await expect(check(repository, commits[0]!)).rejects.toMatchObject({ data: { reason: 'collected' } });
  await removeRef(repository.store, (await readRef(repository.store, 'heads/other'))!);
  await expect(check(repository, commits[1]!)).rejects.toMatchObject({ data: { reason: 'collected' } });
});

it('a ref that cannot be read keeps nobody from naming what another one has', async () => {
  const { commits, repository } = await createRescued();
  await repository.store.put('refs/tags/broken', Buffer.from('no JSON'));
  await check(repository, commits[1]!);
});
