/** The slots of a repository's master key, and how a password finds it. */
import { crc32 } from 'node:zlib';
import { DrayError } from '../../api/error.ts';
import type { SealedRepository } from '../../api/jobs/repositories.ts';
import { formatBytes } from '../../api/text/numbers.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CallOptions, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { KEY_SLOTS_PREFIX } from '../keys.ts';
import {
  type EncodedSlot,
  type KeySlot,
  openSlot,
  parseRecord,
  parseSlot,
  recordOfSlot,
  SLOT_MAX_BYTES,
  SLOT_WORK_MAX,
  SLOTS_WORK_MAX,
  slotWork,
} from './key-slot.ts';
import { parseRecoveryKey } from './recovery-key.ts';
import { deriveSealKeys, type SealKeys } from './seal-keys.ts';

/** One listing's page: a writer of the store may hide good slots among others. */
const SLOTS_MAX = 1000;
/** Of a slot's id, as people see it. */
export const ID_DIGITS = 8;
const SLOT_KEY = /^keys\/[0-9a-f]{64}$/;
/** Stored with each slot, so that a lost slot can be told from one that was removed. */
const RECORD_SUFFIX = '.record';
const RECORD_KEY = /^keys\/[0-9a-f]{64}\.record$/;

export interface SlotList {
  readonly slots: readonly KeySlot[];
  /** The faults of slots that cannot be used. */
  readonly damaged: readonly DrayError[];
  /** Slots that were not removed, and are not there. */
  readonly lost: readonly LostSlot[];
}

export type LostSlot = Pick<KeySlot, 'created' | 'id' | 'kind' | 'label'>;

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
  const records = page.objects.map(({ key }) => key).filter((key) => RECORD_KEY.test(key));
  const alone = records.filter((key) => !keys.includes(key.slice(0, -RECORD_SUFFIX.length)));
  const lost = await Promise.all(alone.map((key) => readRecord(store, key, repository, options)));
  return { slots, damaged, lost: lost.filter((slot) => slot !== undefined) };
}

/** Undefined for one of another repository, and for one that cannot be read. */
async function readRecord(
  store: ObjectStore,
  key: RemoteKey,
  repository: string,
  options: CallOptions,
): Promise<LostSlot | undefined> {
  const id = key.slice(KEY_SLOTS_PREFIX.length, -RECORD_SUFFIX.length);
  try {
    const read = await store.read(key, { ...options, maxBytes: SLOT_MAX_BYTES });
    const record = read && parseRecord(key, read.bytes);
    return record?.repository === repository ? { ...record, id } : undefined;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}

/** For people. */
export function describeLost(slot: LostSlot): string {
  return `${KEY_SLOTS_PREFIX}${slot.id} is damaged: ${lostBecause(slot)}.`;
}

export function lostBecause({ created, kind, label }: LostSlot): string {
  const what = kind === 'recovery' ? 'recovery key' : 'password';
  const named = label === '' ? '' : ` "${label}"`;
  return (
    `it is missing, so the ${what}${named} of ${created.slice(0, 10)} opens nothing. It was lost, or removed ` +
    'by an earlier version of Dray. Put the object back, or remove this key and add another one'
  );
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
  const record = recordOfSlot(key, bytes);
  await store.put(`${key}${RECORD_SUFFIX}`, record, {
    ...options,
    condition: { absent: true },
    checksum: { crc32: crc32(record) },
    contentType: 'application/json',
  });
}

/** The record goes first: a slot without one is not missed. */
export async function removeSlot(store: ObjectStore, id: string, options: CallOptions = {}): Promise<void> {
  const key = KEY_SLOTS_PREFIX + id;
  await store.delete([`${key}${RECORD_SUFFIX}`], options);
  await store.delete([key], options);
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
  const { costly, tried } = chooseSlots(slots.filter(({ kind }) => (kind === 'recovery') === isRecovery));
  const changed: DrayError[] = [];
  for (const slot of tried) {
    const master = await openUnlessChanged(slot, password, changed);
    if (!master) continue;
    const keys = deriveSealKeys(master, id);
    if (keys.check === check) return { master, keys, slot };
    changed.push(otherMaster(slot));
  }
  // The right slot may be the one that was changed.
  const fault = changed[0] ?? damaged[0];
  if (fault) throw fault;
  const message = `The password opens no key of the repository at ${address}.`;
  throw new DrayError('wrongPassword', costly[0] ? `${message} ${describeUntried(costly)}` : message, {
    data: { remote: address, repository: id, check, slots: slots.length },
    ...(costly[0] && { advice: adviceOn(costly[0]), command: 'dray key list' }),
  });
}

interface ChosenSlots {
  readonly tried: readonly KeySlot[];
  /** Would take more work than one slot may, or all of them. */
  readonly costly: readonly KeySlot[];
}

/** The cheapest first, so that a costly one stands in nobody's way. */
export function chooseSlots(slots: readonly KeySlot[]): ChosenSlots {
  const tried: KeySlot[] = [];
  const costly: KeySlot[] = [];
  let work = 0;
  for (const slot of slots.toSorted((left, right) => compareWork(slotWork(left), slotWork(right)))) {
    work += slotWork(slot);
    if (slotWork(slot) > SLOT_WORK_MAX || work > SLOTS_WORK_MAX) costly.push(slot);
    else tried.push(slot);
  }
  return { tried, costly };
}

/** Both may be infinite. */
function compareWork(left: number, right: number): number {
  return left === right ? 0 : left - right;
}

/** A changed copy of a good slot must not stand in its way. */
async function openUnlessChanged(
  slot: KeySlot,
  password: string,
  changed: DrayError[],
): Promise<Uint8Array | undefined> {
  try {
    return await openSlot(slot, password);
  } catch (error) {
    if (!(error instanceof DrayError) || error.code !== 'damaged') throw error;
    changed.push(error);
    return undefined;
  }
}

/** Whether the slot alone asks for more than one may. */
export function isTooCostly(slot: KeySlot): boolean {
  return slotWork(slot) > SLOT_WORK_MAX;
}

/** Why a password is not tried on slots, the first of which is named. */
export function describeUntried(slots: readonly KeySlot[]): string {
  const { argon2id, id } = slots[0]!;
  const others = slots.length > 1 ? ` and ${slots.length - 1} more` : '';
  const work = argon2id && `${formatBytes(argon2id.memoryKiB * 1024)} and ${argon2id.passes} passes`;
  return `Dray did not try ${KEY_SLOTS_PREFIX}${id}${others}, which asks for too much work (${work}).`;
}

function adviceOn({ id }: KeySlot): string {
  return (
    'Give another password or the recovery key. With one of these, remove a key that nobody of you added: ' +
    `"dray key remove ${id.slice(0, ID_DIGITS)}".`
  );
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
