/**
 * Sends files that were dropped on a browser's window. Sending continues while another screen is shown, and
 * later drops join it. Only closing the page interrupts it, so the page asks first.
 */
import { useSyncExternalStore } from 'react';
import { createListeners } from '../../../host/listeners.ts';
import {
  type DropOptions,
  type DropProgress,
  type DroppedFile,
  NOTHING_DROPPED,
  postDropped,
  sendDropped,
} from './drop-queue.ts';

let progress: DropProgress | undefined;
let control: AbortController | undefined;
let underway = 0;
/** Resumes `takeWaiting` after its pause. */
let wake = (): void => {};
const waiting: AsyncIterable<DroppedFile>[] = [];
const { notify, subscribe } = createListeners();

/** @returns The result of all drops until then. Undefined, at once, if these files join others in transit. */
export async function sendFiles(files: AsyncIterable<DroppedFile>): Promise<DropProgress | undefined> {
  waiting.push(files);
  wake();
  if (control) return undefined;
  control = new AbortController();
  addEventListener('beforeunload', askBefore);
  let sum = NOTHING_DROPPED;
  try {
    while (waiting.length > 0) {
      // A drop after a stop starts a new count, even if earlier files have not stopped yet.
      if (control.signal.aborted) {
        control = new AbortController();
        sum = NOTHING_DROPPED;
      }
      const { signal } = control;
      const before = sum;
      const onProgress = (next: DropProgress): void => setProgress(addProgress(before, next));
      sum = addProgress(before, await sendDropped(takeWaiting(signal), { send, onProgress, signal }));
    }
  } finally {
    control = undefined;
    removeEventListener('beforeunload', askBefore);
    setProgress({ ...sum, isOver: true });
  }
  return sum;
}

export function stopDrops(): void {
  waiting.length = 0;
  control?.abort();
}

/** Removes the report of a finished drop. */
export function dismissDrops(): void {
  if (!control) setProgress(undefined);
}

/** Undefined if nothing was dropped, or its report was removed. */
export function useDropProgress(): DropProgress | undefined {
  return useSyncExternalStore(subscribe, () => progress);
}

/** Ends when no file waits and none is in transit. Until then, a free sender takes new drops. */
async function* takeWaiting(signal: AbortSignal): AsyncGenerator<DroppedFile> {
  while (!signal.aborted) {
    const files = waiting.shift();
    if (files) yield* untilStopped(files, signal);
    else if (underway === 0) return;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}

async function* untilStopped(
  files: AsyncIterable<DroppedFile>,
  signal: AbortSignal,
): AsyncGenerator<DroppedFile> {
  for await (const file of files) {
    if (signal.aborted) return;
    yield file;
  }
}

const send: DropOptions['send'] = async (...parameters) => {
  underway += 1;
  try {
    await postDropped(...parameters);
  } finally {
    underway -= 1;
    wake();
  }
};

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

function setProgress(next: DropProgress | undefined): void {
  progress = next;
  notify();
}

function askBefore(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
