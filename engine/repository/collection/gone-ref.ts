/**
 * A ref that was there and is gone. Where garbage is collected a ref is never deleted (FORMAT.md), so its
 * absence is damage, and nobody may make it again as if it were new: that would hide what it led to, and the
 * next collection would remove it.
 */
import { DrayError } from '../../api/error.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import { refKey } from '../keys.ts';
import { type AnyRef, readAnyRef } from '../refs.ts';

/**
 * One request.
 * @param seen A commit at which the ref was seen; undefined if only its being there was seen.
 * @throws `damaged` unless somebody has removed the ref
 */
export async function refuseGone(
  store: ObjectStore,
  name: string,
  seen: CommitHash | undefined,
  options: CallOptions = {},
): Promise<void> {
  const ref = await readAnyRef(store, name, options);
  if (!ref || !isPresentOrRemoved(ref)) throw seen ? goneRef(store, name, seen) : goneUnread(store, name);
}

function goneUnread({ address }: Pick<ObjectStore, 'address'>, name: string): DrayError {
  const short = name.slice(name.indexOf('/') + 1);
  const message =
    `The branch ${short} is gone from ${address}: ${refKey(name)} is missing. It was there when this ` +
    'workspace began to clone it.';
  const command = `dray repair --branch ${short}`;
  return new DrayError('damaged', message, {
    data: { ref: name, key: refKey(name), reason: 'refGone' },
    advice: `Run "${command}" in a workspace that has its commits.`,
    command,
  });
}

/** False for a pending ref that was absent before: somebody tried to make it, and nobody has removed it. */
export function isPresentOrRemoved({ again, state }: Pick<AnyRef, 'again' | 'state'>): boolean {
  return state !== 'pending' || again === true;
}

export function goneRef(
  { address }: Pick<ObjectStore, 'address'>,
  name: string,
  seen: CommitHash,
): DrayError {
  const [kind, short] = [name.startsWith('tags/') ? 'tag' : 'branch', name.slice(name.indexOf('/') + 1)];
  const message =
    `The ${kind} ${short} is gone from ${address}: ${refKey(name)} is missing. It was seen at ` +
    `${seen.slice(0, 10)}${kind === 'tag' ? '' : ', and may have gone on since'}.`;
  const data = { ref: name, expected: seen, key: refKey(name), reason: 'refGone' };
  if (kind === 'tag') {
    const command = `dray tag ${short} ${seen.slice(0, 10)}`;
    return new DrayError('damaged', message, { data, advice: `"${command}" makes it again.`, command });
  }
  const command = `dray repair --branch ${short}`;
  const advice = `"${command}" makes it again at the newest commit that follows.`;
  return new DrayError('damaged', message, { data, advice, command });
}
