/** Removes objects that one request could not remove together, one by one, to find out which remain. */
import { DrayError } from '../../api/error.ts';
import { type ObjectStore, STILL_THERE } from '../../remotes/object-store.ts';
import type { AdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';

/**
 * @param error Of the request for all. If it was about objects that remained without an error, each key is
 *   asked for after its removal.
 */
export async function removeEach(
  keys: readonly string[],
  error: DrayError,
  {
    limit,
    onFailed,
    onRemoved,
    signal,
    store,
  }: {
    readonly store: ObjectStore;
    readonly limit: AdaptiveLimit;
    readonly signal: AbortSignal;
    readonly onRemoved?: (key: string) => void;
    readonly onFailed: (key: string, error: unknown) => void;
  },
): Promise<void> {
  const isDoubtful = error.data.reason === STILL_THERE;
  const ask = <T>(call: () => Promise<T>) => limit.run(call, { bytes: 0, signal });
  for (const key of keys) {
    try {
      await ask(() => store.delete([key], { signal }));
      if (isDoubtful && (await ask(() => store.head(key, { signal })))) throw stillThere(key);
      onRemoved?.(key);
    } catch (refused) {
      onFailed(key, refused);
    }
  }
}

function stillThere(key: string): DrayError {
  return new DrayError(
    'remoteFailed',
    `${key} is still there, although the store said twice that it removed it. Look for a rule of the bucket that keeps objects.`,
    { retry: 'no', data: { key, reason: STILL_THERE } },
  );
}
