/** Checks the passwords and recovery keys of an encrypted repository: that each is there, and as written. */
import { damaged } from '../../../repository/document.ts';
import { listSlots, lostBecause } from '../../../repository/encryption/key-slots.ts';
import { KEY_SLOTS_PREFIX } from '../../../repository/keys.ts';
import type { FindingsReport, VerifyTools } from './findings.ts';

/**
 * One LIST, and a request for each slot; none in a repository that is not encrypted.
 * @param repository Its id, as a ref says. Undefined: no ref can be read.
 */
export async function checkSlots(
  { context: { signal }, store }: Pick<VerifyTools, 'context' | 'store'>,
  repository: string | undefined,
  findings: FindingsReport,
): Promise<void> {
  if (!store.sealing || repository === undefined) return;
  const found = await listSlots(store, repository, { signal });
  for (const fault of found.damaged) findings.report(fault);
  for (const slot of found.lost) findings.report(damaged(KEY_SLOTS_PREFIX + slot.id, lostBecause(slot)));
}
