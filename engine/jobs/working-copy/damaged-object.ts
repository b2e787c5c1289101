/** Errors of stored objects that do not have the content that a commit names. */
import { DrayError } from '../../api/error.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';

/** @param what The rest of a sentence that starts with the key. */
export function damagedObject(key: RemoteKey, what: string): DrayError {
  return new DrayError('damaged', `${key} ${what}.`, {
    data: { key },
    advice: '"dray verify" names every file that it affects.',
    command: 'dray verify',
  });
}

/** `dray verify` finds wrong bytes only when it reads the data. */
export function wrongBytes(key: RemoteKey): DrayError {
  return new DrayError('damaged', `${key} does not contain the bytes that were pushed.`, {
    data: { key },
    advice: '"dray verify --read-data" names every file that it affects.',
    command: 'dray verify --read-data',
  });
}
