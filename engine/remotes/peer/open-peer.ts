/** From a peer's URL to a store. */
import { loadCrc64 } from '../../checksums/crc64-nvme.ts';
import type { ObjectStore } from '../object-store.ts';
import { hostAndPort, type PeerRemoteUrl, peerOrigin } from '../remote-url.ts';
import { createPeerCheck, type KnownPeersOptions } from './known-peers.ts';
import { openPeerClient, type PeerClient } from './peer-client.ts';
import { createPeerFileStore } from './peer-file-store.ts';
import { createPeerObjectStore } from './peer-object-store.ts';
import { tokenFor } from './peer-tokens.ts';

export interface OpenPeerOptions {
  readonly connection: { readonly transfers?: number };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly plainFiles?: boolean;
  /** Called with bytes as they are sent or received. */
  readonly onWire?: (bytes: number) => void;
  /** The retry policy of calls; absent: the store's wrapper retries. */
  readonly retries?: boolean;
  /**
   * The user's saved tokens and certificates. Absent: only a certificate that this machine's authorities
   * signed is accepted.
   */
  readonly knownPeers?: KnownPeersOptions;
}

const CONNECTIONS = 16;

/** The caller closes it. */
export async function openPeerRemote(url: PeerRemoteUrl, options: OpenPeerOptions): Promise<ObjectStore> {
  const client = await connectPeer(url, options);
  if (options.plainFiles) return createPeerFileStore(client, url.prefix);
  return createPeerObjectStore(client, url.prefix);
}

export async function connectPeer(
  url: PeerRemoteUrl,
  { connection, environment, knownPeers, onWire, retries = false }: OpenPeerOptions,
): Promise<PeerClient> {
  await loadCrc64();
  const origin = peerOrigin(url);
  return openPeerClient({
    origin,
    ...(knownPeers && origin.protocol === 'https:'
      ? { identity: createPeerCheck(hostAndPort(url), knownPeers) }
      : {}),
    ...(onWire ? { onWire } : {}),
    token: tokenFor(url, { environment, folder: knownPeers?.folder }),
    connectionsMax: Math.min(connection.transfers ?? CONNECTIONS, CONNECTIONS),
    ...(retries ? {} : { attemptsMax: 1 }),
  });
}
