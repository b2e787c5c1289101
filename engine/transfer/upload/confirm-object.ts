/** Confirms a write: compares the stored object, as the store reports it, with what was sent. */
import { createHash } from 'node:crypto';
import { DrayError } from '../../api/error.ts';
import type { ObjectInfo, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import type { PartSum } from '../compare/part-sums.ts';
import { isMd5 } from './held-parts.ts';

export interface ExpectedObject {
  readonly key: RemoteKey;
  readonly sizeBytes: number;
  /** The sum of the whole content. */
  readonly sum: PartSum;
  /** From the write's answer; '' when it had none. */
  readonly etag: string;
  /** In order, when it was written in parts. */
  readonly parts?: readonly ExpectedPart[];
  readonly signal?: AbortSignal | undefined;
}

export interface ExpectedPart {
  readonly etag: string;
  /** Whether the etag is the MD5 of the bytes; absent when that was not checked. */
  readonly isMd5?: boolean;
}

/**
 * How the content was confirmed: by the checksum of the whole, its MD5, the MD5s of its parts as the store
 * returned them after verifying each, or its size alone, which is all that some stores report.
 */
export type ConfirmedBy = 'checksum' | 'md5' | 'md5OfParts' | 'size';

export interface ConfirmedObject {
  readonly info: ObjectInfo;
  readonly by: ConfirmedBy;
}

/**
 * One HEAD.
 * @throws DrayError `damaged` when the stored object is not what was written, `conflict` when another writer
 * replaced it meanwhile.
 */
export async function confirmObject(store: ObjectStore, expected: ExpectedObject): Promise<ConfirmedObject> {
  const { key, signal, sizeBytes } = expected;
  const info = await store.head(key, { checksums: true, ...(signal && { signal }) });
  if (info === undefined) throw damaged(expected, 'it does not exist');
  if (info.sizeBytes !== sizeBytes)
    throw otherObject(expected, info, `it has ${info.sizeBytes} bytes instead of ${sizeBytes}`);
  const held = wholeSum(info, expected.sum);
  if (held !== undefined) {
    if (held) return { info, by: 'checksum' };
    throw otherObject(expected, info, 'its checksum differs');
  }
  // Another etag does not prove damage: with some kinds of encryption etags only look like MD5s.
  if (info.etag === '' || info.etag !== etagOfParts(expected.parts)) return { info, by: 'size' };
  if (expected.parts?.some(({ isMd5 }) => isMd5 === false)) throw damaged(expected, 'a part has another MD5');
  return { info, by: 'md5OfParts' };
}

/** Whether the store's checksum of the whole is this one; undefined when it keeps none of the kind. */
function wholeSum({ checksums }: ObjectInfo, sum: PartSum): boolean | undefined {
  if (checksums?.covers !== 'whole') return undefined;
  if ('crc64nvme' in sum)
    return checksums.crc64nvme === undefined ? undefined : checksums.crc64nvme === sum.crc64nvme;
  return checksums.crc32 === undefined ? undefined : checksums.crc32 === sum.crc32;
}

/** S3's rule: the MD5 of the parts' MD5s, and their number. Undefined when the parts' etags are not MD5s. */
function etagOfParts(parts: ExpectedObject['parts']): string | undefined {
  if (!parts?.every(({ etag }) => isMd5(etag))) return undefined;
  const hash = createHash('md5');
  for (const { etag } of parts) hash.update(etag, 'hex');
  return `${hash.digest('hex')}-${parts.length}`;
}

function otherObject(expected: ExpectedObject, { etag }: ObjectInfo, why: string): DrayError {
  if (expected.etag === '' || etag === '' || etag === expected.etag) return damaged(expected, why);
  return new DrayError(
    'conflict',
    `${expected.key} was replaced by another writer right after it was written.`,
    {
      data: { key: expected.key },
    },
  );
}

function damaged({ key }: ExpectedObject, why: string): DrayError {
  return new DrayError(
    'damaged',
    `${key} was damaged during the upload: ${why}. Do not use it; run the command again.`,
    {
      data: { key },
    },
  );
}
