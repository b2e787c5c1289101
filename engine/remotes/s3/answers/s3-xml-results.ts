/** The results of multipart uploads, copies and removals. */
import { excerpt } from '../../../api/error.ts';
import type { ObjectChecksums } from '../../object-store.ts';
import { objectChecksumsOf, type RawChecksums } from '../s3-values.ts';
import { elementsOf, textOf, unquote } from './s3-xml.ts';

/** The etag and checksums in the result of a completed upload or a copy. */
export function parseWritten(xml: string): {
  readonly etag: string;
  readonly checksums: ObjectChecksums | undefined;
} {
  return { etag: unquote(textOf(xml, 'ETag') ?? ''), checksums: objectChecksumsOf(rawChecksums(xml)) };
}

export function parseUploadId(xml: string): string {
  return textOf(xml, 'UploadId') ?? '';
}

export interface RemovalFailure {
  /** In full, with the remote's prefix. */
  readonly key: string;
  readonly code: string | undefined;
  readonly message: string | undefined;
}

export interface Removal {
  /** In full, with the remote's prefix; of keys that were not there too. */
  readonly removed: ReadonlySet<string>;
  readonly failed: readonly RemovalFailure[];
}

/** The answer of DeleteObjects. A store may leave keys out. */
export function parseRemoval(xml: string): Removal {
  const shown = (element: string, name: string) => {
    const text = textOf(element, name);
    return text === undefined ? undefined : excerpt(text);
  };
  const failures = [...elementsOf(xml, 'Error')].map((element) => ({
    key: textOf(element, 'Key') ?? '',
    code: shown(element, 'Code'),
    message: shown(element, 'Message'),
  }));
  const isAbsent = ({ code }: RemovalFailure) => code === 'NoSuchKey';
  const removed = [...elementsOf(xml, 'Deleted')].map((element) => textOf(element, 'Key') ?? '');
  return {
    removed: new Set([...removed, ...failures.filter(isAbsent).map(({ key }) => key)]),
    failed: failures.filter((failure) => !isAbsent(failure)),
  };
}

function rawChecksums(xml: string): RawChecksums {
  return {
    crc64nvme: textOf(xml, 'ChecksumCRC64NVME'),
    crc32: textOf(xml, 'ChecksumCRC32'),
    sha256: textOf(xml, 'ChecksumSHA256'),
    type: textOf(xml, 'ChecksumType'),
  };
}
