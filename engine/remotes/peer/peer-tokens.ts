/**
 * Which token a peer is sent. A token belongs to one address: host, port, and whether the way is encrypted. It is found, in this order, in
 *
 * 1. the file that the URL names, which only a URL of the user's own may do;
 * 2. `DRAY_TOKEN` or `DRAY_TOKEN_FILE`, where `DRAY_TOKEN_HOST` names this address;
 * 3. what `dray login` keeps for this address;
 * 4. `DRAY_TOKEN` or `DRAY_TOKEN_FILE` without `DRAY_TOKEN_HOST`, if the URL was typed on this command line.
 *
 * So no URL of a workspace, a link or a repository decides where a token goes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { type PeerRemoteUrl, parsePeerAddress, peerAddress } from '../remote-url.ts';
import { keepPeerRecord, type PeerRecordFile, readPeerRecords } from './peer-records.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface TokenSources {
  readonly environment: Environment;
  /** Of the user's settings. Absent: no login is known. */
  readonly folder?: string | undefined;
}

/** @throws DrayError `noCredentials`, `usage` when `DRAY_TOKEN_HOST` makes no sense. */
export function tokenFor(url: PeerRemoteUrl, { environment, folder }: TokenSources): string {
  const { DRAY_TOKEN, DRAY_TOKEN_FILE, DRAY_TOKEN_HOST } = environment;
  const ofEnvironment = () =>
    DRAY_TOKEN || (DRAY_TOKEN_FILE ? readTokenFile(DRAY_TOKEN_FILE) : undefined) || undefined;
  const address = peerAddress(url);
  if (url.tokenFile !== undefined) return readTokenFile(url.tokenFile);
  const isNamed = DRAY_TOKEN_HOST && peerAddress(parsePeerAddress(DRAY_TOKEN_HOST)) === address;
  const token =
    (isNamed ? ofEnvironment() : undefined) ??
    (folder === undefined ? undefined : readPeerRecords(tokensFile(folder))[address]) ??
    (url.isTyped && !DRAY_TOKEN_HOST ? ofEnvironment() : undefined);
  if (token !== undefined) return token;
  throw noToken(address, { isWithheld: Boolean(DRAY_TOKEN || DRAY_TOKEN_FILE) });
}

/** @param address As `peerAddress` gives it. @param token Undefined: forgets it. @returns Whether there was one before. */
export function keepToken(folder: string, address: string, token: string | undefined): boolean {
  const file = tokensFile(folder);
  const isKnown = readPeerRecords(file)[address] !== undefined;
  if (isKnown || token !== undefined) keepPeerRecord(file, address, token);
  return isKnown;
}

function tokensFile(folder: string): PeerRecordFile {
  return {
    path: join(folder, 'peer-tokens.json'),
    field: 'tokens',
    name: 'The list of tokens',
    isSecret: true,
  };
}

function noToken(address: string, { isWithheld }: { readonly isWithheld: boolean }): DrayError {
  const host = /[?]/.test(address) ? `'${address}'` : address.replace('dray://', '');
  const login = `There is no token for ${address}. Run "dray login ${host}" once, with what "dray serve" showed there`;
  const withheld = `; DRAY_TOKEN was not sent, since it goes only to the peer that DRAY_TOKEN_HOST names, or to a URL typed on the command line.`;
  return new DrayError('noCredentials', `${login}${isWithheld ? withheld : '.'}`, { data: { address } });
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new DrayError('noCredentials', `The token file ${file} cannot be read.`, {
      data: { path: file },
      cause,
    });
  }
}
