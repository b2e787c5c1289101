/**
 * Finds the token for a peer. A token belongs to one address: host, port, and whether the connection is
 * encrypted. It is taken, in this order, from
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
  const { DRAY_TOKEN, DRAY_TOKEN_FILE } = environment;
  const ofEnvironment = () =>
    DRAY_TOKEN
      ? checkToken(DRAY_TOKEN, 'DRAY_TOKEN')
      : DRAY_TOKEN_FILE
        ? readTokenFile(DRAY_TOKEN_FILE)
        : undefined;
  const address = peerAddress(url);
  if (url.tokenFile !== undefined) return readTokenFile(url.tokenFile);
  const named = addressOfEnvironment(environment);
  const token =
    (named === address ? ofEnvironment() : undefined) ??
    (folder === undefined ? undefined : readPeerRecords(tokensFile(folder))[address]) ??
    (url.isTyped && !named ? ofEnvironment() : undefined);
  if (token !== undefined) return token;
  throw noToken(address, { isWithheld: Boolean(DRAY_TOKEN || DRAY_TOKEN_FILE), named });
}

/** The address that `DRAY_TOKEN_HOST` names. @throws DrayError `usage` when it makes no sense. */
export function addressOfEnvironment({ DRAY_TOKEN_HOST: text }: Environment): string | undefined {
  try {
    return text ? peerAddress(parsePeerAddress(text)) : undefined;
  } catch (cause) {
    throw new DrayError(
      'usage',
      `DRAY_TOKEN_HOST is "${text}". It has to be HOST, HOST:PORT or a dray:// URL.`,
      { cause },
    );
  }
}

/** What a header can carry. */
const TOKEN = /^[\x21-\x7e]{1,1024}$/;

/** @param what It is, for people. @throws DrayError `usage` */
export function checkToken(token: string, what: string): string {
  if (TOKEN.test(token)) return token;
  throw new DrayError(
    'usage',
    `${what} is no token: it has 1 to 1,024 letters, digits and signs, and no spaces. "dray serve" shows it when it starts.`,
  );
}

/** The addresses for which tokens are kept. @throws DrayError `io`, `usage` */
export function addressesWithToken(folder: string): readonly string[] {
  return Object.keys(readPeerRecords(tokensFile(folder)));
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

function noToken(
  address: string,
  { isWithheld, named }: { readonly isWithheld: boolean; readonly named: string | undefined },
): DrayError {
  const host = /[?]/.test(address) ? `'${address}'` : address.replace('dray://', '');
  const login = `There is no token for ${address}. Run "dray login ${host}" once, with what "dray serve" showed there`;
  const why = named
    ? ` DRAY_TOKEN was not sent, since DRAY_TOKEN_HOST names ${named}.`
    : ` DRAY_TOKEN was not sent, since nobody typed this URL on the command line. DRAY_TOKEN_HOST can name the peer that it is for.`;
  return new DrayError('noCredentials', `${login}.${isWithheld ? why : ''}`, { data: { address } });
}

function readTokenFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new DrayError('noCredentials', `The token file ${file} cannot be read.`, {
      data: { path: file },
      cause,
    });
  }
  return checkToken(text.trim(), `The content of ${file}`);
}
