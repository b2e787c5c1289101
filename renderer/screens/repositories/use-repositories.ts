/** The user's repositories: first the saved records, then each remote's answer as it arrives. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { RepositoryCard } from '../../../engine/api/host/repositories.ts';
import { useEndings, useHost, useHostState } from '../../host/use-host.tsx';

export interface LookOptions {
  readonly ids?: readonly string[];
  readonly commits?: number | undefined;
}

export interface Repositories {
  /** Undefined until the engine has answered. */
  readonly repositories: readonly RepositoryCard[] | undefined;
  readonly error: DrayError | undefined;
  /** The ids of the repositories that are being refreshed. */
  readonly asking: ReadonlySet<string>;
  look(options?: LookOptions): void;
  /** Replaces the card with the same id. */
  place(card: RepositoryCard): void;
}

const NONE: ReadonlySet<string> = new Set();

export function useRepositories(): Repositories {
  const host = useHost();
  const isOpen = useHostState() === 'open';
  const [repositories, setRepositories] = useState<readonly RepositoryCard[]>();
  const [error, setError] = useState<DrayError>();
  const [asking, setAsking] = useState(NONE);
  const stop = useRef(new AbortController());

  const place = useCallback((card: RepositoryCard) => {
    setRepositories((cards) => cards?.map((known) => (known.id === card.id ? card : known)));
  }, []);

  const ask = useCallback(
    async ({ commits, ids }: LookOptions, { signal }: AbortController) => {
      setError(undefined);
      try {
        const { repositories: remembered } = await host.ask('repositories.list', {}, { signal });
        // The error of a repository stays until it answers.
        setRepositories((cards) =>
          remembered.map((card) => {
            const failure = cards?.find(({ id }) => id === card.id)?.failure;
            return failure ? { ...card, failure } : card;
          }),
        );
        const asked = ids ?? remembered.map(({ id }) => id);
        setAsking((before) => new Set([...before, ...asked]));
        try {
          const input = { ...(ids ? { ids } : {}), ...(commits === undefined ? {} : { commits }) };
          const { repositories: answered } = await host.ask('repositories.look', input, {
            signal,
            onEvents: (events) => {
              for (const event of events) if (event.type === 'repository') place(event.repository);
            },
          });
          for (const card of answered) place(card);
        } finally {
          setAsking((before) => new Set([...before].filter((id) => !asked.includes(id))));
        }
      } catch (failed) {
        if (!signal.aborted && failed instanceof DrayError) setError(failed);
      }
    },
    [host, place],
  );

  useEffect(() => {
    if (!isOpen) return;
    const stopping = new AbortController();
    stop.current = stopping;
    void ask({}, stopping);
    return () => stopping.abort();
  }, [ask, isOpen]);

  const verified = useEndings(({ order }) => order.kind === 'verify');
  useEffect(() => {
    if (verified === 0) return;
    const stopping = new AbortController();
    // The record alone: no remote is asked.
    host.ask('repositories.list', {}, { signal: stopping.signal }).then(
      ({ repositories: remembered }) => {
        for (const { id, verified: now } of remembered)
          setRepositories((cards) =>
            cards?.map((card) => (card.id === id && now ? { ...card, verified: now } : card)),
          );
      },
      () => {},
    );
    return () => stopping.abort();
  }, [host, verified]);

  const look = useCallback((options: LookOptions = {}) => void ask(options, stop.current), [ask]);
  return { repositories, error, asking, look, place };
}
