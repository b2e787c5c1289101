/** The slots of a repository's master key, and how a password finds it. */
import { crc32 } from 'node:zlib';
import { DrayError } from '../../api/error.ts';
import type { SealedRepository } from '../../api/repositories.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { KEY_SLOTS_PREFIX } from '../keys.ts';
import { type EncodedSlot, type KeySlot, openSlot, parseSlot, SLOT_MAX_BYTES } from './key-slot.ts';
import { parseRecoveryKey } from './recovery-key.ts';
import { deriveSealKeys, type SealKeys } from './seal-keys.ts';

/** A listing shows them all. */
const SLOTS_MAX = 100;
const SLOT_KEY = /^keys\/[0-9a-f]{64}$/;

export interface SlotList {
  readonly slots: readonly KeySlot[];
  /** The faults of slots that cannot be used. */
  readonly damaged: readonly DrayError[];
}

/** Those of this repository. Slots of others are left behind by an `init` that did not end. */
export async function listSlots(
  store: ObjectStore,
  repository: string,
  options: CallOptions = {},
): Promise<SlotList> {
  const page = await store.list({ prefix: KEY_SLOTS_PREFIX, limit: SLOTS_MAX }, options);
  const keys = page.objects.map(({ key }) => key).filter((key) => SLOT_KEY.test(key));
  const slots: KeySlot[] = [];
  const damaged: DrayError[] = [];
  await Promise.all(
    keys.map(async (key) => {
      try {
        const read = await store.read(key, { ...options, maxBytes: SLOT_MAX_BYTES });
        const slot = read && parseSlot(key, read.bytes);
        if (slot?.repository === repository) slots.push(slot);
      } catch (error) {
        if (!(error instanceof DrayError) || error.code !== 'damaged') throw error;
        damaged.push(error);
      }
    }),
  );
  slots.sort((left, right) => (left.created < right.created ? -1 : 1));
  return { slots, damaged };
}

export async function writeSlot(
  store: ObjectStore,
  { bytes, key }: EncodedSlot,
  options: CallOptions = {},
): Promise<void> {
  const checksum = { crc32: crc32(bytes) };
  await store.put(key, bytes, {
    ...options,
    condition: { absent: true },
    checksum,
    contentType: 'application/json',
  });
}

export interface Unlocked {
  readonly master: Uint8Array;
  readonly keys: SealKeys;
  /** The slot whose password was given. */
  readonly slot: KeySlot;
}

/** Tries a password on slots that were read. @throws `wrongPassword`, `damaged` */
export type Unlock = (password: string) => Promise<Unlocked>;

/**
 * @param askPassword Called once, if there is a slot at all
 * @throws `noKeySlots`, `wrongPassword`, `damaged`, and what `askPassword` throws
 */
export async function unlockRepository(
  store: ObjectStore,
  repository: SealedRepository,
  askPassword: (unlock: Unlock) => Promise<string>,
  options: CallOptions = {},
): Promise<Unlocked> {
  const found = await listSlots(store, repository.id, options);
  if (found.slots.length === 0) throw found.damaged[0] ?? noSlots(store);
  const unlock = (password: string) => unlockOneOf(found, store.address, repository, password);
  return unlock(await askPassword(unlock));
}

async function unlockOneOf(
  { damaged, slots }: SlotList,
  address: string,
  { check, id }: SealedRepository,
  password: string,
): Promise<Unlocked> {
  const isRecovery = parseRecoveryKey(password) !== undefined;
  for (const slot of slots) {
    if ((slot.kind === 'recovery') !== isRecovery) continue;
    const master = await openSlot(slot, password);
    if (!master) continue;
    const keys = deriveSealKeys(master, id);
    if (keys.check !== check) throw otherMaster(slot);
    return { master, keys, slot };
  }
  // The right slot may be the one that was changed.
  if (damaged[0]) throw damaged[0];
  throw new DrayError('wrongPassword', `The password opens no key of the repository at ${address}.`, {
    data: { remote: address, repository: id, check, slots: slots.length },
  });
}

function noSlots({ address }: ObjectStore): DrayError {
  const message = `The repository at ${address} is encrypted, and its keys (${KEY_SLOTS_PREFIX}) are gone.`;
  return new DrayError('noKeySlots', message, {
    data: { remote: address },
    advice: 'Restore these objects from a copy: without them nobody can read the repository.',
  });
}

function otherMaster({ id }: KeySlot): DrayError {
  const key = `${KEY_SLOTS_PREFIX}${id}`;
  const message = `${key} holds another master key than dray.json says: one of the two was replaced.`;
  return new DrayError('damaged', message, { data: { key, reason: 'unauthentic' } });
}
