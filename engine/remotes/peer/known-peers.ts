/**
 * Remembers the certificates of peers by host and port, as ssh remembers hosts. Nobody signs a peer's
 * certificate, so the user decides at the first connection, and the peer must show the same certificate at
 * every later one. Nothing is sent before that decision.
 */
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { MetPeer } from '../../api/jobs/jobs.ts';
import { keepPeerRecord, type PeerRecordFile, readPeerRecords } from './peer-records.ts';

export interface KnownPeersOptions {
  /** The folder of the user's settings; may not exist yet. */
  readonly folder: string;
  /** Called at the first connection, before anything is sent. Absent: no new peer is trusted. */
  readonly trustsNew?: (peer: MetPeer) => Promise<boolean>;
  /** Runs a change of that folder while no other process does. */
  readonly changing: (change: () => void) => Promise<void>;
}

export interface PeerCheck {
  /** Called for each connection. Returns the error that refuses it: `unknownPeer` at the first connection. */
  readonly check: (fingerprint: string) => DrayError | undefined;
  /**
   * Asks whether to trust the peer that was just refused, and remembers it. @throws DrayError `unknownPeer`
   */
  readonly meet: (fingerprint: string) => Promise<void>;
}

/** @param address `HOST:PORT`. */
export function createPeerCheck(
  address: string,
  { changing, folder, trustsNew }: KnownPeersOptions,
): PeerCheck {
  const file = knownPeersFile(folder);
  let known: string | undefined;
  let meeting: Promise<void> | undefined;
  const ask = async (fingerprint: string) => {
    if (!(await trustsNew?.({ address, fingerprint }))) throw unknownPeer(address, fingerprint);
    // Another command may have met it while this one waited for an answer.
    await changing(() => rememberPeer(folder, { address, fingerprint }));
  };
  return {
    check(fingerprint) {
      if (fingerprint === '') return new DrayError('accessDenied', `dray://${address} shows no certificate.`);
      known ??= readPeerRecords(file)[address];
      if (known === undefined) return unknownPeer(address, fingerprint);
      return known === fingerprint ? undefined : otherCertificate(file, { address, fingerprint }, known);
    },
    meet(fingerprint) {
      // Many connections are opened at once, and the user is asked once.
      meeting ??= ask(fingerprint);
      return meeting;
    },
  };
}

/** Fingerprints by `HOST:PORT`. @throws DrayError `io`, `usage` */
export function readKnownPeers(folder: string): Readonly<Record<string, string>> {
  return readPeerRecords(knownPeersFile(folder));
}

/**
 * The user has compared the fingerprint. @throws DrayError `accessDenied` if another one is known, `io`,
 * `usage`
 */
export function rememberPeer(folder: string, peer: MetPeer): void {
  const file = knownPeersFile(folder);
  const known = readPeerRecords(file)[peer.address];
  if (known !== undefined && known !== peer.fingerprint) throw otherCertificate(file, peer, known);
  keepPeerRecord(file, peer.address, peer.fingerprint);
}

function knownPeersFile(folder: string): PeerRecordFile {
  return {
    path: join(folder, 'known-peers.json'),
    field: 'peers',
    name: 'The list of known peers',
    isSecret: false,
  };
}

function otherCertificate(
  { path }: PeerRecordFile,
  { address, fingerprint }: MetPeer,
  known: string,
): DrayError {
  return new DrayError(
    'accessDenied',
    `The certificate of dray://${address} has changed: somebody else may be answering in its place. Nothing was sent. The known fingerprint is ${known}, the new one is ${fingerprint}. If it was changed on purpose, delete the line "${address}" in ${path}.`,
    { data: { peer: address, known, fingerprint, path } },
  );
}

function unknownPeer(address: string, fingerprint: string): DrayError {
  return new DrayError(
    'unknownPeer',
    `This machine has not connected to dray://${address} before, so Dray sent nothing. The fingerprint of its certificate is ${fingerprint}.`,
    {
      data: { address, fingerprint },
      advice: `Compare it with the one that "dray serve" shows there. To trust it, add --trust-peer ${fingerprint}. To trust any new peer, add --trust-new-peer.`,
    },
  );
}
