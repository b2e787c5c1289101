/** Follows one listing of the engine, which can be stopped and resumed. */
import { DrayError } from '../../../../engine/api/error.ts';
import type { AskOptions } from '../../../../engine/api/window/host-client.ts';
import type { ReconnectingHost } from '../../../host/reconnecting-host.ts';

/** `cut`: the folder has more entries than a list can hold. */
export type ListingState = 'opening' | 'listing' | 'stopped' | 'failed' | 'done' | 'cut';

export interface ListingNow {
  readonly list: string | undefined;
  readonly listed: number;
  readonly state: ListingState;
  readonly isRepository: boolean;
  readonly error?: Error;
}

export interface FollowedListing {
  readonly stop: () => void;
  readonly resume: () => void;
  /** Stops the listing, and sends no further state. */
  readonly leave: () => void;
}

export function followListing(
  host: Pick<ReconnectingHost, 'ask'>,
  listed: { readonly place: string; readonly search?: string },
  onChange: (now: ListingNow) => void,
): FollowedListing {
  let now: ListingNow = { list: undefined, listed: 0, state: 'opening', isRepository: false };
  let stopping = new AbortController();
  let hasLeft = false;
  const change = (next: ListingNow) => {
    now = next;
    if (!hasLeft) onChange(now);
  };
  const onEvents: AskOptions['onEvents'] = (events) => {
    const newest = events.findLast((event) => event.type === 'listing');
    if (newest?.type !== 'listing' || stopping.signal.aborted) return;
    const { isRepository, list, total } = newest;
    change({ list, listed: total, state: 'listing', isRepository });
  };
  const go = async () => {
    stopping = new AbortController();
    const { signal } = stopping;
    const resume = now.list === undefined ? {} : { resume: now.list };
    try {
      const answer = await host.ask('browse.open', { ...listed, ...resume }, { signal, onEvents });
      const { isCut, isRepository, list, total } = answer;
      change({ list, listed: total, state: isCut ? 'cut' : 'done', isRepository });
    } catch (error) {
      if (signal.aborted && now.list !== undefined) change({ ...now, state: 'stopped' });
      else if (error instanceof DrayError) change({ ...now, state: 'failed', error });
      else throw error;
    }
  };
  void go();
  return {
    stop: () => stopping.abort(),
    resume: () => {
      const { isRepository, list, listed } = now;
      change({ list, listed, isRepository, state: list === undefined ? 'opening' : 'listing' });
      void go();
    },
    leave: () => {
      hasLeft = true;
      stopping.abort();
    },
  };
}
