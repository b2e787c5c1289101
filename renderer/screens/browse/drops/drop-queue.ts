/**
 * Sends files dropped from the desktop to a place one by one: at most `SENDERS` at a time, and walks folders
 * only as fast as their files go. A failed file is reported and the others continue.
 */
import { WINDOW_KEY_HEADER } from '../../../../engine/api/window/window-key.ts';
import { heldWindowKey } from '../../../host/window-key.ts';

const SENDERS = 4;
const FAILURES_KEPT = 50;

export interface DroppedFile {
  /** The folder that it was dropped on. */
  readonly place: string;
  /** Below the place, with forward slashes. */
  readonly path: string;
  /** The names of repositories that the user typed. */
  readonly confirmed?: readonly string[];
  readonly open: () => Promise<Blob>;
}

export interface DropProgress {
  readonly filesDone: number;
  readonly bytesDone: number;
  readonly isOver: boolean;
  /** True if stopped on request before all were sent. */
  readonly isStopped: boolean;
  readonly filesFailed: number;
  /** The first failures. */
  readonly failures: readonly { readonly path: string; readonly message: string }[];
}

export const NOTHING_DROPPED: DropProgress = {
  filesDone: 0,
  bytesDone: 0,
  isOver: false,
  isStopped: false,
  filesFailed: 0,
  failures: [],
};

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly onBytes: (sent: number) => void;
}

export interface DropOptions {
  readonly send: (file: DroppedFile, body: Blob, options: SendOptions) => Promise<void>;
  readonly onProgress: (progress: DropProgress) => void;
  readonly signal: AbortSignal;
}

/** Resolves when all were tried, or soon after the signal. */
export async function sendDropped(
  files: AsyncIterable<DroppedFile>,
  options: DropOptions,
): Promise<DropProgress> {
  const iterator = files[Symbol.asyncIterator]();
  const underway = new Map<DroppedFile, number>();
  const failures: { path: string; message: string }[] = [];
  let filesDone = 0;
  let bytesOfDone = 0;
  let filesFailed = 0;
  let isOver = false;
  const progress = (): DropProgress => ({
    filesDone,
    bytesDone: [...underway.values()].reduce((sum, bytes) => sum + bytes, bytesOfDone),
    isOver,
    isStopped: options.signal.aborted,
    filesFailed,
    failures: [...failures],
  });
  const fail = (path: string, error: unknown): void => {
    filesFailed += 1;
    if (failures.length < FAILURES_KEPT) failures.push({ path, message: messageOf(error) });
  };

  const sendAll = async (): Promise<void> => {
    while (!options.signal.aborted) {
      const next = await iterator.next();
      // Stopped while a folder was read.
      if (next.done || options.signal.aborted) return;
      const file = next.value;
      underway.set(file, 0);
      try {
        const body = await file.open();
        options.signal.throwIfAborted();
        await options.send(file, body, {
          signal: options.signal,
          onBytes: (sent) => {
            underway.set(file, sent);
            options.onProgress(progress());
          },
        });
        bytesOfDone += body.size;
        filesDone += 1;
      } catch (error) {
        if (!options.signal.aborted) fail(file.path, error);
      } finally {
        underway.delete(file);
        options.onProgress(progress());
      }
    }
  };
  // A folder that cannot be walked ends one sender. The others then see the end of the same walk.
  const senders = Array.from({ length: SENDERS }, () => sendAll().catch((error) => fail('', error)));
  await Promise.all(senders);
  isOver = true;
  options.onProgress(progress());
  return progress();
}

/** `POST /drop`: streams the file from the disk, and reports the bytes sent. */
export function postDropped(
  { confirmed = [], path, place }: DroppedFile,
  body: Blob,
  { onBytes, signal }: SendOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const names = confirmed.map((name) => ['confirmed', name]);
    request.open('POST', `/drop?${new URLSearchParams([['place', place], ['path', path], ...names])}`);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader(WINDOW_KEY_HEADER, heldWindowKey() ?? '');
    request.upload.onprogress = (event) => onBytes(event.loaded);
    request.onload = () =>
      request.status < 300 ? resolve() : reject(new Error(refusalOf(request.status, request.responseText)));
    request.onerror = () => reject(new Error('The engine could not be reached.'));
    request.onabort = () => reject(new Error('Stopped on request.'));
    const stop = () => request.abort();
    signal.addEventListener('abort', stop);
    // One signal serves all files of a drop, which may be a million.
    request.onloadend = () => signal.removeEventListener('abort', stop);
    request.send(body);
  });
}

function refusalOf(status: number, text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === 'object' && answer !== null && 'message' in answer) return String(answer.message);
  } catch {
    // Not JSON: the message below gives the status.
  }
  return text.length > 0 && text.length < 300 ? text : `The engine refused the file (${status}).`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
