/** `dray serve`: offers a folder to other machines until it is stopped. */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { ServeRequest, ServeSummary } from '../../api/jobs/peers.ts';
import { untilAborted } from '../../base/abort.ts';
import { fingerprintOf, readCertificate, type ServerCertificate } from '../../peer/peer-certificate.ts';
import { serveFolder } from '../../peer/serve-folder.ts';
import { isLoopback, PEER_PORT, peerAddress } from '../../remotes/remote-url.ts';
import { refuseLocalRepository } from '../places/local-repository.ts';
import { userConfigFolder } from '../session/user-remotes.ts';

const CONNECTIONS_MAX = 256;
const TOKEN_BYTES = 32;
const TOKEN = /^[\x21-\x7e]{16,1024}$/;

/**
 * Resolves when the signal fires and requests in flight have ended.
 * @throws `notFound`, `usage`, `io` before it starts
 */
export async function serve(context: JobContext, request: ServeRequest): Promise<ServeSummary> {
  const { host = '127.0.0.1', isReadOnly = false, port = PEER_PORT } = request;
  const folder = resolve(context.directory, request.folder);
  if (!isReadOnly)
    refuseLocalRepository(
      dirname(folder),
      'Others could change its stored objects: serve all of it, or this folder for reading only.',
    );
  const { isNew, token } = readToken(context, request);
  const tls = await certificateFor(context, request);
  warnOfOpenness(context, request, { host, tls });
  let requests = 0;
  const server = await serveFolder({
    root: folder,
    host,
    port,
    token,
    isReadOnly,
    specialModes: request.specialModes ?? false,
    ...(tls ? { tls } : {}),
    hostNames: [
      'localhost',
      hostname().toLowerCase(),
      ...(request.names ?? []).map((name) => name.toLowerCase()),
    ],
    connectionsMax: request.connectionsMax ?? CONNECTIONS_MAX,
    software: request.software,
    onRequest: () => {
      requests += 1;
    },
    onFailure: (error) => {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      context.emit({ type: 'warning', warning: 'requestFailed', message: `A request failed: ${message}` });
    },
  });
  const shown = isEverywhere(host) ? hostname().toLowerCase() : host;
  const url = peerAddress({ host: shown, port: server.address.port, tls: tls !== undefined });
  context.emit({
    type: 'serving',
    folder,
    url,
    isReadOnly,
    ...(tls ? { fingerprint: fingerprintOf(tls.cert) } : {}),
    ...(isNew ? { token } : {}),
  });
  await untilAborted(context.signal);
  await server.close();
  return { folder, url, requests };
}

function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function warnOfOpenness(
  { emit }: JobContext,
  { tls: wanted }: ServeRequest,
  { host, tls }: { readonly host: string; readonly tls: ServerCertificate | undefined },
): void {
  if (tls || isLoopback(host) || wanted !== 'off') return;
  const message = `Without TLS, anyone on the network path to ${host} can read the token and all data.`;
  emit({ type: 'warning', warning: 'notEncrypted', message });
}

export async function certificateFor(
  context: Pick<JobContext, 'directory' | 'environment'>,
  { tls = 'auto' }: Pick<ServeRequest, 'tls'>,
): Promise<ServerCertificate | undefined> {
  if (tls === 'off') return undefined;
  if (tls !== 'auto') {
    const [cert, key] = [tls.certPath, tls.keyPath].map((path) => resolve(context.directory, path));
    return readCertificate(cert!, key!);
  }
  const { ownCertificate } = await import('../../peer/peer-own-certificate.ts');
  return ownCertificate(userConfigFolder(context), hostname().toLowerCase());
}

/** A token that the user writes must be hard to guess: at least 16 characters. */
function readToken(
  context: JobContext,
  { tokenPath }: ServeRequest,
): { readonly token: string; readonly isNew: boolean } {
  const made = randomBytes(TOKEN_BYTES).toString('base64url');
  if (tokenPath === undefined) return { token: made, isNew: true };
  const path = resolve(context.directory, tokenPath);
  try {
    // Created with mode 0600, so that no other user can ever read it.
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, `${made}\n`);
    } finally {
      closeSync(file);
    }
    return { token: made, isNew: true };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new DrayError('io', `The token file ${path} cannot be made.`, { data: { path }, cause });
  }
  const token = readTokenFile(path);
  if (TOKEN.test(token)) return { token, isNew: false };
  throw new DrayError(
    'usage',
    `${path} does not contain a token: one line of 16 characters or more, without spaces.`,
    {
      data: { path },
    },
  );
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new DrayError('io', `The token file ${path} cannot be read.`, { data: { path }, cause });
  }
}
