/** A copy to the slow store that is held half-way. */
import type { Locator } from 'playwright';
import { expect } from 'vitest';
import { isPart } from '../../servers/request-gate.ts';
import { askEngine } from '../ask-engine.ts';
import type { OpenWindow } from '../open-window.ts';
import { rowOf, WAIT, writeLarge } from '../page/transfer-rows.ts';
import type { SlowStore } from './slow-store.ts';

export const HELD_COPY_PARTS = 3;
const PART_BYTES = 8 * 1024 ** 2;

export interface HeldCopy {
  readonly bytes: Buffer;
  /** On the screen of transfers. */
  readonly row: Locator;
}

/** Resolves when one part of the file `large.bin` has arrived and the next ones are held. */
export async function startHeldCopy(
  store: SlowStore,
  { folder, page }: OpenWindow,
  name: string,
): Promise<HeldCopy> {
  await store.server.resetRequests();
  store.gate.hold(isPart, 1);
  const { bytes, source } = writeLarge(folder, name, HELD_COPY_PARTS * PART_BYTES);
  const destination = `s3://${store.server.bucket}/${name}/`;
  await askEngine(page, 'transfers.start', { kind: 'copy', source, destination });
  await expect.poll(() => store.answered('UploadPart'), WAIT).toBe(1);
  return { bytes, row: rowOf(page, `Copy ${name}`) };
}
