/**
 * Sends the list of saved jobs to the windows of an engine. Commands and other processes change the same
 * files, so the list is read every second while a window watches, and sent when it has changed. The pause
 * before the next read is at least ten times the duration of the last one.
 */
import type { SavedJobList } from '../../api/host/saved.ts';
import { systemClock } from '../../base/clock.ts';
import type { HostState } from '../host-state.ts';
import { readJobList } from './job-cards.ts';

const READ_EVERY_MS = 1_000;
const REST_FACTOR = 10;

type Listener = (list: SavedJobList) => void;

interface JobWatch {
  /** By listener: the JSON of the last list that it received. */
  readonly listeners: Map<Listener, string>;
  isFollowing: boolean;
  /** Ends the pause before the next read. */
  wake: () => void;
}

const watches = new WeakMap<HostState, JobWatch>();

/** Calls `onList` at once and after each change, until the signal fires. */
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

/** Reads the list now, because this engine has changed a job. */
export function refreshJobs(host: HostState): void {
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
    for (const [listener, sent] of [...listeners]) {
      if (sent === text) continue;
      listeners.set(listener, text);
      listener(list);
    }
    const tookMs = systemClock.monotonicMs() - startedMs;
    const pauseMs = Math.max(READ_EVERY_MS, REST_FACTOR * tookMs);
    // A wake-up during this read has already ended the pause.
    await systemClock.sleep(pauseMs, pause.signal).catch(() => {});
  }
  watch.isFollowing = false;
}
