/**
 * The URLs of remotes: what `init`, `clone` and `remote add` take, and what is stored.
 *
 *   file:///absolute/folder      /absolute/folder      relative/folder
 *   s3://bucket/prefix?endpoint=https://host&region=R&profile=P&pathStyle=true&anonymous=true
 *   dray://host:port/folder?tls=on|off&tokenFile=/absolute/file
 *
 * Bucket and prefix are percent-decoded: a `%` in a name is written `%25`, a `?` `%3F`. A URL never holds a
 * secret: it is stored, printed and shared.
 */

import { basename, isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { DrayError } from '../api/error.ts';
import { given } from '../api/given.ts';
import { trimEnd, trimStart } from '../api/text/trim-ends.ts';
import { checkBucketOfUrl, checkProfile, checkRegion, parseEndpoint } from './s3/s3-grammar.ts';

export type RemoteUrl = FileRemoteUrl | S3RemoteUrl | PeerRemoteUrl;

export interface FileRemoteUrl {
  readonly kind: 'file';
  /** Absolute. */
  readonly path: string;
}

export interface S3RemoteUrl extends S3Location {
  readonly kind: 's3';
  readonly bucket: string;
  /**
   * '' or parts joined by `/`, with none at its ends; for a place of plain objects, the prefix of its keys,
   * unchanged.
   */
  readonly prefix: string;
}

/** A folder that another machine serves by `dray serve`. */
export interface PeerRemoteUrl {
  readonly kind: 'peer';
  /** A name or an address, IPv6 without its brackets. */
  readonly host: string;
  readonly port: number;
  /** Below the served folder: '' or a path without slashes at its ends. */
  readonly prefix: string;
  /**
   * Absent: on. Loopback is no exception: while the server is down, any user of the machine can take its
   * port.
   */
  readonly tls?: boolean;
  /** Contains the token; absolute. */
  readonly tokenFile?: string;
  /** The user typed it on this command line. */
  readonly isTyped?: true;
}

/** How to reach the bucket and with which identity. Missing values come from elsewhere (`open-remote.ts`). */
export interface S3Location {
  /** `http:` or `https:`, no slash at its end. */
  readonly endpoint?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly pathStyle?: boolean;
  /** Requests are not signed: for public buckets. */
  readonly anonymous?: boolean;
}

const PARAMETERS = ['endpoint', 'region', 'profile', 'pathStyle', 'anonymous'] as const;

/**
 * The author of a URL: the user on this command line (`typed`), the user in a remote of their own (`user`),
 * or anybody: a workspace's settings, a page, a link (`elsewhere`). Only the user's own may name a token
 * file, because its content is sent to the URL's host.
 */
export type UrlOrigin = 'typed' | 'user' | 'elsewhere';

export interface ParseUrlOptions {
  /** Keep empty parts, which keys of plain objects may have: only one slash at the end is removed. */
  readonly keepsEmptyParts?: boolean;
  /** Default: `elsewhere`. */
  readonly from?: UrlOrigin;
}

/** @param baseFolder The folder that a relative path is relative to. Fails with `usage`, naming the fault. */
export function parseRemoteUrl(text: string, baseFolder: string, options: ParseUrlOptions = {}): RemoteUrl {
  if (text === '' || text.includes('\0'))
    throw refuse('The remote URL is empty or contains a NUL character.');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(text)?.[1]?.toLowerCase();
  if (scheme === 's3') return parseS3(text, options);
  if (scheme === 'dray') return parsePeer(text, options);
  if (scheme === 'file') return { kind: 'file', path: parseFile(text) };
  if (scheme !== undefined && /^[^:]+:\/\//.test(text)) {
    throw refuse(
      `Dray does not support remotes with "${scheme}:". Use s3://BUCKET/PREFIX, dray://HOST:PORT/FOLDER, file:///FOLDER or a path.`,
    );
  }
  return { kind: 'file', path: resolve(baseFolder, text) };
}

/** The URL in its normal form; `parseRemoteUrl` of it returns the same. */
export function formatRemoteUrl(url: RemoteUrl): string {
  if (url.kind === 'file') return formatFile(url.path);
  if (url.kind === 'peer') return formatPeer(url);
  const path = url.prefix === '' ? '' : `/${url.prefix.split('/').map(encodePart).join('/')}`;
  const query = PARAMETERS.flatMap((name) =>
    url[name] === undefined
      ? []
      : [`${name}=${encodeURIComponent(String(url[name])).replace(/%(3A|2F)/g, decodeURIComponent)}`],
  );
  return `s3://${url.bucket}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

/** Node's own function loses control characters and spaces at the end of a path, as the URL standard does. */
function formatFile(path: string): string {
  if (process.platform === 'win32') return pathToFileURL(path).href;
  return `file://${path.split('/').map(encodePart).join('/')}`;
}

/** The name of the folder that a clone makes: the last part of the URL. */
export function defaultCloneFolder(url: RemoteUrl): string {
  const name =
    url.kind === 'file' ? basename(url.path) : basename(url.prefix) || (url.kind === 's3' ? url.bucket : '');
  if (name !== '' && !/[\\:]/.test(name)) return name;
  throw refuse('The URL has no name for the clone. Give the folder as well.');
}

function parseFile(text: string): string {
  if (!/^file:\/\//i.test(text)) throw refuse(`"${text}" needs slashes: file:///absolute/folder.`);
  try {
    const url = new URL(text);
    if (url.search !== '' || url.hash !== '') {
      throw refuse(`"${text}" has parameters, and a file: URL takes none (write ? as %3F and # as %23).`);
    }
    return resolve(fileURLToPath(url));
  } catch (cause) {
    if (cause instanceof DrayError) throw cause;
    throw refuse(
      `"${text}" is not a valid file: URL. It has the form file:///absolute/folder, without a host.`,
      cause,
    );
  }
}

export const PEER_PORT = 7370;

export function peerOrigin({ host, port, tls = true }: PeerRemoteUrl): URL {
  return new URL(`${tls ? 'https' : 'http'}://${hostAndPort({ host, port })}`);
}

/**
 * The key of saved tokens and certificates: `dray://HOST:PORT`, with `?tls=off` if the connection is not
 * encrypted.
 */
export function peerAddress({
  host,
  port,
  tls = true,
}: Pick<PeerRemoteUrl, 'host' | 'port' | 'tls'>): string {
  return `dray://${hostAndPort({ host, port })}${tls ? '' : '?tls=off'}`;
}

/** @param text `HOST`, `HOST:PORT`, or a peer's URL. @throws DrayError `usage` */
export function parsePeerAddress(text: string): PeerRemoteUrl {
  return parsePeer(/^dray:\/\//i.test(text) ? text : `dray://${text}`, {});
}

/** Always with the port. */
export function hostAndPort({ host, port }: Pick<PeerRemoteUrl, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function parsePeer(text: string, { from = 'elsewhere' }: ParseUrlOptions): PeerRemoteUrl {
  const match = /^dray:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/is.exec(text);
  if (!match) throw refuse('The URL of a peer has the form dray://HOST:PORT/FOLDER.');
  const [, authority = '', path = '', query = ''] = match;
  if (authority.includes('@'))
    throw refuse(
      'A URL must not contain the token, because URLs are stored.',
      undefined,
      'Run "dray login HOST:PORT" once, which saves the token apart.',
    );
  const parts = /^(?:\[([0-9a-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(authority);
  const port = Number(parts?.[3] ?? PEER_PORT);
  if (!parts || port === 0 || port > 65_535)
    throw refuse(`"${authority}" is not a host and port. A peer's URL has the form dray://HOST:PORT/FOLDER.`);
  const host = hostAsConnected(parts[1] === undefined ? parts[2]! : `[${parts[1]}]`);
  const parameters = parsePeerQuery(query);
  if (parameters.tokenFile !== undefined && from === 'elsewhere')
    throw refuse(
      `This URL must not name a token file, because its author would choose which file is sent. Remove tokenFile.`,
      undefined,
      `Run "dray login ${authority}" once, or keep the URL as a remote of your own: dray remote add --user NAME URL.`,
    );
  const typed = from === 'typed' ? { isTyped: true as const } : {};
  return { kind: 'peer', host, port, prefix: parsePrefix(path), ...parameters, ...typed };
}

/**
 * In the URL standard's spelling: `[0::1]` is `::1`, and `127.1` is `127.0.0.1`. So one machine has one
 * address for its token, its certificate and the connection.
 */
function hostAsConnected(host: string): string {
  try {
    return new URL(`https://${host}`).hostname.replace(/^\[|\]$/g, '');
  } catch (cause) {
    throw refuse(`"${host}" is not a host. A peer's URL has the form dray://HOST:PORT/FOLDER.`, cause);
  }
}

function parsePeerQuery(query: string): Pick<PeerRemoteUrl, 'tls' | 'tokenFile'> {
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys())
    if (name !== 'tls' && name !== 'tokenFile')
      throw refuse(
        `A peer's URL has no parameter "${name}"; it has tls=on, tls=off and tokenFile=/absolute/path (never the token itself).`,
      );
  const tls = parameters.get('tls');
  if (tls !== null && tls !== 'on' && tls !== 'off') throw refuse(`tls must be "on" or "off", not "${tls}".`);
  const tokenFile = parameters.get('tokenFile');
  if (tokenFile !== null && !isAbsolute(tokenFile))
    throw refuse(
      `tokenFile needs an absolute path, because the URL is used in many folders; not "${tokenFile}".`,
    );
  return {
    ...(tls === null ? {} : { tls: tls === 'on' }),
    ...(tokenFile === null ? {} : { tokenFile }),
  };
}

function formatPeer({ host, port, prefix, tls, tokenFile }: PeerRemoteUrl): string {
  const path = prefix === '' ? '' : `/${prefix.split('/').map(encodePart).join('/')}`;
  const parameters = [
    ...(tls === undefined ? [] : [`tls=${tls ? 'on' : 'off'}`]),
    ...(tokenFile === undefined ? [] : [`tokenFile=${tokenFile.split('/').map(encodePart).join('/')}`]),
  ];
  const query = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return `dray://${hostAndPort({ host, port })}${path}${query}`;
}

function parseS3(text: string, { keepsEmptyParts = false }: ParseUrlOptions): S3RemoteUrl {
  const match = /^s3:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/is.exec(text);
  if (!match) throw refuse('An S3 URL has the form s3://BUCKET/PREFIX.');
  const [, authority = '', path = '', query = ''] = match;
  if (authority.includes('@')) {
    throw refuse(
      'A remote URL must not contain credentials, because it is stored. Leave them out.',
      undefined,
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a profile.',
    );
  }
  return {
    kind: 's3',
    bucket: checkBucketOfUrl(decode(authority)),
    prefix: keepsEmptyParts ? parseKeyPrefix(path) : parsePrefix(path),
    ...parseQuery(query),
  };
}

function parsePrefix(path: string): string {
  const prefix = trimStart(trimEnd(parseKeyPrefix(path), '/'), '/');
  if (prefix.includes('//')) throw refuse(`The prefix "${prefix}" contains an empty part.`);
  return prefix;
}

function parseKeyPrefix(path: string): string {
  const prefix = decode(path).replace(/\/$/, '');
  const fault = prefix.split('/').find((part) => part === '.' || part === '..');
  if (fault !== undefined) throw refuse(`The prefix "${prefix}" contains the part "${fault}".`);
  return prefix;
}

function parseQuery(query: string): S3Location {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (/key|secret|token|password|credential/i.test(name)) {
      throw refuse(
        `A remote URL must not contain credentials ("${name}"), because it is stored.`,
        undefined,
        'Use AWS_* variables or a profile.',
      );
    }
    if (!PARAMETERS.some((known) => known === name)) {
      throw refuse(`The remote URL has no parameter "${name}". It takes ${PARAMETERS.join(', ')}.`);
    }
    if (values.has(name)) throw refuse(`The remote URL gives "${name}" twice.`);
    if (value === '') throw refuse(`The remote URL gives no value for "${name}".`);
    values.set(name, value);
  }
  const found = {
    endpoint: values.get('endpoint'),
    region: values.get('region'),
    profile: values.get('profile'),
    pathStyle: parseBoolean('pathStyle', values.get('pathStyle')),
    anonymous: parseBoolean('anonymous', values.get('anonymous')),
  };
  return checkLocation(found, 'region= in the remote URL');
}

/** @param regionName For an error about the region. */
export function checkLocation(
  {
    anonymous,
    endpoint,
    pathStyle,
    profile,
    region,
  }: { readonly [K in keyof S3Location]: S3Location[K] | undefined },
  regionName: string,
): S3Location {
  return given({
    endpoint: endpoint === undefined ? undefined : parseEndpoint(endpoint),
    region: region === undefined ? undefined : checkRegion(region, regionName),
    profile: profile === undefined ? undefined : checkProfile(profile),
    pathStyle,
    anonymous,
  });
}

function parseBoolean(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === 'true' || text === 'false') return text === 'true';
  throw refuse(`${name} must be true or false, not "${text}".`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw refuse(`"${text}" is not percent-encoded properly. Write % as %25.`, cause);
  }
}

/** Encodes only characters that would be read as something else, so that people recognise their names. */
function encodePart(part: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not be printed.
  return part.replace(/[%?#|\\\s\x00-\x1f\x7f]/g, encodeURIComponent);
}

function refuse(message: string, cause?: unknown, advice = ''): DrayError {
  return new DrayError('usage', message, { advice, ...(cause === undefined ? {} : { cause }) });
}
