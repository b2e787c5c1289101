/** From a peer's URL to a store. The token comes from the file that the URL names, from `DRAY_TOKEN`, or from the file that `DRAY_TOKEN_FILE` names. */
import { readFileSync } from 'node:fs';
import { DrayError } from '../../api/error.ts';
import { loadCrc64 } from '../../base/crc64-nvme.ts';
import type { ObjectStore } from '../object-store.ts';
import { type PeerRemoteUrl, peerOrigin } from '../remote-url.ts';
import { createFingerprintCheck, type KnownPeersOptions } from './known-peers.ts';
import { openPeerClient, type PeerClient } from './peer-client.ts';
import { createPeerFileStore } from './peer-file-store.ts';
import { createPeerObjectStore } from './peer-object-store.ts';

export interface OpenPeerOptions {
  readonly connection: { readonly transfers?: number };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly plainFiles?: boolean;
  /** Told of bytes as they go, either way. */
  readonly onWire?: (bytes: number) => void;
  /** Calls are repeated here; absent: who wraps the store does that. */
  readonly retries?: boolean;
  /** For TLS. Absent: the certificate has to be signed by somebody whom this machine trusts. */
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
      ? { checkFingerprint: createFingerprintCheck(origin.host, knownPeers) }
      : {}),
    ...(onWire ? { onWire } : {}),
    token: tokenFor(url, environment),
    connectionsMax: Math.min(connection.transfers ?? CONNECTIONS, CONNECTIONS),
    ...(retries ? {} : { attemptsMax: 1 }),
  });
}

/** @throws DrayError `noCredentials` */
function tokenFor(
  { tokenFile }: PeerRemoteUrl,
  { DRAY_TOKEN, DRAY_TOKEN_FILE }: OpenPeerOptions['environment'],
): string {
  if (tokenFile !== undefined) return readToken(tokenFile);
  if (DRAY_TOKEN) return DRAY_TOKEN;
  if (DRAY_TOKEN_FILE) return readToken(DRAY_TOKEN_FILE);
  throw new DrayError(
    'noCredentials',
    'A peer asks for its token. Set DRAY_TOKEN to what "dray serve" showed, or name a file that holds it: by DRAY_TOKEN_FILE, or in the URL by ?tokenFile=/absolute/path.',
  );
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new DrayError('noCredentials', `The token file ${file} cannot be read.`, {
      data: { path: file },
      cause,
    });
  }
}
