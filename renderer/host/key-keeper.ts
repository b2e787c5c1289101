/** Stores typed keys: in the desktop's keyring, or for a browser in the engine's memory. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { AccessKeys } from '../../engine/api/host/remotes.ts';
import type { SecretsState } from '../../engine/api/window/desktop-bridge.ts';
import { useHost } from './use-host.tsx';

export interface KeyKeeper {
  /** `computer`: saved, encrypted by the system. `engine`: in the engine's memory, until it ends. */
  readonly keptBy: 'computer' | 'engine';
  /** Undefined until it arrives. */
  readonly state: SecretsState | undefined;
  /** Resolves once the engine has the keys. @param keys Undefined: removes the keys of the profile. */
  readonly keep: (profile: string, keys?: AccessKeys) => Promise<void>;
}

export function useKeyKeeper(): KeyKeeper {
  const host = useHost();
  const client = useQueryClient();
  const secrets = window.dray?.secrets;
  const { data: state } = useQuery<SecretsState>({
    queryKey: ['keys.list'],
    queryFn: async () =>
      secrets ? secrets.state() : { ...(await host.ask('keys.list', {})), isAvailable: true },
  });
  return {
    keptBy: secrets ? 'computer' : 'engine',
    state,
    async keep(profile, keys) {
      // Sent directly, because the query client would keep the keys in memory for minutes.
      if (secrets) await secrets.saveKeys(profile, keys);
      else await host.ask('keys.hold', { profile, ...(keys ? { keys } : {}) });
      const changed = ['keys.list', 'remotes.keySources'];
      await Promise.all(changed.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  };
}
