/**
 * Remembers the certificates of peers by host and port, as ssh remembers hosts. Nobody signs a peer's
 * certificate, so a person decides at the first meeting, and the peer has to show the same certificate at
 * every later one. Nothing is sent before that decision.
 */
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { MetPeer } from '../../api/jobs.ts';
import { keepPeerRecord, type PeerRecordFile, readPeerRecords } from './peer-records.ts';

export interface KnownPeersOptions {
  /** Of the user's settings; may not be there yet. */
  readonly folder: string;
  /** Asked at the first meeting, before anything is sent. Absent: nobody new is trusted. */
  readonly trustsNew?: (peer: MetPeer) => Promise<boolean>;
  /** Carries out a change of what is kept there, while no other process does. */
  readonly changing: (change: () => void) => Promise<void>;
}

export interface PeerCheck {
  /** Called for each connection. Gives the error that refuses it: `unknownPeer` at the first meeting. */
  readonly check: (fingerprint: string) => DrayError | undefined;
  /** Asks whether the peer that was just refused is to be trusted, and remembers it. @throws DrayError `unknownPeer` */
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
      // Many connections are opened at once, and a person is asked once.
      meeting ??= ask(fingerprint);
      return meeting;
    },
  };
}

/** Fingerprints by `HOST:PORT`. @throws DrayError `io`, `usage` */
export function readKnownPeers(folder: string): Readonly<Record<string, string>> {
  return readPeerRecords(knownPeersFile(folder));
}

/** A person has compared the fingerprint. @throws DrayError `accessDenied` where another one is known, `io`, `usage` */
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
    `The certificate of dray://${address} is another one than before: somebody else may answer in its place. Nothing was sent. Known was ${known}, now it is ${fingerprint}. If it was changed on purpose, delete the line "${address}" in ${path}.`,
    { data: { peer: address, known, fingerprint, path } },
  );
}

function unknownPeer(address: string, fingerprint: string): DrayError {
  return new DrayError(
    'unknownPeer',
    `This machine has not connected to dray://${address} before, so Dray sent nothing. The fingerprint of its certificate is ${fingerprint}. Compare it with the one that "dray serve" shows there. To trust it, add --trust-peer ${fingerprint}. To trust any new peer, add --trust-new-peer.`,
    { data: { address, fingerprint } },
  );
}
