import type { Entry } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { objectKey, packKey } from '../keys.ts';

/** The keys of the objects and packs that hold an entry's content. */
export function* keysOfEntry(entry: Entry): Generator<RemoteKey> {
  if (entry.kind !== 'file') return;
  const { blob, location } = entry;
  switch (location.in) {
    case 'nowhere':
      return;
    case 'object':
      yield objectKey(blob, location.generation);
      return;
    case 'pack':
      yield packKey(location.pack);
      return;
    case 'chunks':
      for (const { generation, hash } of location.chunks) yield objectKey(hash, generation);
  }
}
