/** The source of a copy, for stores that reach only their own keys. */
import { DrayError } from '../api/error.ts';
import type { CopySource, RemoteKey } from './object-store.ts';

/** Fails with `unsupported` for a key of another bucket. */
export function ownKeyOf(source: CopySource): RemoteKey {
  if (typeof source === 'string') return source;
  throw new DrayError(
    'unsupported',
    `This store copies only its own objects, not ${source.bucket}/${source.key}.`,
    { data: { bucket: source.bucket, key: source.key } },
  );
}

export function noSource(key: string): DrayError {
  return new DrayError('notFound', `There is no ${key} to copy.`, { data: { key } });
}

export function sourceChanged(key: string): DrayError {
  return new DrayError('conflict', `${key} was replaced in the meantime.`, { data: { key } });
}
