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
        setRepositories((cards) => withFailures(remembered, cards));
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

  const ended = useEndings(({ order }) => order.kind === 'verify' || order.kind === 'gc');
  useEffect(() => {
    if (ended === 0) return;
    const stopping = new AbortController();
    // The records alone: no remote is asked.
    host.ask('repositories.list', {}, { signal: stopping.signal }).then(
      ({ repositories: remembered }) => setRepositories((cards) => cards && withFailures(remembered, cards)),
      () => {},
    );
    return () => stopping.abort();
  }, [host, ended]);

  const look = useCallback((options: LookOptions = {}) => void ask(options, stop.current), [ask]);
  return { repositories, error, asking, look, place };
}

/** The error of a repository stays until it answers. */
function withFailures(
  remembered: readonly RepositoryCard[],
  cards: readonly RepositoryCard[] = [],
): readonly RepositoryCard[] {
  return remembered.map((card) => {
    const failure = cards.find(({ id }) => id === card.id)?.failure;
    return failure ? { ...card, failure } : card;
  });
}
