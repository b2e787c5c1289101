/** Typed keys of stores, which the engine holds for windows that have no keyring. */
import type { HandlersOf } from './port/host-call.ts';

export const KEYS: HandlersOf<'keys'> = {
  'keys.list': async (_input, { host }) => ({ profiles: host.typedProfiles() }),
  'keys.hold': async ({ keys, profile }, { host }) => {
    host.holdKeys(profile, keys);
    return {};
  },
};
