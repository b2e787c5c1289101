/** `dray key`: the passwords and recovery keys of an encrypted repository. */
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import {
  type KeyAddRequest,
  type KeyChangeSummary,
  type KeyListSummary,
  type KeySlotRecord,
  LABEL_CHARS_MAX,
} from '../../api/jobs/repositories.ts';
import { systemClock } from '../../base/clock.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { type Descriptor, readAnyDescriptor } from '../../repository/descriptor.ts';
import {
  createPasswordSlot,
  createRecoverySlot,
  type EncodedSlot,
  type KeySlot,
  parseSlot,
} from '../../repository/encryption/key-slot.ts';
import {
  describeLost,
  describeUntried,
  ID_DIGITS,
  isTooCostly,
  type LostSlot,
  listSlots,
  removeSlot,
  type Unlocked,
  writeSlot,
} from '../../repository/encryption/key-slots.ts';
import { checkSameRepository, notARepository } from '../session/link-repository.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { findNewPassword } from '../session/password.ts';
import { unlockSealed } from '../session/sealed-remote.ts';

const NEW_PASSWORD = 'DRAY_NEW_PASSWORD';

/** Needs no password. */
export function listKeys(context: JobContext): Promise<KeyListSummary> {
  return withKeys(context, async ({ repository, store }) => {
    const { damaged, lost, slots } = await listSlots(store, repository, context);
    const costly = slots.filter(isTooCostly).map((slot) => describeUntried([slot]));
    return {
      keys: slots.map(recordOf),
      damaged: [...damaged.map(({ message }) => message), ...lost.map(describeLost), ...costly],
    };
  });
}

/** Adds a password or a recovery key, which anybody may do who knows one. */
export function addKey(context: JobContext, { kind, label = '' }: KeyAddRequest): Promise<KeyChangeSummary> {
  checkLabel(label);
  return withKeys(context, async ({ repository, store, unlock }) => {
    const { master } = await unlock();
    const facts = { master, repository, label, nowMs: systemClock.nowMs() };
    if (kind === 'recovery') {
      const { recoveryKey, slot } = createRecoverySlot(facts);
      await writeSlot(store, slot, context);
      return { result: 'added', key: recordOfNew(slot), recoveryKey };
    }
    const slot = await createPasswordSlot(facts, await findNewPassword(context, NEW_PASSWORD));
    await writeSlot(store, slot, context);
    return { result: 'added', key: recordOfNew(slot) };
  });
}

/**
 * Removes a slot. That takes nothing from somebody who has had its password: the master key stays the same.
 * @throws `usage` for the key that was just used, so that whoever removes one has another
 */
export function removeKey(context: JobContext, id: string): Promise<KeyChangeSummary> {
  return withKeys(context, async ({ repository, store, unlock }) => {
    const used = (await unlock()).slot;
    const { lost, slots } = await listSlots(store, repository, context);
    const slot = findSlot([...slots, ...lost], id);
    if (slot.id === used.id) {
      throw new DrayError('usage', `The key ${shortId(slot)} is the one whose password you gave.`, {
        advice: 'Give another password, or change this one with "dray key passwd".',
      });
    }
    await removeSlot(store, slot.id, context);
    return { result: 'removed', key: recordOf(slot) };
  });
}

/** Writes a slot for the new password, then removes that of the old one. */
export function changePassword(context: JobContext): Promise<KeyChangeSummary> {
  return withKeys(context, async ({ repository, store, unlock }) => {
    const { master, slot: old } = await unlock();
    const label = old.kind === 'password' ? old.label : '';
    const facts = { master, repository, label, nowMs: systemClock.nowMs() };
    const slot = await createPasswordSlot(facts, await findNewPassword(context, NEW_PASSWORD));
    await writeSlot(store, slot, context);
    if (old.kind === 'password') await removeSlot(store, old.id, context);
    return { result: 'changed', key: recordOfNew(slot) };
  });
}

interface KeysOpened {
  readonly store: ObjectStore;
  readonly repository: string;
  readonly unlock: () => Promise<Unlocked>;
}

async function withKeys<T>(context: JobContext, work: (opened: KeysOpened) => Promise<T>): Promise<T> {
  using session = await openSession(context, 'key', 'shared');
  await using remote = await openSessionRemote(session, { known: 'locked' });
  const { store } = remote;
  const descriptor = await readAnyDescriptor(store, context);
  if (!descriptor) throw notARepository(store, { isUnmet: false });
  const { repository, sealed } = session.config.remotes[session.remoteName]!;
  checkSameRepository(store, repository, descriptor.id);
  const check = requireEncryption(store, descriptor, sealed);
  const unlock = () => unlockSealed(context, store, { id: descriptor.id, check });
  return await work({ store, repository: descriptor.id, unlock });
}

/** What the workspace knows wins: somebody may have replaced the descriptor. */
function requireEncryption(
  store: ObjectStore,
  { encryption }: Descriptor,
  known: string | undefined,
): string {
  const check = known ?? encryption?.check;
  if (check !== undefined) return check;
  throw new DrayError('usage', `The repository at ${store.address} is not encrypted.`, {
    data: { remote: store.address },
    advice: 'Make an encrypted one with "dray init --encrypt".',
  });
}

function findSlot(slots: readonly LostSlot[], id: string): LostSlot {
  const [slot, another] = slots.filter((each) => id !== '' && each.id.startsWith(id.toLowerCase()));
  if (slot && !another) return slot;
  const message = slot ? `More than one key begins with ${id}.` : `There is no key ${JSON.stringify(id)}.`;
  throw new DrayError(slot ? 'usage' : 'notFound', message, {
    data: { key: id },
    advice: 'Run "dray key list".',
    command: 'dray key list',
  });
}

function checkLabel(label: string): void {
  if (label.length > LABEL_CHARS_MAX)
    throw new DrayError('usage', `A label has at most ${LABEL_CHARS_MAX} characters.`);
}

function shortId({ id }: Pick<KeySlot, 'id'>): string {
  return id.slice(0, ID_DIGITS);
}

function recordOf(slot: LostSlot): KeySlotRecord {
  const { created, kind, label } = slot;
  return { id: shortId(slot), kind, label, created };
}

function recordOfNew({ bytes, key }: EncodedSlot): KeySlotRecord {
  return recordOf(parseSlot(key, bytes));
}
