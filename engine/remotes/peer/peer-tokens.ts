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
  /** The folder of the user's settings. Absent: no saved token is known. */
  readonly folder?: string | undefined;
}

/** @throws DrayError `noCredentials`, `usage` if `DRAY_TOKEN_HOST` is invalid. */
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

/** The address that `DRAY_TOKEN_HOST` names. @throws DrayError `usage` if it is invalid. */
export function addressOfEnvironment({ DRAY_TOKEN_HOST: text }: Environment): string | undefined {
  try {
    return text ? peerAddress(parsePeerAddress(text)) : undefined;
  } catch (cause) {
    throw new DrayError(
      'usage',
      `DRAY_TOKEN_HOST is "${text}". It must be HOST, HOST:PORT or a dray:// URL.`,
      { cause },
    );
  }
}

/** Characters that a header can carry. */
const TOKEN = /^[\x21-\x7e]{1,1024}$/;

/** @param what The token's source, for people. @throws DrayError `usage` */
export function checkToken(token: string, what: string): string {
  if (TOKEN.test(token)) return token;
  throw new DrayError(
    'usage',
    `${what} is not a token. A token has 1 to 1,024 letters, digits and signs, and no spaces.`,
    { advice: '"dray serve" prints it at its start.' },
  );
}

/** The addresses with saved tokens. @throws DrayError `io`, `usage` */
export function addressesWithToken(folder: string): readonly string[] {
  return Object.keys(readPeerRecords(tokensFile(folder)));
}

/**
 * @param address In the form of `peerAddress`. @param token Undefined: removes it. @returns Whether there was
 * one before.
 */
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
  const advice = `Run "dray login ${host}" once, with the token that "dray serve" printed there.`;
  const whyAdvice = named
    ? ` DRAY_TOKEN was not sent, because DRAY_TOKEN_HOST names ${named}.`
    : ` DRAY_TOKEN was not sent, because this URL was not typed on the command line. Set DRAY_TOKEN_HOST to the peer that the token is for.`;
  return new DrayError('noCredentials', `There is no token for ${address}.`, {
    data: { address },
    advice: `${advice}${isWithheld ? whyAdvice : ''}`,
    command: `dray login ${host}`,
  });
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
