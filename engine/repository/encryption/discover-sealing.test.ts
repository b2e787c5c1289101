import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { CommitHash } from '../../model/entry.ts';
import { DEFAULT_LAYOUT } from '../../model/layout.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { encodeCommit, readCommit, storeCommit } from '../commit.ts';
import { createDescriptor } from '../descriptor.ts';
import { commitKey, DESCRIPTOR_KEY } from '../keys.ts';
import { resolveRef } from '../resolve-ref.ts';
import { discoverSealing } from './discover-sealing.ts';
import { deriveSealKeys } from './seal-keys.ts';
import { withSealing } from './with-sealing.ts';

const MASTER = randomBytes(32);

/** A repository with one commit, whose store counts the reads of the descriptor. */
async function createRepository(isEncrypted: boolean) {
  const inside = createMemoryStore();
  const { descriptor } = await createDescriptor(inside, {
    layout: DEFAULT_LAYOUT,
    clock: systemClock,
    ...(isEncrypted && {
      encrypted: { id: randomUUID(), encryption: { check: '0'.repeat(64) } },
    }),
  });
  const keys = deriveSealKeys(MASTER, descriptor.id);
  const totals = { files: 0, links: 0, folders: 0, bytes: 0 };
  const manifest = { kind: 'segments', segments: [] } as const;
  const time = '2026-01-31T12:00:00.000Z';
  const commit = { repository: descriptor.id, parents: [], author: '', message: '', time, totals, manifest };
  const encoded = encodeCommit(commit, undefined);
  await storeCommit(isEncrypted ? withSealing(inside, keys) : inside, encoded);
  let descriptorReads = 0;
  const counting: ObjectStore = {
    ...inside,
    read(key, call) {
      if (key === DESCRIPTOR_KEY) descriptorReads += 1;
      return inside.read(key, call);
    },
  };
  const open = () =>
    discoverSealing(
      counting,
      async () => keys,
      (store) => store,
    );
  return { open, hash: encoded.hash, descriptorReads: () => descriptorReads };
}

it('a commit of an encrypted repository is found by its hash, whatever is read first', async () => {
  const { hash, open } = await createRepository(true);
  expect(await readCommit(open(), hash)).toMatchObject({ parents: [] });
  expect(await open().head(commitKey(hash))).toBeDefined();
  expect(await open().get(commitKey(hash))).toBeDefined();
  expect((await open().list({ prefix: 'commits/' })).objects.map(({ key }) => key)).toEqual([
    commitKey(hash),
  ]);
});

it('a commit of an encrypted repository is found by the beginning of its hash', async () => {
  const { hash, open } = await createRepository(true);
  expect(await resolveRef(open(), hash.slice(0, 8))).toEqual({ commit: hash });
});

it('a repository that is not encrypted takes one request more for what it does not have, and once', async () => {
  const { descriptorReads, hash, open } = await createRepository(false);
  const store = open();
  await readCommit(store, hash);
  expect(descriptorReads()).toBe(0);
  const other = open();
  const none = '0'.repeat(64) as CommitHash;
  for (let asked = 0; asked < 2; asked += 1)
    await expect(readCommit(other, none)).rejects.toMatchObject({ code: 'notFound' });
  expect(descriptorReads()).toBe(1);
});

it('an error names the key on the store too', async () => {
  const { hash, open } = await createRepository(true);
  const store = open();
  await readCommit(store, hash);
  const none = '0'.repeat(64) as CommitHash;
  const stored = store.sealing!.storedKey(commitKey(none));
  await expect(readCommit(store, none)).rejects.toThrow(`(stored as ${stored})`);
});
