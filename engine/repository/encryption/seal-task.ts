/** The work of one message to a thread that seals and opens. Content lies in shared memory. */
import type { ByteRange } from '../../remotes/object-store.ts';
import { type Authentic, openBytes, openSealedRange, sealBytes } from '../../sealing/sealed-content.ts';

export type SealingTask =
  | {
      readonly kind: 'seal';
      readonly cipherKey: Uint8Array;
      readonly content: Uint8Array;
      readonly into: Uint8Array;
    }
  | (OpenTask & { readonly kind: 'open' });

export interface OpenTask {
  readonly object: Authentic;
  /** All of the object, or the frames around the range. */
  readonly stored: Uint8Array;
  readonly range?: ByteRange & { readonly objectBytes: number };
}

/**
 * Seals content, or opens it in place.
 * @returns The CRC-32 of what was sealed; or where the content begins in `stored`, its length, and the
 * object's size
 */
export function runSealTask(task: SealingTask): readonly number[] {
  if (task.kind === 'seal') return [sealBytes(task.cipherKey, task.content, task.into).sum];
  const { content, sizeBytes } = openTask(task, task.stored);
  return [content.byteOffset - task.stored.byteOffset, content.length, sizeBytes];
}

/** @param into As for `openBytes` */
export function openTask({ object, range, stored }: OpenTask, into?: Uint8Array) {
  return range ? openSealedRange(object, stored, range, into) : openBytes(object, stored, into);
}
