/**
 * The saved jobs, followed for all windows of an engine. Commands and other processes change the same files,
 * so the list is read every second while a window watches, and sent when it differs from the last one. The
 * next look waits ten times as long as the last one took.
 */
import type { SavedJobList } from '../../api/host/saved.ts';
import { systemClock } from '../../base/clock.ts';
import type { HostState } from '../host-state.ts';
import { readJobList } from './job-cards.ts';

const LOOK_EVERY_MS = 1_000;
const REST_FACTOR = 10;

type Listener = (list: SavedJobList) => void;

interface JobWatch {
  /** For each listener, the text of the last list that it received. */
  readonly listeners: Map<Listener, string>;
  isFollowing: boolean;
  /** Ends the pause between two looks. */
  wake: () => void;
}

const watches = new WeakMap<HostState, JobWatch>();

/** Calls at once, and after each change, until the signal fires. */
export function watchJobs(host: HostState, onList: Listener, signal: AbortSignal): void {
  if (signal.aborted) return;
  const watch = watches.get(host) ?? { listeners: new Map(), isFollowing: false, wake: () => {} };
  watches.set(host, watch);
  watch.listeners.set(onList, '');
  if (watch.isFollowing) watch.wake();
  else void follow(host, watch);
  signal.addEventListener('abort', () => {
    watch.listeners.delete(onList);
    watch.wake();
  });
}

/** After a change by this engine, windows need not wait. */
export function lookAtJobs(host: HostState): void {
  watches.get(host)?.wake();
}

async function follow(host: HostState, watch: JobWatch): Promise<void> {
  const { listeners } = watch;
  watch.isFollowing = true;
  while (listeners.size > 0) {
    const pause = new AbortController();
    watch.wake = () => pause.abort();
    const startedMs = systemClock.monotonicMs();
    const list = await readJobList(host);
    const text = JSON.stringify(list);
    for (const [tell, told] of [...listeners]) {
      if (told === text) continue;
      listeners.set(tell, text);
      tell(list);
    }
    const tookMs = systemClock.monotonicMs() - startedMs;
    const pauseMs = Math.max(LOOK_EVERY_MS, REST_FACTOR * tookMs);
    // A look that was asked for during this one is made at once.
    await systemClock.sleep(pauseMs, pause.signal).catch(() => {});
  }
  watch.isFollowing = false;
}
