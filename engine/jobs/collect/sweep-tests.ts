/**
 * Removes what killed tests of a store have left below their throw-away prefixes (`remotes/try-remote.ts`).
 * No commit can name such a key, so no round is needed.
 */
import type { Clock } from '../../base/clock.ts';
import { isTestKey, TEST_PREFIX } from '../../repository/keys.ts';
import type { WalkTools } from '../history/verify/find-commits.ts';
import { removeKeys } from './condemned-keys.ts';

/** Whatever the grace: a test that runs now would find that the store loses objects. */
const AGE_MIN_SECONDS = 60 * 60;

/** One LIST, and one DELETE if there is anything; in a dry run only the LIST. */
export async function sweepTests(
  tools: WalkTools & { readonly clock: Clock },
  { dryRun, graceSeconds }: { readonly dryRun: boolean; readonly graceSeconds: number },
): Promise<void> {
  const { clock, context, store } = tools;
  const { signal } = context;
  const youngMs = clock.nowMs() - Math.max(graceSeconds, AGE_MIN_SECONDS) * 1_000;
  for (let continuation: string | undefined; ; ) {
    const from = continuation === undefined ? {} : { continuation };
    const page = await store.list({ prefix: TEST_PREFIX, ...from }, { signal });
    const old = page.objects.filter(({ key, modifiedMs }) => isTestKey(key) && modifiedMs <= youngMs);
    if (old.length > 0 && !dryRun)
      await removeKeys(
        tools,
        old.map(({ key }) => key),
        signal,
      );
    continuation = page.continuation;
    if (continuation === undefined) return;
  }
}
