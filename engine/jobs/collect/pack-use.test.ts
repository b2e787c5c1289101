import { expect, it } from 'vitest';
import type { PackHash } from '../../model/entry.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import { hashOfText } from '../../repository/entries.fixture.ts';
import { readRelocation, writeRelocation } from '../../repository/packs/relocation.ts';
import { BLOBS_MAX, PackUse } from './pack-use.ts';

const hashOf = (name: string) => hashOfText(name) as PackHash;
const BLOB_BYTES = 1;
const PACK_BYTES = 100_000_000;

it('a pack stays if its relocation would not fit into a document', async () => {
  const packs = new PackUse();
  for (let blob = 0; blob < BLOBS_MAX; blob += 1) packs.note(hashOf('fits'), BLOB_BYTES);
  for (let blob = 0; blob <= BLOBS_MAX; blob += 1) packs.note(hashOf('too many'), BLOB_BYTES);
  for (const pack of [hashOf('fits'), hashOf('too many')])
    packs.noteSize(pack, PACK_BYTES, (sizeBytes) => sizeBytes);
  expect(packs.sparse(PACK_BYTES).map(({ pack }) => pack)).toEqual([hashOf('fits')]);

  const moves = Array.from({ length: BLOBS_MAX }, (_, blob) => ({
    offset: blob * 500,
    sizeBytes: BLOB_BYTES,
    pack: hashOf('new'),
    to: blob * BLOB_BYTES,
  }));
  const store = createMemoryStore();
  await writeRelocation(store, { pack: hashOf('fits'), sizeBytes: PACK_BYTES, moves });
  expect((await readRelocation(store, hashOf('fits')))!.moves).toHaveLength(BLOBS_MAX);
});
