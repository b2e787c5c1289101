import { hash as hashOf, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { createPasswordSlot, createRecoverySlot, type EncodedSlot, parseSlot } from './key-slot.ts';
import { chooseSlots, listSlots, unlockRepository } from './key-slots.ts';
import { createRecoveryKey, parseRecoveryKey } from './recovery-key.ts';
import { deriveSealKeys } from './seal-keys.ts';

const ID = '00000000-0000-4000-8000-000000000000';
const master = randomBytes(32);
const facts = { master, repository: ID, label: 'ada', nowMs: 0 };
const { check } = deriveSealKeys(master, ID);
const recovery = createRecoverySlot(facts);
const passwordSlot = await createPasswordSlot(facts, 'secret');

async function storeWith(...slots: readonly EncodedSlot[]): Promise<ObjectStore> {
  const store = createMemoryStore();
  for (const { bytes, key } of slots) await store.put(key, bytes);
  return store;
}

function unlock(store: ObjectStore, password: string) {
  return unlockRepository(store, { id: ID, check }, () => Promise.resolve(password));
}

/** The slot with one field changed, under the name that its bytes now have. */
function changed(slot: EncodedSlot, field: string, from: string, to: string): EncodedSlot {
  const text = Buffer.from(slot.bytes).toString();
  expect(text).toContain(`"${field}"`);
  return { ...slot, bytes: Buffer.from(text.replace(from, to)) };
}

describe('A slot', () => {
  it('gives the master key to its password alone', async () => {
    const store = await storeWith(passwordSlot);
    const unlocked = await unlock(store, 'secret');
    expect(Buffer.from(unlocked.master).equals(master)).toBe(true);
    await expect(unlock(store, 'Secret')).rejects.toMatchObject({ code: 'wrongPassword' });
  });

  it('of a recovery key opens with it however it is written', async () => {
    const { recoveryKey, slot } = createRecoverySlot(facts);
    const store = await storeWith(passwordSlot, slot);
    const unlocked = await unlock(store, recoveryKey.toLowerCase().replaceAll('-', ' '));
    expect(unlocked.slot.kind).toBe('recovery');
    await expect(unlock(store, createRecoveryKey())).rejects.toMatchObject({ code: 'wrongPassword' });
  });

  it('whose bytes changed is reported as damaged, also if its password is given', async () => {
    const store = await storeWith(changed(passwordSlot, 'label', 'ada', 'bob'));
    await expect(unlock(store, 'secret')).rejects.toMatchObject({ code: 'damaged' });
  });

  it('that was changed and renamed is refused, with the right password', async () => {
    const { bytes } = changed(passwordSlot, 'label', 'ada', 'bob');
    const store = await storeWith({ key: `keys/${hashOf('sha256', bytes, 'hex')}`, bytes });
    await expect(unlock(store, 'secret')).rejects.toMatchObject({ code: 'damaged' });
  });

  it('with another master key than the descriptor says is refused', async () => {
    const store = await storeWith(await createPasswordSlot({ ...facts, master: randomBytes(32) }, 'secret'));
    await expect(unlock(store, 'secret')).rejects.toMatchObject({ code: 'damaged' });
  });

  it('of another repository is ignored', async () => {
    const repository = '00000000-0000-4000-8000-000000000001';
    const store = await storeWith(await createPasswordSlot({ ...facts, repository }, 'secret'));
    expect((await listSlots(store, ID)).slots).toEqual([]);
    await expect(unlock(store, 'secret')).rejects.toMatchObject({ code: 'noKeySlots' });
  });

  it('that asks for too much memory is refused before it takes any', async () => {
    const store = await storeWith(costlySlot('"memoryKiB": 1048577, "passes": 1'));
    await expect(unlock(store, 'secret')).rejects.toThrow('asks for too much work');
  });

  it("with memory too small for its lanes is damaged, and stands in nobody's way", async () => {
    const small = costlySlot('"memoryKiB": 31, "passes": 1');
    await expect(unlock(await storeWith(small), 'secret')).rejects.toMatchObject({ code: 'damaged' });
    await expectOpen(await storeWith(small, passwordSlot));
  });
});

describe('Slots of a writer of the store', () => {
  it('that ask for too much work are not tried, and the error names one and says what to do', async () => {
    const slot = costlySlot('"memoryKiB": 1048576, "passes": 4');
    const id = slot.key.slice('keys/'.length);
    const error: unknown = await unlock(await storeWith(slot, recovery.slot), 'secret').catch((e) => e);
    expect(error).toMatchObject({ code: 'wrongPassword' });
    expect(String(error)).toContain(`did not try ${slot.key}, which`);
    expect(error).toMatchObject({
      data: { advice: expect.stringContaining(`dray key remove ${id.slice(0, 8)}`) },
    });
    const { slot: used } = await unlock(await storeWith(slot, recovery.slot), recovery.recoveryKey);
    expect(used.kind).toBe('recovery');
  });

  it('keep no good one from opening, also a hundred of them that come first', async () => {
    const hostile = Array.from({ length: 100 }, (_, at) =>
      costlySlot('"memoryKiB": 1048576, "passes": 64', at),
    );
    await expectOpen(await storeWith(...hostile, passwordSlot));
  });

  it('that each ask for as much as they may are tried after a cheaper one', async () => {
    const hostile = Array.from({ length: 100 }, (_, at) =>
      costlySlot('"memoryKiB": 1048576, "passes": 3', at),
    );
    await expectOpen(await storeWith(...hostile, passwordSlot));
  });

  it('take no more work together than is allowed', () => {
    const slots = Array.from({ length: 100 }, (_, at) => {
      const { bytes, key } = costlySlot('"memoryKiB": 1048576, "passes": 3', at);
      return parseSlot(key, bytes);
    });
    const { costly, tried } = chooseSlots(slots);
    expect([tried.length, costly.length]).toEqual([12, 88]);
  });

  it('that are changed copies of a good one do not stand in its way', async () => {
    const { bytes } = changed(passwordSlot, 'created', '1970-01-01', '1969-01-01');
    const copy = { key: `keys/${hashOf('sha256', bytes, 'hex')}` as const, bytes };
    await expectOpen(await storeWith(copy, passwordSlot));
  });
});

/** Another slot than `passwordSlot`, written before it. */
function costlySlot(settings: string, at = 0): EncodedSlot {
  const created = new Date(-1 - at).toISOString();
  const text = Buffer.from(passwordSlot.bytes)
    .toString()
    .replace(/"memoryKiB": \d+,\s*"passes": \d+/, settings)
    .replace('1970-01-01T00:00:00.000Z', created);
  expect(text).toContain(settings);
  const bytes = Buffer.from(text);
  return { key: `keys/${hashOf('sha256', bytes, 'hex')}`, bytes };
}

async function expectOpen(store: ObjectStore): Promise<void> {
  const { master: opened } = await unlock(store, 'secret');
  expect(Buffer.from(opened).equals(master)).toBe(true);
}

it('A password is not asked for where there is no slot', async () => {
  const ask = () => Promise.reject(new Error('asked'));
  const opening = unlockRepository(createMemoryStore(), { id: ID, check }, ask);
  await expect(opening).rejects.toMatchObject({ code: 'noKeySlots' });
});

it('A recovery key with a wrong digit or a missing one is no recovery key', () => {
  const key = createRecoveryKey();
  expect(parseRecoveryKey(key)).toHaveLength(32);
  expect(parseRecoveryKey(key.slice(0, -1))).toBeUndefined();
  expect(parseRecoveryKey(`${key}A`)).toBeUndefined();
  expect(parseRecoveryKey(`${key.slice(0, -1)}1`)).toBeUndefined();
  expect(parseRecoveryKey('secret')).toBeUndefined();
});
