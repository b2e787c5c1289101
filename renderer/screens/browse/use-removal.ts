/**
 * Deletes places in batches of one request each, or the chosen entries of a list in a single request. Some
 * deletions may succeed and others fail, so the folder is listed again in any case.
 */
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { AllChosen } from '../../../engine/api/host/browse.ts';
import type { AskOptions } from '../../../engine/api/window/host-client.ts';
import { useHost, useRefresh } from '../../host/use-host.tsx';
import { refusedRepository } from '../start-transfer.ts';

/** The engine's limit for one request. */
const PLACES_MAX = 500;

export interface Doomed {
  readonly count: number;
  readonly places: readonly string[];
  readonly all?: AllChosen | undefined;
  /** The names of repositories that the user typed. */
  readonly confirmed?: readonly string[];
}

export function useRemoval() {
  const host = useHost();
  const refresh = useRefresh();
  const listAgain = () => refresh('browse.open', 'browse.size');
  const [removed, setRemoved] = useState(0);
  const attempts = useRef(0);
  const stopping = useRef<AbortController>(undefined);
  const mutation = useMutation<void, Error, Doomed>({
    mutationFn: async ({ all, confirmed = [], places }) => {
      setRemoved(0);
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      const onEvents: AskOptions['onEvents'] = (events) => {
        const newest = events.findLast((event) => event.type === 'progress');
        if (newest?.type === 'progress') setRemoved(newest.filesDone);
      };
      if (all) await host.ask('browse.remove', { all, confirmed }, { signal, onEvents });
      else
        for (let at = 0; at < places.length; at += PLACES_MAX) {
          const some = places.slice(at, at + PLACES_MAX);
          await host.ask('browse.remove', { places: some, confirmed }, { signal });
          setRemoved(Math.min(at + PLACES_MAX, places.length));
        }
    },
    // Another listing drops the list of the chosen entries, which the next attempt names.
    onSettled: (_, error) => (refusedRepository(error) === undefined ? listAgain() : undefined),
  });
  return {
    ...mutation,
    removed,
    stop: () => stopping.current?.abort(),
    mutate: (doomed: Doomed) => {
      attempts.current += 1;
      mutation.mutate(doomed);
    },
    /** Also called before another attempt, which then lists the folder again at its end. */
    giveUp: () => {
      mutation.reset();
      const { current } = attempts;
      queueMicrotask(() => {
        if (attempts.current === current) void listAgain();
      });
    },
  };
}
