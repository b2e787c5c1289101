/** The keys and tokens that forms of places know, and how typed ones reach the engine. */

import type { KeySources } from '../../../engine/api/host/remotes.ts';
import type { KnownPeer } from '../../../engine/api/jobs/peers.ts';
import { keysOf } from '../../design/controls/key-pair.tsx';
import { type KeyKeeper, useKeyKeeper } from '../../host/key-keeper.ts';
import { useAsk, useHost, useRefresh } from '../../host/use-host.tsx';
import { type PlaceFields, profileFor, urlOf } from './place-fields.ts';

export interface Credentials {
  /** Undefined until they arrive. */
  readonly sources: KeySources | undefined;
  /** Machines that have a token or are trusted; undefined until they arrive. */
  readonly peers: readonly KnownPeer[] | undefined;
  readonly keeper: KeyKeeper;
  /** The fields with a profile for typed keys. */
  readonly withProfile: (fields: PlaceFields) => PlaceFields;
  /** Keeps what was typed, runs the work with its URL, and forgets the keys again if that fails. */
  readonly use: <T>(fields: PlaceFields, work: (url: string) => Promise<T>) => Promise<T>;
}

export function useCredentials(): Credentials {
  const sources = useAsk('remotes.keySources', {}, { onReturn: true }).data;
  const peers = useAsk('peers.list', {}, { onReturn: true }).data?.peers;
  const host = useHost();
  const refresh = useRefresh();
  const keeper = useKeyKeeper();
  const withProfile = (fields: PlaceFields): PlaceFields => {
    if (fields.kind !== 's3' || !fields.typedKeys) return fields;
    const known = new Set(sources?.profiles.map(({ name }) => name));
    return { ...fields, profile: profileFor(fields, known) };
  };
  return {
    sources,
    peers,
    keeper,
    withProfile,
    async use(given, work) {
      if (given.kind === 'peer' && given.token !== '') {
        await host.ask('peers.login', { peer: given.host, token: given.token });
        await refresh('peers.list');
      }
      const fields = withProfile(given);
      if (fields.kind !== 's3' || !fields.typedKeys) return work(urlOf(fields));
      await keeper.keep(fields.profile, keysOf(fields.typedKeys));
      try {
        return await work(urlOf(fields));
      } catch (error) {
        await keeper.keep(fields.profile);
        throw error;
      }
    },
  };
}
