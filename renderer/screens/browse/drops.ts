/**
 * Files dropped on a browser's window, on their way to their places. They go on while another screen is shown, and what is dropped
 * meanwhile joins them; only a page that closes breaks them off, so it asks before.
 */
import { useSyncExternalStore } from 'react';
import {
  type DropProgress,
  type DroppedFile,
  NOTHING_DROPPED,
  postDropped,
  sendDropped,
} from './drop-queue.ts';

let progress: DropProgress | undefined;
let control: AbortController | undefined;
const waiting: AsyncIterable<DroppedFile>[] = [];
const listeners = new Set<() => void>();

/** @returns When all that was dropped until then has been tried. */
export async function sendFiles(files: AsyncIterable<DroppedFile>): Promise<void> {
  waiting.push(files);
  if (control) return;
  control = new AbortController();
  const { signal } = control;
  addEventListener('beforeunload', askBefore);
  let sum = NOTHING_DROPPED;
  try {
    while (waiting.length > 0) {
      const before = sum;
      const onProgress = (next: DropProgress): void => tell(addProgress(before, next));
      sum = addProgress(before, await sendDropped(takeWaiting(), { send: postDropped, onProgress, signal }));
    }
  } finally {
    control = undefined;
    removeEventListener('beforeunload', askBefore);
    tell({ ...sum, isOver: true });
  }
}

export function stopDrops(): void {
  waiting.length = 0;
  control?.abort();
}

/** Takes the report of a finished drop away. */
export function dismissDrops(): void {
  if (!control) tell(undefined);
}

/** Undefined when nothing was dropped, or its report was taken away. */
export function useDropProgress(): DropProgress | undefined {
  return useSyncExternalStore(watch, () => progress);
}

async function* takeWaiting(): AsyncGenerator<DroppedFile> {
  for (let files = waiting.shift(); files; files = waiting.shift()) yield* files;
}

function addProgress(before: DropProgress, more: DropProgress): DropProgress {
  return {
    filesDone: before.filesDone + more.filesDone,
    bytesDone: before.bytesDone + more.bytesDone,
    filesFailed: before.filesFailed + more.filesFailed,
    failures: [...before.failures, ...more.failures],
    isOver: more.isOver,
    isStopped: more.isStopped,
  };
}

function tell(next: DropProgress | undefined): void {
  progress = next;
  for (const listener of listeners) listener();
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function askBefore(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
