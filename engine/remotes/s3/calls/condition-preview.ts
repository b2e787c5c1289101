/**
 * Conditions on many bytes. A store that refuses a conditional write may close the connection without reading
 * the body, and its answer is then lost with it (versitygw does so). So:
 *
 * - After a write from memory was cut off, Dray reads the object's head. Without trouble it is one request.
 * - A stream can be read only once, so the head comes first. The write still carries the condition.
 */
import { DrayError } from '../../../api/error.ts';
import type { ObjectInfo, PutOptions, PutOutcome } from '../../object-store.ts';

/** Smaller bodies fit the socket's buffers, so their answers are not lost. */
const CUT_OFF_ABOVE_BYTES = 256 * 1024;

type Head = () => Promise<ObjectInfo | undefined>;

export async function isRefusedBeforehand({ condition }: PutOptions, head: Head): Promise<boolean> {
  if (!condition) return false;
  const found = await head();
  return 'absent' in condition ? found !== undefined : found?.etag !== condition.etag;
}

/**
 * Writes. When the connection breaks and the condition no longer holds, returns `written: false`. This write
 * may itself have changed the object; the caller then sees its bytes as another writer's.
 */
export async function writeOrSeeRefusal(
  { bytes, options, head }: { readonly bytes: Uint8Array; readonly options: PutOptions; readonly head: Head },
  write: () => Promise<PutOutcome>,
): Promise<PutOutcome> {
  try {
    return await write();
  } catch (error) {
    const wasCutOff = error instanceof DrayError && error.code === 'unreachable';
    if (!wasCutOff || bytes.byteLength <= CUT_OFF_ABOVE_BYTES) throw error;
    const isRefused = await isRefusedBeforehand(options, head).catch(() => false);
    if (isRefused) return { written: false };
    throw error;
  }
}
