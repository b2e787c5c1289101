/** Whether a store's conditional writes hold: what pushes by several machines to one branch rest on. */
import { DrayError } from '../../api/error.ts';
import type { ObjectStore, PutOptions, RemoteKey } from '../../remotes/object-store.ts';

/** Undefined: they hold. Otherwise what the store did that it must not do. */
export type ConditionFault = string | undefined;

/** One writer: what must be absent, and what must be the object named. 5 requests at most. The caller removes the key. */
export async function probeConditions(
  store: ObjectStore,
  key: RemoteKey,
  signal: AbortSignal,
): Promise<ConditionFault> {
  const put = (text: string, condition: PutOptions['condition']) =>
    store.put(key, bytesOf(text), condition ? { signal, condition } : { signal });
  return faultOrUnsupported(async () => {
    const first = await put('first', { absent: true });
    if (!first.written) return 'it refused to write an object that was absent';
    const again = await put('again', { absent: true });
    if (again.written) return 'it wrote over an object under the condition that there is none';
    const second = await put('second', { etag: first.etag });
    if (!second.written) return 'it refused to replace an object under its own etag';
    if (second.etag === first.etag) return 'its etag did not change with the content';
    const stale = await put('stale', { etag: first.etag });
    if (stale.written) return 'it replaced an object under the etag of an older one';
    const kept = await store.read(key, { signal, maxBytes: 100 });
    if (kept && new TextDecoder().decode(kept.bytes) === 'second') return undefined;
    return 'a write that it reported as refused happened all the same';
  });
}

/** Writers at once for one key, each round for a new object and over an old one: exactly one must win. */
export async function probeRaces(
  store: ObjectStore,
  race: { readonly prefix: string; readonly writers: number; readonly rounds: number },
  signal: AbortSignal,
): Promise<ConditionFault> {
  return faultOrUnsupported(async () => {
    for (let round = 0; round < race.rounds; round += 1) {
      const key = `${race.prefix}${round}`;
      const created = await raceOnce(store, key, race.writers, { absent: true }, signal);
      if (created.fault) return `${created.fault}, each under the condition that there is no object`;
      const swapped = await raceOnce(store, key, race.writers, { etag: created.etag }, signal);
      if (swapped.fault) return `${swapped.fault}, each under the etag of the same object`;
    }
    return undefined;
  });
}

interface RaceResult {
  readonly etag: string;
  readonly fault?: string;
}

async function raceOnce(
  store: ObjectStore,
  key: RemoteKey,
  writers: number,
  condition: NonNullable<PutOptions['condition']>,
  signal: AbortSignal,
): Promise<RaceResult> {
  const texts = Array.from(
    { length: writers },
    (_, writer) => `${JSON.stringify(condition)} writer ${writer}`,
  );
  const settled = await Promise.allSettled(
    texts.map((text) => store.put(key, bytesOf(text), { condition, signal })),
  );
  const failed = settled.find((outcome) => outcome.status === 'rejected' && !isUndecided(outcome.reason));
  if (failed?.status === 'rejected') throw failed.reason;
  const winners = settled.flatMap((outcome, writer) =>
    outcome.status === 'fulfilled' && outcome.value.written ? [{ writer, etag: outcome.value.etag }] : [],
  );
  const winner = winners[0];
  if (!winner || winners.length > 1)
    return { etag: '', fault: `${winners.length} of ${writers} racing writers won` };
  const kept = await store.read(key, { signal, maxBytes: 1000 });
  if (kept && new TextDecoder().decode(kept.bytes) === texts[winner.writer]) return { etag: winner.etag };
  return { etag: '', fault: 'the winner of a race was written over by a writer that lost' };
}

/** A writer may be told to try again (409 on S3) more often than the retry wrapper does: it did not win. */
function isUndecided(error: unknown): boolean {
  return error instanceof DrayError && error.code === 'remoteFailed';
}

async function faultOrUnsupported(probe: () => Promise<ConditionFault>): Promise<ConditionFault> {
  try {
    return await probe();
  } catch (error) {
    if (error instanceof DrayError && error.code === 'unsupported')
      return 'it does not know conditional writes';
    throw error;
  }
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
