/** Items that a destination cannot store under their names: each is named, left out and counts as failed. */
import { DrayError } from '../../../api/error.ts';
import { checkEntryPath } from '../../../model/safe-path.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { TreeSide } from '../sides.ts';

/** S3's limit for a key, in bytes of UTF-8. */
const KEY_BYTES_MAX = 1024;

export function nameRefuser(
  destination: TreeSide,
  platform: string = process.platform,
): (item: TreeItem) => DrayError | undefined {
  return destination.kind === 'local'
    ? (item) => refuseFile(item, platform)
    : (item) => refuseKey(item, Buffer.byteLength(destination.store.place?.keyPrefix ?? ''));
}

function refuseFile({ path, special }: TreeItem, platform: string): DrayError | undefined {
  const why = checkEntryPath(path, { kind: special?.kind ?? 'file', platform });
  if (why === undefined) return undefined;
  return new DrayError('unsafePath', `"${path}" was left out, because as a local path ${why}.`, {
    data: { path },
  });
}

function refuseKey({ path }: TreeItem, prefixBytes: number): DrayError | undefined {
  // A UTF-16 unit takes at most three bytes in UTF-8.
  if (path.length * 3 + prefixBytes <= KEY_BYTES_MAX) return undefined;
  const bytes = Buffer.byteLength(path) + prefixBytes;
  if (bytes <= KEY_BYTES_MAX) return undefined;
  return new DrayError(
    'unsafePath',
    `"${path}" was left out: its key would have ${bytes} bytes, and the limit is ${KEY_BYTES_MAX}.`,
    {
      data: { path },
    },
  );
}
