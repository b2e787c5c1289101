/**
 * Makes an encrypted repository: first the slots of its keys, then the descriptor. So no repository is there
 * without its keys; slots of an attempt that did not end belong to no repository and are ignored.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import type { Layout } from '../../model/layout.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { createDescriptor, type Descriptor, readAnyDescriptor } from '../../repository/descriptor.ts';
import { createPasswordSlot, createRecoverySlot } from '../../repository/encryption/key-slot.ts';
import { writeSlot } from '../../repository/encryption/key-slots.ts';
import { deriveSealKeys, MASTER_KEY_BYTES } from '../../repository/encryption/seal-keys.ts';
import { findNewPassword, type PasswordContext } from '../session/password.ts';

/** Larger objects would be sent in parts, which are not sealed. */
const OBJECT_BYTES_MAX = 64 * 1024 * 1024;

export interface CreatedEncrypted {
  readonly descriptor: Descriptor;
  readonly created: boolean;
  readonly recoveryKey: string | undefined;
}

/** @throws `usage` if there is a repository that is not encrypted, or for a layout without chunks */
export async function createEncrypted(
  context: PasswordContext,
  store: ObjectStore,
  making: { readonly layout: Layout; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<CreatedEncrypted> {
  const { clock, layout, signal } = making;
  if (layout.chunkAbove === 0 || layout.chunkAbove > OBJECT_BYTES_MAX) {
    const message = 'An encrypted repository cuts files above 64 MiB or less into chunks.';
    throw new DrayError('usage', message, { advice: 'Leave out --layout objects, or choose --chunk-above.' });
  }
  const found = await readAnyDescriptor(store, { signal }).catch(absentWithoutFolder);
  if (found) return joined(store, found);
  const password = await findNewPassword(context, 'DRAY_PASSWORD');
  const [master, id] = [randomBytes(MASTER_KEY_BYTES), randomUUID()];
  const facts = { master, repository: id, nowMs: clock.nowMs() };
  const recovery = createRecoverySlot({ ...facts, label: 'recovery key' });
  const slots = [await createPasswordSlot({ ...facts, label: 'first password' }, password), recovery.slot];
  await Promise.all(slots.map((slot) => writeSlot(store, slot, { signal })));
  const encryption = { check: deriveSealKeys(master, id).check };
  const made = await createDescriptor(store, { ...making, encrypted: { id, encryption } });
  if (made.created) {
    context.masterKeys?.keep({ id, ...encryption, address: store.address }, master);
    return { ...made, recoveryKey: recovery.recoveryKey };
  }
  await store.delete(
    slots.map(({ key }) => key),
    { signal },
  );
  return joined(store, made.descriptor);
}

/** On another machine the first object makes the folder. Where it may not, that one reports it. */
function absentWithoutFolder(error: unknown): undefined {
  if (!(error instanceof DrayError) || error.code !== 'bucketMissing') throw error;
}

function joined({ address }: ObjectStore, descriptor: Descriptor): CreatedEncrypted {
  if (descriptor.encryption) return { descriptor, created: false, recoveryKey: undefined };
  throw new DrayError('usage', `There is a repository at ${address} already, and it is not encrypted.`, {
    data: { remote: address },
    advice: 'Make a new one at another URL and push to it.',
  });
}
