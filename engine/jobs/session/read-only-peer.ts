/** The error of a command that would write to a read-only peer. */
import { DrayError } from '../../api/error.ts';
import { READ_ONLY_MESSAGE } from '../../peer-protocol/messages.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';

/** The error of the first write to a read-only peer. One request; none to other stores. */
export async function readOnlyErrorOf(
  { store, text }: { readonly store: ObjectStore; readonly text: string },
  signal: AbortSignal,
): Promise<DrayError | undefined> {
  if (!(await store.files?.isReadOnly({ signal }))) return undefined;
  return readOnlyError(text);
}

/** @param text The place, for messages. */
export function readOnlyError(text: string): DrayError {
  return new DrayError('accessDenied', `${text}: ${READ_ONLY_MESSAGE}`, {
    data: { place: text, reason: 'readOnly' },
  });
}
