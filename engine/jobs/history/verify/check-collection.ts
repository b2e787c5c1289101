/** Checks the state of the collection of garbage, and the lists that writers and collectors need. */
import { DrayError } from '../../../api/error.ts';
import { decodeAvoidList } from '../../../repository/collection/avoid-list.ts';
import { readCollectionState, type StoredState } from '../../../repository/collection/collection-state.ts';
import { goneRef } from '../../../repository/collection/gone-ref.ts';
import { decodeKeyList } from '../../../repository/collection/key-list.ts';
import {
  decodeRefRecord,
  lostRefs,
  readLastRecord,
  type SeenRef,
} from '../../../repository/collection/ref-record.ts';
import { readList } from '../../../repository/collection/stored-list.ts';
import { damaged } from '../../../repository/document.ts';
import { COLLECTION_KEY } from '../../../repository/keys.ts';
import type { StoredRef } from '../../../repository/refs.ts';
import type { ReadRefs } from './find-commits.ts';
import { type FindingsReport, isFinding, type VerifyTools } from './findings.ts';

/**
 * One request, and one for each list; none in a repository that does not collect garbage.
 * @param refs As they were read before.
 * @param present All of them, for a report of those that are lost.
 * @returns Whether there was a collection, as far as that is known.
 */
export async function checkCollection(
  tools: Pick<VerifyTools, 'context' | 'store'>,
  refs: readonly StoredRef[],
  findings: FindingsReport,
  present?: Present,
): Promise<boolean> {
  const mayCollect = refs.some(({ collects }) => collects) || (present && refs.length === 0);
  if (!mayCollect) return false;
  const call = { signal: tools.context.signal };
  try {
    let stored = await readCollectionState(tools.store, call);
    checkRound(stored, refs);
    let { faults, recorded } = await faultyLists(tools, stored);
    while (faults.length > 0) {
      const current = await readCollectionState(tools.store, call);
      if (current?.etag === stored?.etag) {
        for (const fault of faults) findings.report(fault);
        return true;
      }
      // A collection went on in between, and has removed lists that it no longer needs.
      stored = current;
      ({ faults, recorded } = await faultyLists(tools, stored));
    }
    if (present) reportLost(tools, recorded, { findings, present });
    return stored !== undefined;
  } catch (error) {
    findings.report(error);
    return true;
  }
}

/** One request, and one for the record. What else is damaged there is reported by others. */
export async function reportLostRefs(
  tools: Pick<VerifyTools, 'context' | 'store'>,
  present: Present,
  findings: FindingsReport,
): Promise<void> {
  const reading = readLastRecord(tools.store, { signal: tools.context.signal });
  const { refs } = await reading.catch((error: unknown) => {
    if (!isFinding(error)) throw error;
    return { refs: [] };
  });
  reportLost(tools, refs, { findings, present });
}

/** What was there when the refs were read. */
type Present = ReadRefs['present'];

/** The record of the last round names refs that must be there. */
function reportLost(
  { store }: Pick<VerifyTools, 'store'>,
  recorded: readonly SeenRef[],
  { findings, present }: { readonly findings: FindingsReport; readonly present: Present },
): void {
  for (const { commit, name } of lostRefs(recorded, present)) findings.report(goneRef(store, name, commit));
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
): Promise<{ readonly faults: readonly DrayError[]; readonly recorded: readonly SeenRef[] }> {
  const { avoid = [], candidates = [], refs, rescued = [] } = stored?.state ?? {};
  let recorded: readonly SeenRef[] = [];
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
  if (refs !== undefined) await check(refs, (name, raw) => (recorded = decodeRefRecord(name, raw)));
  return { faults, recorded };
}
