/** Records the throughput once a second, whatever screen is open, so that the plot always has its minute. */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createListeners } from '../../host/listeners.ts';
import { useTransfers } from '../../host/use-host.tsx';
import { createThroughput } from './throughput.ts';

const TICK_MS = 1_000;

const throughput = createThroughput();
const { notify, subscribe } = createListeners();
let rates: readonly number[] = throughput.read();

/** Mounted once, in the shell. */
export function RecordThroughput() {
  const transfers = useTransfers();
  const newest = useRef(transfers);
  newest.current = transfers;
  useEffect(() => {
    const timer = setInterval(() => {
      const running = newest.current?.filter(({ state }) => state === 'running') ?? [];
      throughput.push(running.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0));
      rates = throughput.read();
      notify();
    }, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return null;
}

/** The last minute, oldest first. */
export function useThroughput(): readonly number[] {
  return useSyncExternalStore(subscribe, () => rates);
}

/** Counts up when the theme changes, for plots drawn with its colours. */
export function useThemeVersion(): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const observer = new MutationObserver(() => setVersion((count) => count + 1));
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => observer.disconnect();
  }, []);
  return version;
}
