/**
 * The metadata of an object that a copy writes: its time under rclone's key, its type, and what the user
 * requested.
 */

import type { CopyRequest } from '../../../api/jobs/trees.ts';
import { formatObjectTime, MTIME_METADATA } from '../../../model/object-time.ts';
import { MODE_METADATA } from '../../../remotes/file-calls.ts';
import { keptDescription } from '../../../remotes/kept-description.ts';
import type { ObjectDescription, ObjectInfo } from '../../../remotes/object-store.ts';
import { contentTypeOf } from './object-content-type.ts';

type Wishes = Pick<CopyRequest, 'contentType' | 'metadata' | 'storageClass'>;

/** For an object from a file. */
export function describeFile(
  wishes: Wishes,
  file: { readonly path: string; readonly mtimeNs: bigint; readonly mode?: number },
): ObjectDescription {
  const { contentType, metadata, storageClass } = wishes;
  return {
    contentType: contentType ?? contentTypeOf(file.path),
    metadata: {
      ...metadata,
      [MTIME_METADATA]: formatObjectTime(file.mtimeNs),
      ...(file.mode === undefined ? {} : { [MODE_METADATA]: file.mode.toString(8) }),
    },
    ...(storageClass === undefined ? {} : { storageClass }),
  };
}

/** For an object from a store: it keeps its description, and gets a time if it had none. */
export function describeObject(wishes: Wishes, info: ObjectInfo): ObjectDescription {
  const { contentType, metadata, storageClass } = wishes;
  const written = formatObjectTime(BigInt(Math.round(info.modifiedMs)) * 1_000_000n);
  return {
    ...keptDescription(info),
    ...(contentType === undefined ? {} : { contentType }),
    metadata: { [MTIME_METADATA]: written, ...info.metadata, ...metadata },
    ...(storageClass === undefined ? {} : { storageClass }),
  };
}

/** Whether the user requests another description than the source object's. */
export function wantsOtherDescription({ contentType, metadata }: Wishes): boolean {
  return contentType !== undefined || metadata !== undefined;
}
