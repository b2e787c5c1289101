/** The source of a copy in S3's terms. */
import type { CopySource } from '../../object-store.ts';
import type { S3Place } from '../s3-options.ts';
import { encodeKey } from '../signature.ts';

export interface FullPlace {
  readonly bucket: string;
  /** In full, with the remote's prefix. */
  readonly key: string;
}

export function fullPlaceOf(place: S3Place, source: CopySource): FullPlace {
  return typeof source === 'string' ? { bucket: place.bucket, key: place.keyPrefix + source } : source;
}

/** The value of `x-amz-copy-source`. S3 decodes it. */
export function copySourceOf({ bucket, key }: FullPlace): string {
  return `${bucket}/${encodeKey(key)}`;
}
