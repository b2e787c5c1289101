/** A collection beside a relocation or a pack that is lost or damaged removes nothing that is needed. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { PackHash } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { hashOfText } from '../../repository/entries.fixture.ts';
import { hashFromPackKey, relocationKey } from '../../repository/keys.ts';
import { readRelocation } from '../../repository/packs/relocation.ts';
import { readRef, removeRef } from '../../repository/refs.ts';
import {
  createTestRepository,
  type Files,
  KILLED,
  onEachRequest,
  type TestRepository,
} from './collected-repository.fixture.ts';

/** All of one size, so that one can lie where another one should. */
const textOf = (name: string) => `${name} ${hashOfText(name).repeat(3)}`;
const packed = (...names: readonly string[]): Files =>
  Object.fromEntries(names.map((name) => [`packed/${name}`, textOf(name)]));

interface Moved {
  readonly repository: TestRepository;
  readonly old: RemoteKey;
  readonly relocation: RemoteKey;
  /** Where the blobs are now. */
  readonly packs: readonly RemoteKey[];
}

/** A pack of six blobs, of which the branch needs two: a collection has written it anew and removed it. */
async function createMoved(): Promise<Moved> {
  const repository = await createTestRepository();
  const old = await sparse(repository);
  await repository.collect();
  const packs = await repository.keys('packs/');
  expect(packs).not.toContain(old);
  return { repository, old, relocation: relocationKey(packOf(old)), packs };
}

/** @returns The pack. */
async function sparse(repository: TestRepository): Promise<RemoteKey> {
  const first = await repository.push('main', packed('1', '2', '3', '4', '5', '6'));
  await repository.push('main', packed('1', '2'));
  await repository.forget(first);
  return (await repository.keys('packs/'))[0]!;
}

async function remove({ store }: TestRepository, name: string): Promise<void> {
  await removeRef(store, (await readRef(store, name))!);
}

function packOf(key: RemoteKey): PackHash {
  return hashFromPackKey(key)!;
}

async function bytesOf({ store }: TestRepository, key: RemoteKey): Promise<Uint8Array> {
  return (await store.read(key, { maxBytes: 2 ** 20 }))!.bytes;
}

/** Rewrites a relocation as an altered byte of its text would. */
async function alter(
  repository: TestRepository,
  key: RemoteKey,
  change: (text: string) => string,
): Promise<void> {
  const text = zstdDecompressSync(await bytesOf(repository, key)).toString('utf8');
  const changed = change(text);
  expect(changed).not.toBe(text);
  await repository.store.put(key, zstdCompressSync(Buffer.from(changed)));
}

const withoutDigest = (text: string) => text.replace(/,\n"sha256":"\w+"/, '');

/** Exchanges the new places of the first two moves. */
function swapPlaces(text: string): string {
  const swapped = /\[(\d+),(\d+),0,(\d+)\],\n\[(\d+),(\d+),0,(\d+)\]/;
  return text.replace(swapped, '[$1,$2,0,$6],\n[$4,$5,0,$3]');
}

/** It ends without a change, and what is damaged is named. */
async function expectRefusal({ repository }: Moved, key: RemoteKey): Promise<void> {
  const before = await repository.keys();
  for (const dryRun of [true, false]) {
    const failure = repository.collect({ dryRun });
    await expect(failure).rejects.toMatchObject({ code: 'damaged', data: { key } });
  }
  expect(await repository.keys()).toEqual(before);
}

describe('a relocation', () => {
  it('that is lost ends a collection before it condemns anything, and nothing is lost', async () => {
    const moved = await createMoved();
    const { old, relocation, repository } = moved;
    const bytes = await bytesOf(repository, relocation);
    await repository.store.delete([relocation]);
    // Garbage, so that the round would have something to remove.
    await repository.push('gone', packed('7'));
    await remove(repository, 'heads/gone');
    await expectRefusal(moved, old);
    await expect(repository.collect()).rejects.toThrow(`no ${relocation} says`);
    await repository.store.put(relocation, bytes);
    await repository.collect();
    expect(await repository.unreadable()).toEqual([]);
    expect(await repository.garbage()).toEqual([]);
  });

  it('that is lost after its round was sealed costs nothing, whoever ends the round', async () => {
    const repository = await createTestRepository();
    const old = await sparse(repository);
    const killed = onEachRequest(repository.store, (_number, _request, call) => {
      if (call.startsWith('delete ')) throw KILLED;
    });
    await expect(repository.collect({}, killed.store)).rejects.toBe(KILLED);
    await repository.store.delete([relocationKey(packOf(old))]);
    // The next round replaces the pack again, and writes another relocation.
    await repository.collect();
    expect(await repository.unreadable()).toEqual([]);
    expect(await repository.keys('relocations/')).toContain(relocationKey(packOf(old)));
    expect(await repository.garbage()).toEqual([]);
  });

  it('whose new places are altered ends a collection, by its digest', async () => {
    const moved = await createMoved();
    await alter(moved.repository, moved.relocation, swapPlaces);
    await expectRefusal(moved, moved.relocation);
  });

  it('that names another pack than it did ends a collection', async () => {
    const moved = await createMoved();
    const { packs, relocation, repository } = moved;
    await repository.push('other', packed('8', '9'));
    const other = (await repository.keys('packs/')).find((key) => !packs.includes(key))!;
    const rename = (text: string) => text.replace(packOf(packs[0]!), packOf(other));
    await alter(repository, relocation, rename);
    await expectRefusal(moved, relocation);
    await alter(repository, relocation, withoutDigest);
    await expectRefusal(moved, relocation);
  });

  it('without a digest, as older versions wrote it, is compared with the index of its new pack', async () => {
    const moved = await createMoved();
    const { relocation, repository } = moved;
    await alter(repository, relocation, withoutDigest);
    expect((await readRelocation(repository.store, packOf(moved.old)))!.proof).toBe('unknown');
    await repository.push('main', packed('1', 'new'));
    await repository.collect();
    expect(await repository.unreadable()).toEqual([]);
    expect(await repository.keys('relocations/')).toContain(relocation);
    await alter(repository, relocation, swapPlaces);
    await expectRefusal(moved, relocation);
  });

  it('without a digest, with a place between two blobs, ends a collection', async () => {
    const moved = await createMoved();
    await alter(moved.repository, moved.relocation, withoutDigest);
    await alter(moved.repository, moved.relocation, (text) => text.replace(',0,0]', ',0,7]'));
    await expectRefusal(moved, moved.relocation);
  });

  it('that cannot be read does not hold up a collection once nothing needs it', async () => {
    const moved = await createMoved();
    const { relocation, repository } = moved;
    await repository.store.put(relocation, Buffer.from('no zstd'));
    await expectRefusal(moved, relocation);
    await repository.push('new', { a: 'a' });
    await remove(repository, 'heads/main');
    await repository.collect();
    expect(await repository.keys('relocations/')).toEqual([]);
    expect(await repository.unreadable()).toEqual([]);
  });
});

describe('a pack', () => {
  it('that is lost ends a collection, which names it', async () => {
    const moved = await createMoved();
    const [pack] = moved.packs;
    await moved.repository.store.delete([pack!]);
    await expectRefusal(moved, pack!);
  });

  /** Stops the collection at the first request of this kind. */
  async function collectUntil(repository: TestRepository, isLast: (call: string) => boolean): Promise<void> {
    let isOver = false;
    const { store } = onEachRequest(repository.store, (_number, _request, call) => {
      isOver ||= isLast(call);
      if (isOver) throw KILLED;
    });
    await expect(repository.collect({}, store)).rejects.toThrow('killed');
  }

  it('stays while the pack that replaces it is damaged, whoever wrote the relocation', async () => {
    const repository = await createTestRepository();
    const old = await sparse(repository);
    // The new pack and its relocation are there, and the round has not begun.
    await collectUntil(repository, (call) => call === 'put collection.json');
    const fresh = (await repository.keys('packs/')).find((key) => key !== old)!;
    const bytes = Uint8Array.from(await bytesOf(repository, fresh));
    const flipped = bytes.with(3, bytes[3]! ^ 1);
    await repository.store.put(fresh, flipped);
    await expectOldKept(repository, { old, fresh, bytes });
  });

  it('stays while its replacement is damaged, when a collection that was killed is continued', async () => {
    const repository = await createTestRepository();
    const old = await sparse(repository);
    await collectUntil(repository, (call) => call.startsWith('put refs/'));
    const fresh = (await repository.keys('packs/')).find((key) => key !== old)!;
    const bytes = await bytesOf(repository, fresh);
    await repository.store.put(fresh, bytes.slice(0, -1));
    await repository.collect();
    expect(await repository.keys('packs/')).toContain(old);
    expect(await repository.unreadable()).toEqual([]);
  });

  it('stays while its replacement is damaged, when a collection that was sealed is continued', async () => {
    const repository = await createTestRepository();
    const old = await sparse(repository);
    await collectUntil(repository, (call) => call.startsWith('delete '));
    const fresh = (await repository.keys('packs/')).find((key) => key !== old)!;
    const bytes = Uint8Array.from(await bytesOf(repository, fresh));
    await repository.store.put(fresh, bytes.with(3, bytes[3]! ^ 1));
    await expectOldKept(repository, { old, fresh, bytes });
  });

  it('whose relocation is lost while a collection waits to be continued is not given up', async () => {
    const moved = await createMoved();
    const { old, relocation, repository } = moved;
    // Nothing names the content, so it becomes a candidate; before the end of the round a tag names it.
    const commit = await repository.push('main', packed('1', '2'));
    await repository.push('kept', { a: 'a' });
    const bytes = await bytesOf(repository, relocation);
    await remove(repository, 'heads/main');
    await collectUntil(repository, (call) => call.startsWith('put refs/'));
    const ref = { format: 1, required: ['collection'], commit, epoch: 1, repository: repository.id };
    await repository.store.put('refs/heads/main', Buffer.from(JSON.stringify(ref)));
    await repository.store.delete([relocation]);
    await expect(repository.collect()).rejects.toMatchObject({ code: 'damaged', data: { key: old } });
    await repository.store.put(relocation, bytes);
    await repository.collect();
    expect(await repository.unreadable()).toEqual([]);
  });
});

/** The old pack stays until the new one is whole again. @param bytes The new pack's, undamaged. */
async function expectOldKept(
  repository: TestRepository,
  { bytes, fresh, old }: { old: RemoteKey; fresh: RemoteKey; bytes: Uint8Array },
): Promise<void> {
  await repository.collect();
  expect(await repository.keys('packs/')).toContain(old);
  expect(await repository.unreadable()).toEqual([]);
  await repository.store.put(fresh, bytes);
  await repository.collect();
  expect(await repository.unreadable()).toEqual([]);
  expect(await repository.keys('packs/')).not.toContain(old);
}
