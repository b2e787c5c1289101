/**
 * The master keys of encrypted repositories that this process has opened. They exist in memory only: no file,
 * log or answer contains them. A key is found by the check that follows from it, so a store that claims
 * another repository's id gets no other key.
 */
import { DrayError } from '../../api/error.ts';
import type { LockedRepository, MasterKeys, SealedRepository } from '../../api/jobs/repositories.ts';

const REPOSITORIES_MAX = 200;

export interface HeldMasterKeys extends MasterKeys {
  /** The repositories whose keys are held, by address. */
  readonly list: () => readonly LockedRepository[];
  /** @throws `wrongPassword`, `damaged`, and `notFound` if no job has missed the key of this repository */
  readonly unlock: (repository: SealedRepository, password: string) => Promise<void>;
  readonly drop: (repository: SealedRepository) => void;
}

interface Held extends LockedRepository {
  readonly master: Uint8Array;
}

interface Missed extends LockedRepository {
  readonly unlock: (password: string) => Promise<Uint8Array>;
}

export function createMasterKeys(): HeldMasterKeys {
  const held = new Map<string, Held>();
  const missed = new Map<string, Missed>();
  const keep = (repository: LockedRepository, master: Uint8Array) =>
    putNewest(held, keyOf(repository), { ...repository, master });
  return {
    list: () =>
      [...held.values()]
        .map(({ address, check, id }) => ({ address, check, id }))
        .sort((left, right) => left.address.localeCompare(right.address)),
    find: (repository) => held.get(keyOf(repository))?.master,
    keep,
    miss: (repository, unlock) => putNewest(missed, keyOf(repository), { ...repository, unlock }),
    async unlock(repository, password) {
      const found = missed.get(keyOf(repository));
      if (!found) throw new DrayError('notFound', 'Nothing asks for this password any more. Try again.');
      const { unlock, ...locked } = found;
      keep(locked, await unlock(password));
    },
    drop: (repository) => held.delete(keyOf(repository)),
  };
}

function keyOf({ check, id }: SealedRepository): string {
  return `${id} ${check}`;
}

/** The oldest goes first. */
function putNewest<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > REPOSITORIES_MAX) map.delete(map.keys().next().value!);
}
