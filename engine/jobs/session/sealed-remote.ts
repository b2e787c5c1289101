/** Opens the remotes of encrypted repositories: where the password comes from, and which store it gives. */
import { DrayError } from '../../api/error.ts';
import type { SealedRepository } from '../../api/jobs/repositories.ts';
import type { Layout } from '../../model/layout.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { type Descriptor, readAnyDescriptor } from '../../repository/descriptor.ts';
import { discoverSealing } from '../../repository/encryption/discover-sealing.ts';
import { type Unlocked, unlockRepository } from '../../repository/encryption/key-slots.ts';
import { deriveSealKeys, type SealKeys } from '../../repository/encryption/seal-keys.ts';
import { withSealing } from '../../repository/encryption/with-sealing.ts';
import { findPassword, type PasswordContext } from './password.ts';

interface Opened extends AsyncDisposable {
  readonly store: ObjectStore;
}

interface SealedOptions {
  /** The workspace knows that it is encrypted. Absent: the first read tells. */
  readonly known?: SealedRepository;
  /** Wraps the store whose content is plain. */
  readonly finish?: (store: ObjectStore) => ObjectStore;
}

/** The remote, with a store that seals if the repository is encrypted. Closes it if that fails. */
export async function openSealed<R extends Opened>(
  context: PasswordContext,
  remote: R,
  { finish = (store) => store, known }: SealedOptions = {},
): Promise<R> {
  const { store } = remote;
  const opened = (sealing: ObjectStore): R => ({
    ...remote,
    store: sealing,
    [Symbol.asyncDispose]: () => sealing.close(),
  });
  if (!known) {
    const unlock = () => findSealKeys(context, store);
    return opened(discoverSealing(store, unlock, finish));
  }
  try {
    return opened(finish(withSealing(store, await findSealKeys(context, store, known))));
  } catch (error) {
    await remote[Symbol.asyncDispose]();
    throw error;
  }
}

/** @param known Absent: one request more. */
async function findSealKeys(
  context: PasswordContext,
  store: ObjectStore,
  known?: SealedRepository,
): Promise<SealKeys> {
  const repository = known ?? (await findSealed(store, context.signal));
  const held = context.masterKeys?.find(repository);
  if (held) return deriveSealKeys(held, repository.id);
  const { keys, master } = await unlockSealed(context, store, repository);
  context.masterKeys?.keep({ ...repository, address: store.address }, master);
  return keys;
}

/** By a password, also if its master key is held. */
export async function unlockSealed(
  context: PasswordContext,
  store: ObjectStore,
  repository: SealedRepository,
): Promise<Unlocked> {
  const { address } = store;
  const question = `Password of the repository at ${address}: `;
  const locked = { ...repository, address };
  return unlockRepository(
    store,
    repository,
    (unlock) => {
      context.masterKeys?.miss(locked, async (password) => (await unlock(password)).master);
      return findPassword(context, locked, question);
    },
    context,
  );
}

async function findSealed(store: ObjectStore, signal: AbortSignal): Promise<SealedRepository> {
  const descriptor = await readAnyDescriptor(store, { signal });
  if (descriptor?.encryption) return { id: descriptor.id, check: descriptor.encryption.check };
  const message = `${store.address} holds encrypted objects, but its dray.json says nothing of encryption.`;
  throw new DrayError('damaged', message, { data: { remote: store.address } });
}

/** The layout that the workspace works by: the repository's, with the key of its cutter. */
export function layoutOfRepository({ sealing }: ObjectStore, { layout }: Descriptor): Layout {
  return sealing ? { ...layout, cutterKey: sealing.cutterKey } : layout;
}

/** What the workspace's settings keep of a repository. */
export function keptOf(store: ObjectStore, descriptor: Descriptor) {
  const { encryption, id } = descriptor;
  return {
    repository: id,
    layout: layoutOfRepository(store, descriptor),
    ...(encryption && { sealed: encryption.check }),
  };
}
