/**
 * The last requests of one run of a transfer, in memory, and the request that a stalled transfer waits for.
 * Keys come from stores, so long ones are cut. No address, header or secret is kept.
 */
import { excerpt } from '../../api/error.ts';
import type { StalledCall, TransferCall } from '../../api/host/transfers.ts';
import type { CallListener } from '../../api/jobs/jobs.ts';

const CALLS_MAX = 50;
/** The most open requests that are kept. */
const OPEN_MAX = 500;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface TransferCalls {
  readonly onCall: CallListener;
  /** The oldest open request. If none is open, the last request, if it failed and will be retried. */
  stalled(): StalledCall | undefined;
  /** Newest first. */
  read(): readonly TransferCall[];
}

export function createTransferCalls(nowMs: () => number): TransferCalls {
  const open = new Set<Mutable<TransferCall>>();
  let ended: TransferCall[] = [];
  const retriesOf = (method: string, key: string) => {
    const last = ended.find((call) => call.method === method && call.key === key);
    return last?.failure === undefined ? 0 : last.retries + 1;
  };
  return {
    onCall(name, rawKey) {
      const method = METHODS[name] ?? name;
      const key = excerpt(rawKey ?? '');
      const call: Mutable<TransferCall> = {
        method,
        key,
        startedMs: nowMs(),
        retries: retriesOf(method, key),
      };
      if (open.size < OPEN_MAX) open.add(call);
      return (failure) => {
        if (call.endedMs !== undefined) return;
        call.endedMs = nowMs();
        if (failure !== undefined) call.failure = failure;
        open.delete(call);
        ended = [call, ...ended].slice(0, CALLS_MAX);
      };
    },
    stalled() {
      const [oldest] = open;
      if (oldest) return { ...oldest, isOpen: true };
      const [last] = ended;
      return last?.failure === undefined ? undefined : { ...last, isOpen: false };
    },
    read: () => [...[...open].toReversed(), ...ended].slice(0, CALLS_MAX),
  };
}

/** The methods' names in a server's log. */
const METHODS: Readonly<Record<string, string>> = {
  head: 'HEAD',
  get: 'GET',
  read: 'GET',
  put: 'PUT',
  putStream: 'PUT',
  list: 'LIST',
  delete: 'DELETE',
  copy: 'COPY',
  'multipart.create': 'BEGIN UPLOAD',
  'multipart.uploadPart': 'PUT PART',
  'multipart.uploadPartCopy': 'COPY PART',
  'multipart.listParts': 'LIST PARTS',
  'multipart.complete': 'COMPLETE UPLOAD',
  'multipart.abort': 'ABORT UPLOAD',
  'multipart.listUploads': 'LIST UPLOADS',
};
