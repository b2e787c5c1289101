/** Shows a moment relative to now, and updates while it is on screen. */
import { useSyncExternalStore } from 'react';
import { formatAgo, formatMoment } from './format.ts';

const EVERY_MS = 15_000;

export function Ago({ moment }: { readonly moment: string | number }) {
  return (
    <time dateTime={new Date(moment).toJSON() ?? undefined} title={formatMoment(moment)}>
      {useAgo(moment)}
    </time>
  );
}

function useAgo(moment: string | number): string {
  return useSyncExternalStore(watch, () => formatAgo(moment));
}

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer serves all of them, and runs only while one is shown. A hidden page updates on focus. */
function watch(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, EVERY_MS);
  addEventListener('focus', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('focus', listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
