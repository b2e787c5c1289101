/** Writes a buffer that is too large for one request to a peer. */
import { crc64Nvme } from '../../checksums/crc64-nvme.ts';
import type { MultipartStore, PartInfo, PutOptions, PutOutcome } from '../object-store.ts';

const PART_BYTES = 8 * 1024 * 1024;

/**
 * One part after another, each with its checksum. If it fails, or its condition does not hold, nothing is
 * left behind.
 */
export async function putLarge(
  multipart: MultipartStore,
  key: string,
  bytes: Uint8Array,
  options: PutOptions,
): Promise<PutOutcome> {
  const uploadId = await multipart.create(key, {
    ...options,
    checksum: 'crc64nvme',
    sizeBytes: bytes.byteLength,
    partSizeBytes: PART_BYTES,
  });
  const upload = { key, uploadId };
  const call = options.signal ? { signal: options.signal } : {};
  const parts: PartInfo[] = [];
  try {
    for (let at = 0; at < bytes.byteLength; at += PART_BYTES) {
      const part = bytes.subarray(at, at + PART_BYTES);
      const checksum = { crc64nvme: crc64Nvme(part) };
      parts.push(await multipart.uploadPart(upload, parts.length + 1, part, { ...call, checksum }));
    }
    const outcome = await multipart.complete(upload, parts, options);
    if (!outcome.written) await multipart.abort(upload);
    return outcome;
  } catch (error) {
    // Without the signal, which may have stopped the upload.
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
}
