/**
 * Conditions on many bytes. A store that refuses a conditional write may close the connection without reading
 * the body, and its answer is then lost with it (versitygw does so). So Dray reads the object's head after a
 * write from memory was cut off. Without trouble it is one request.
 */
import { DrayError } from '../../../api/error.ts';
import type { PutOptions, PutOutcome } from '../../object-store.ts';
import { type HeadOfTarget, isRefusedBeforehand } from '../../stream-in-parts.ts';

/** Smaller bodies fit the socket's buffers, so their answers are not lost. */
const CUT_OFF_ABOVE_BYTES = 256 * 1024;

/**
 * Writes. When the connection breaks and the condition no longer holds, returns `written: false`. This write
 * may itself have changed the object; the caller then sees its bytes as another writer's.
 */
export async function writeOrSeeRefusal(
  {
    bytes,
    options,
    head,
  }: { readonly bytes: Uint8Array; readonly options: PutOptions; readonly head: HeadOfTarget },
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
