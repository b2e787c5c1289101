/** Converts the answer of a HEAD to an item of a tree. */
import { MTIME_METADATA, parseObjectTime } from '../../model/object-time.ts';
import type { TreeItem } from '../../model/tree-item.ts';
import type { ObjectInfo } from '../../remotes/object-store.ts';

export function headItemOf(path: string, info: ObjectInfo): TreeItem {
  const mtimeNs = mtimeOfObject(info);
  return {
    path,
    kind: 'object',
    wasAsked: true,
    sizeBytes: info.sizeBytes,
    token: info.etag,
    modifiedMs: info.modifiedMs,
    ...(mtimeNs === undefined ? {} : { mtimeNs }),
  };
}

/** In nanoseconds since the epoch, as given when the object was written; undefined when it was not given. */
export function mtimeOfObject({ metadata }: Pick<ObjectInfo, 'metadata'>): bigint | undefined {
  const text = metadata?.[MTIME_METADATA];
  return text === undefined ? undefined : parseObjectTime(text);
}
