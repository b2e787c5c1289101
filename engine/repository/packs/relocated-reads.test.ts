import { zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlobHash, PackHash } from '../../model/entry.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { hashOfText } from '../entries.fixture.ts';
import { packKey, relocationKey } from '../keys.ts';
import { PackBuilder } from './pack.ts';
import { withRelocations } from './relocated-reads.ts';
import { type Move, readRelocation, writeRelocation } from './relocation.ts';

interface StoredPack {
  readonly hash: PackHash;
  readonly bytes: Uint8Array;
  readonly blobs: readonly { readonly hash: BlobHash; readonly offset: number; readonly sizeBytes: number }[];
}

async function storePack(store: ObjectStore, texts: readonly string[]): Promise<StoredPack> {
  const builder = new PackBuilder();
  for (const text of texts) builder.add(hashOfText(text) as BlobHash, Buffer.from(text));
  const built = builder.finish();
  await store.put(packKey(built.hash), built.bytes);
  return { ...built, bytes: new Uint8Array(built.bytes) };
}

/** Writes those of the pack's blobs anew that `isKept` says, and removes the pack. */
async function movePack(
  store: ObjectStore,
  pack: StoredPack,
  isKept: (index: number) => boolean,
): Promise<StoredPack> {
  const textOf = ({ offset, sizeBytes }: StoredPack['blobs'][0]) =>
    Buffer.from(pack.bytes.subarray(offset, offset + sizeBytes)).toString();
  const kept = pack.blobs.filter((_, index) => isKept(index));
  const target = await storePack(store, [`before those of ${pack.hash}`, ...kept.map(textOf)]);
  const moves: Move[] = kept.map(({ offset, sizeBytes }, index) => ({
    offset,
    sizeBytes,
    pack: target.hash,
    to: target.blobs[index + 1]!.offset,
  }));
  await writeRelocation(store, { pack: pack.hash, sizeBytes: pack.bytes.length, moves });
  await store.delete([packKey(pack.hash)]);
  return target;
}

const TEXTS = ['one', 'and two', 'three of them', 'a fourth', 'five'];

describe('a pack that a collection has written anew', () => {
  it('reads as before where blobs were kept, and as zeros elsewhere, also after it moved twice', async () => {
    const range = fc.tuple(fc.nat(40), fc.nat(40)).filter(([start, end]) => start < end);
    const kept = fc.array(fc.boolean(), { minLength: TEXTS.length, maxLength: TEXTS.length });
    await fc.assert(
      fc.asyncProperty(range, kept, fc.boolean(), async ([start, end], keeps, isTwice) => {
        fc.pre(keeps.includes(true));
        const store = createMemoryStore();
        const pack = await storePack(store, TEXTS);
        const target = await movePack(store, pack, (index) => keeps[index]!);
        if (isTwice) await movePack(store, target, () => true);
        const expected = pack.bytes.slice();
        expected.fill(0, pack.blobs.at(-1)!.offset + pack.blobs.at(-1)!.sizeBytes);
        for (const [index, { offset, sizeBytes }] of pack.blobs.entries())
          if (!keeps[index]) expected.fill(0, offset, offset + sizeBytes);
        const into = new Uint8Array(64).fill(7);
        const read = await withRelocations(store).read(packKey(pack.hash), {
          range: { start, end },
          maxBytes: 64,
          into,
        });
        expect(read!.bytes).toEqual(expected.subarray(start, end));
      }),
      { numRuns: 200 },
    );
  });

  it('costs a request for the record, and then one for each range', async () => {
    const store = createMemoryStore();
    const pack = await storePack(store, TEXTS);
    await movePack(store, pack, () => true);
    const keys: string[] = [];
    const counted = {
      ...store,
      read: (...[key, options]: Parameters<ObjectStore['read']>) => {
        keys.push(key.split('/')[0]!);
        return store.read(key, options);
      },
    };
    const relocated = withRelocations(counted);
    const range = { start: 0, end: 10 };
    for (let at = 0; at < 3; at += 1) await relocated.read(packKey(pack.hash), { range, maxBytes: 10 });
    expect(keys).toEqual(['packs', 'relocations', 'packs', 'packs', 'packs']);
    expect(await relocated.read('dray.json', { maxBytes: 10 })).toBeUndefined();
    expect(keys).toHaveLength(6);
  });

  it('is missing when a new pack is, or when there is no record', async () => {
    const store = createMemoryStore();
    const pack = await storePack(store, TEXTS);
    const target = await movePack(store, pack, () => true);
    await store.delete([packKey(target.hash)]);
    expect(await withRelocations(store).read(packKey(pack.hash), { maxBytes: 1_000 })).toBeUndefined();
    await store.delete([relocationKey(pack.hash)]);
    expect(await withRelocations(store).read(packKey(pack.hash), { maxBytes: 1_000 })).toBeUndefined();
  });

  it('is damaged when its relocations lead in a circle', async () => {
    const store = createMemoryStore();
    const pack = await storePack(store, TEXTS);
    const { offset, sizeBytes } = pack.blobs[1]!;
    const moves = [{ offset, sizeBytes, pack: pack.hash, to: offset }];
    await writeRelocation(store, { pack: pack.hash, sizeBytes: pack.bytes.length, moves });
    const relocated = withRelocations(store);
    const range = { start: offset, end: offset + sizeBytes };
    expect((await relocated.read(packKey(pack.hash), { range, maxBytes: 10 }))!.bytes).toHaveLength(
      sizeBytes,
    );
    await store.delete([packKey(pack.hash)]);
    const read = relocated.read(packKey(pack.hash), { range, maxBytes: 10 });
    await expect(read).rejects.toMatchObject({ code: 'damaged' });
  });

  it.each<[string, string]>([
    ['overlap', '[0,3,0,0],[2,3,0,5]'],
    ['descend', '[5,3,0,0],[0,3,0,5]'],
    ['name no pack', '[0,3,1,0]'],
    ['lie outside of the pack', '[998,3,0,0]'],
    ['are empty', '[0,0,0,0]'],
  ])('is damaged with moves that %s', async (_, moves) => {
    const store = createMemoryStore();
    const hash = hashOfText('pack') as string as PackHash;
    const text = `{"format":1,"pack":"${hash}","size":1000,"packs":["${hash}"],"moves":[${moves}]}`;
    await store.put(relocationKey(hash), zstdCompressSync(Buffer.from(text)));
    const key = relocationKey(hash);
    await expect(readRelocation(store, hash)).rejects.toMatchObject({ code: 'damaged', data: { key } });
  });
});
