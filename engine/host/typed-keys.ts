/**
 * The keys of stores that were typed into a window without a keyring. They exist only in this thread's
 * memory: no file, log or answer contains them, and a new engine has none.
 */
import { DrayError } from '../api/error.ts';
import type { AccessKeys } from '../api/host/remotes.ts';
import type { JobContext } from '../api/jobs/jobs.ts';
import { withKeptKeys } from '../remotes/s3/keys/kept-keys.ts';

const PROFILES_MAX = 200;

type Environment = JobContext['environment'];

export interface TypedKeys {
  readonly profiles: () => readonly string[];
  /** @param keys Undefined: removes the keys of the profile. @throws `usage` if too many are held. */
  readonly hold: (profile: string, keys: AccessKeys | undefined) => void;
  /** The environment with these keys, for jobs. */
  readonly over: (environment: Environment) => Environment;
}

export function createTypedKeys(): TypedKeys {
  const held = new Map<string, AccessKeys>();
  return {
    profiles: () => [...held.keys()].sort(),
    hold(profile, keys) {
      if (keys && held.size >= PROFILES_MAX && !held.has(profile))
        throw new DrayError(
          'usage',
          `Keys of ${PROFILES_MAX} remotes are already held. Remove some that you do not use.`,
        );
      if (keys) held.set(profile, keys);
      else held.delete(profile);
    },
    over: (environment) =>
      held.size === 0 ? environment : withKeptKeys(environment, Object.fromEntries(held)),
  };
}
