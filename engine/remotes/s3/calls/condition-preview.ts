/**
 * Conditions on many bytes. A store that refuses a conditional write may close the connection without reading the body, and its
 * answer is then lost with it (versitygw does so). So:
 *
 * - A write from memory that was cut off looks at the object afterwards. One request when all goes well.
 * - A stream can be read only once, so the look comes first; the write still carries the condition.
 */
import { DrayError } from '../../../api/error.ts';
import type { ObjectInfo, PutOptions, PutOutcome } from '../../object-store.ts';

/** Smaller bodies fit the socket's buffers, and the answer to them is never lost this way. */
const CUT_OFF_ABOVE_BYTES = 256 * 1024;

type Head = () => Promise<ObjectInfo | undefined>;

export async function isRefusedBeforehand({ condition }: PutOptions, head: Head): Promise<boolean> {
  if (!condition) return false;
  const found = await head();
  return 'absent' in condition ? found !== undefined : found?.etag !== condition.etag;
}

/**
 * Makes the write; when its connection breaks and the condition does not hold by then, the outcome is `written: false`. It may
 * have been this very write that changed the object: then its bytes are there, and the caller is told of them as of another's.
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
