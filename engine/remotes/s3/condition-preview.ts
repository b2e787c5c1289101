/**
 * A look at the object before many bytes are sent under a condition. A store that refuses such a write may close the
 * connection without reading the body, and its answer is then lost with it (versitygw does so); besides, the bytes
 * would travel for nothing. The write still carries the condition: this look decides only against it.
 */
import type { ObjectInfo, PutOptions } from '../object-store.ts';

/** Bodies below it fit the socket's buffers and are sent without a look. */
export const PREVIEW_ABOVE_BYTES = 256 * 1024;

export async function isRefusedBeforehand(
  { condition }: PutOptions,
  head: () => Promise<ObjectInfo | undefined>,
): Promise<boolean> {
  if (!condition) return false;
  const found = await head();
  return 'absent' in condition ? found !== undefined : found?.etag !== condition.etag;
}
