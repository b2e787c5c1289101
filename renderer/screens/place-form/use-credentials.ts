/** The keys and tokens that forms of places know, and how typed ones reach the engine. */

import { useQuery } from '@tanstack/react-query';
import type { SecretsState } from '../../../engine/api/desktop-bridge.ts';
import type { KeySources } from '../../../engine/api/host/remotes.ts';
import type { KnownPeer } from '../../../engine/api/peers.ts';
import { useAsk, useHost, useRefresh } from '../../host/use-host.tsx';
import { type PlaceFields, profileFor, urlOf } from './place-fields.ts';

export interface Credentials {
  /** Undefined until they arrive. */
  readonly sources: KeySources | undefined;
  /** Machines that have a token or are trusted; undefined until they arrive. */
  readonly peers: readonly KnownPeer[] | undefined;
  /** Only in the desktop app, which alone stores keys; undefined elsewhere. */
  readonly kept: SecretsState | undefined;
  /** The fields with a profile for typed keys. */
  readonly withProfile: (fields: PlaceFields) => PlaceFields;
  /** Saves what was typed, runs the work with its URL, and removes the keys again if that fails. */
  readonly use: <T>(fields: PlaceFields, work: (url: string) => Promise<T>) => Promise<T>;
  readonly forgetKeys: (profile: string) => Promise<void>;
}

export function useCredentials(): Credentials {
  const sources = useAsk('remotes.keySources', {}, { onReturn: true }).data;
  const peers = useAsk('peers.list', {}, { onReturn: true }).data?.peers;
  const host = useHost();
  const refresh = useRefresh();
  const secrets = window.dray?.secrets;
  const kept = useQuery({
    queryKey: ['secrets'],
    queryFn: () => secrets!.state(),
    enabled: secrets !== undefined,
  });
  const changed = async (): Promise<void> => {
    await Promise.all([kept.refetch(), refresh('remotes.keySources')]);
  };
  const withProfile = (fields: PlaceFields): PlaceFields => {
    if (fields.kind !== 's3' || !fields.typedKeys) return fields;
    const known = new Set(sources?.profiles.map(({ name }) => name));
    return { ...fields, profile: profileFor(fields, known) };
  };
  return {
    sources,
    peers,
    kept: kept.data,
    withProfile,
    async use(given, work) {
      if (given.kind === 'peer' && given.token !== '') {
        await host.ask('peers.login', { peer: given.host, token: given.token });
        await refresh('peers.list');
      }
      const fields = withProfile(given);
      if (fields.kind !== 's3' || !fields.typedKeys || !secrets) return work(urlOf(fields));
      await secrets.saveKeys(fields.profile, fields.typedKeys);
      try {
        return await work(urlOf(fields));
      } catch (error) {
        await secrets.saveKeys(fields.profile);
        throw error;
      } finally {
        await changed();
      }
    },
    async forgetKeys(profile) {
      await secrets?.saveKeys(profile);
      await changed();
    },
  };
}
