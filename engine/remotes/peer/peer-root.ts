/** A folder of a peer's whose plain files are a store's objects. */
import { checkKey } from '../object-key.ts';
import type { CallOptions } from '../object-store.ts';
import type { PeerClient } from './peer-client.ts';

export interface PeerRoot {
  readonly client: PeerClient;
  /** '' for the served folder. */
  readonly below: string;
  /** The path of an object there. Throws for a bad key. */
  pathOf(key: string): string;
  /** Like `pathOf`, but also takes a folder, whose key and path end in a slash. */
  entryPathOf(key: string): string;
  signalOf(options?: CallOptions): AbortSignal;
}

export function peerRoot(client: PeerClient, below: string): PeerRoot {
  const never = new AbortController().signal;
  const pathOf = (key: string) => {
    checkKey(key);
    return below === '' ? key : `${below}/${key}`;
  };
  return {
    client,
    below,
    pathOf,
    entryPathOf: (key) => (key.endsWith('/') ? `${pathOf(key.slice(0, -1))}/` : pathOf(key)),
    signalOf: (options) => options?.signal ?? never,
  };
}
