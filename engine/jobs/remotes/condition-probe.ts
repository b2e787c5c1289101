/** Tests a store's conditional writes. Safe pushes from several machines to one branch depend on them. */
import { DrayError } from '../../api/error.ts';
import type { ObjectStore, PutOptions, RemoteKey } from '../../remotes/object-store.ts';

/** Undefined: conditional writes hold. Otherwise how the store violated them. */
export type ConditionFault = string | undefined;

/** Tests with one writer: "if absent" and "if this etag". At most 5 requests. The caller removes the key. */
export async function probeConditions(
  store: ObjectStore,
  key: RemoteKey,
  signal: AbortSignal,
): Promise<ConditionFault> {
  const put = (text: string, condition: PutOptions['condition']) =>
    store.put(key, bytesOf(text), condition ? { signal, condition } : { signal });
  return faultOrUnsupported(async () => {
    const first = await put('first', { absent: true });
    if (!first.written) return 'it refused to write an absent object';
    const again = await put('again', { absent: true });
    if (again.written) return 'it overwrote an object although the condition was that none exists';
    const second = await put('second', { etag: first.etag });
    if (!second.written) return 'it refused to replace an object by its current etag';
    if (second.etag === first.etag) return 'its etag did not change with the content';
    const stale = await put('stale', { etag: first.etag });
    if (stale.written) return 'it replaced an object by an outdated etag';
    const kept = await store.read(key, { signal, maxBytes: 100 });
    if (kept && new TextDecoder().decode(kept.bytes) === 'second') return undefined;
    return 'it stored a write that it had reported as refused';
  });
}

/**
 * Tests with racing writers on one key, for a new object and over an old one: exactly one must win each race.
 */
export async function probeRaces(
  store: ObjectStore,
  race: { readonly prefix: string; readonly writers: number; readonly rounds: number },
  signal: AbortSignal,
): Promise<ConditionFault> {
  return faultOrUnsupported(async () => {
    for (let round = 0; round < race.rounds; round += 1) {
      const key = `${race.prefix}${round}`;
      const created = await raceOnce(store, key, race.writers, { absent: true }, signal);
      if (created.fault) return `${created.fault}, each on the condition that no object exists`;
      const swapped = await raceOnce(store, key, race.writers, { etag: created.etag }, signal);
      if (swapped.fault) return `${swapped.fault}, each with the same etag`;
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
  return { etag: '', fault: 'a losing writer overwrote the winner of a race' };
}

/**
 * A store may answer "try again" (409 on S3) more often than the retry wrapper retries. Such a writer did not
 * win.
 */
function isUndecided(error: unknown): boolean {
  return error instanceof DrayError && error.code === 'remoteFailed';
}

async function faultOrUnsupported(probe: () => Promise<ConditionFault>): Promise<ConditionFault> {
  try {
    return await probe();
  } catch (error) {
    if (error instanceof DrayError && error.code === 'unsupported')
      return 'it does not support conditional writes';
    throw error;
  }
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
