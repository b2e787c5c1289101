/** Checks the state of the collection of garbage, and the lists that writers and collectors need. */
import { DrayError } from '../../../api/error.ts';
import { decodeAvoidList } from '../../../repository/collection/avoid-list.ts';
import { readCollectionState, type StoredState } from '../../../repository/collection/collection-state.ts';
import { decodeKeyList } from '../../../repository/collection/key-list.ts';
import { readList } from '../../../repository/collection/stored-list.ts';
import { damaged } from '../../../repository/document.ts';
import { COLLECTION_KEY } from '../../../repository/keys.ts';
import type { StoredRef } from '../../../repository/refs.ts';
import { type FindingsReport, isFinding, type VerifyTools } from './findings.ts';

/**
 * One request, and one for each list; none in a repository that does not collect garbage.
 * @param refs As they were read before.
 * @returns Whether there was a collection, as far as that is known.
 */
export async function checkCollection(
  tools: Pick<VerifyTools, 'context' | 'store'>,
  refs: readonly StoredRef[],
  findings: FindingsReport,
): Promise<boolean> {
  if (!refs.some(({ collects }) => collects)) return false;
  const call = { signal: tools.context.signal };
  try {
    let stored = await readCollectionState(tools.store, call);
    checkRound(stored, refs);
    for (let faults = await faultyLists(tools, stored); faults.length > 0; ) {
      const current = await readCollectionState(tools.store, call);
      if (current?.etag === stored?.etag) {
        for (const fault of faults) findings.report(fault);
        return true;
      }
      // A collection went on in between, and has removed lists that it no longer needs.
      stored = current;
      faults = await faultyLists(tools, stored);
    }
    return stored !== undefined;
  } catch (error) {
    findings.report(error);
    return true;
  }
}

/** Every ref was read before the state, which never goes back. */
function checkRound(stored: StoredState | undefined, refs: readonly StoredRef[]): void {
  const round = stored?.state.round ?? 0;
  const ahead = refs.find(({ epoch }) => epoch > round);
  if (!ahead) return;
  const why = stored ? `it is of round ${round}` : 'it is missing';
  throw damaged(COLLECTION_KEY, `${why}, but refs/${ahead.name} knows round ${ahead.epoch}`);
}

async function faultyLists(
  { context: { signal }, store }: Pick<VerifyTools, 'context' | 'store'>,
  stored: StoredState | undefined,
): Promise<readonly DrayError[]> {
  const { avoid = [], candidates = [], rescued = [] } = stored?.state ?? {};
  const faults: DrayError[] = [];
  const check = async (name: string, decode: (name: string, raw: Uint8Array) => unknown) => {
    try {
      decode(name, await readList(store, name, { signal }));
    } catch (error) {
      if (!(error instanceof DrayError) || !isFinding(error)) throw error;
      faults.push(error);
    }
  };
  // One after the other: a list may take much memory.
  for (const name of avoid) await check(name, decodeAvoidList);
  for (const name of [...candidates, ...rescued]) await check(name, decodeKeyList);
  return faults;
}
