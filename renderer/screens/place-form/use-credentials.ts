/** What the forms of places know of keys and tokens, and how those that are typed come to the engine. */

import { useQuery } from '@tanstack/react-query';
import type { SecretsState } from '../../../engine/api/desktop-bridge.ts';
import type { KeySources } from '../../../engine/api/host.ts';
import { useAsk, useRefresh } from '../../host/use-host.tsx';
import { type PlaceFields, profileFor, urlOf } from './place-fields.ts';

export interface Credentials {
  /** Undefined until they were told. */
  readonly sources: KeySources | undefined;
  /** Of the desktop app, which alone keeps secrets; undefined elsewhere. */
  readonly kept: SecretsState | undefined;
  /** The fields with a profile for keys that were typed. */
  readonly withProfile: (fields: PlaceFields) => PlaceFields;
  /** Keeps what was typed, does the work with its URL, and forgets the keys again when that fails. */
  readonly use: <T>(fields: PlaceFields, work: (url: string) => Promise<T>) => Promise<T>;
  readonly forgetKeys: (profile: string) => Promise<void>;
  readonly saveToken: (token: string) => Promise<void>;
}

export function useCredentials(): Credentials {
  const sources = useAsk('remotes.keySources', {}, { onReturn: true }).data;
  const refreshSources = useRefresh();
  const secrets = window.dray?.secrets;
  const kept = useQuery({
    queryKey: ['secrets'],
    queryFn: () => secrets!.state(),
    enabled: secrets !== undefined,
  });
  const changed = async (): Promise<void> => {
    await Promise.all([kept.refetch(), refreshSources('remotes.keySources')]);
  };
  const withProfile = (fields: PlaceFields): PlaceFields => {
    if (fields.kind !== 's3' || !fields.typedKeys) return fields;
    const known = new Set(sources?.profiles.map(({ name }) => name));
    return { ...fields, profile: profileFor(fields, known) };
  };
  const saveToken = async (token: string): Promise<void> => {
    await secrets?.saveToken(token);
    await changed();
  };
  return {
    sources,
    kept: kept.data,
    withProfile,
    async use(given, work) {
      if (given.kind === 'peer' && given.token !== '') await saveToken(given.token);
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
    saveToken,
  };
}
