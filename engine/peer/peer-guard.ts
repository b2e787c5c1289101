/** Decides which requests are accepted: the token, the host name, and no web page. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PeerRefusal } from './peer-call.ts';

export interface GuardOptions {
  readonly token: string;
  /**
   * The server's host names, in lower case and without a port. A page whose own name resolves to this server
   * (DNS rebinding) sends that name, which is not one of these. Addresses need no entry: no page can own one.
   */
  readonly hostNames: readonly string[];
}

const BEARER = /^Bearer ([\x21-\x7e]+)$/i;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.%]+\])$/i;

/**
 * @returns Throws PeerRefusal 400, 401 or 403 for a request that must not be answered, before it reads
 * anything else of it.
 */
export function createGuard({ hostNames, token }: GuardOptions): (request: IncomingMessage) => void {
  const expected = digestOf(token);
  const names = new Set(hostNames);
  return ({ headers }) => {
    // Digests have the same length, and comparing them takes the same time whatever they contain.
    const given = BEARER.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digestOf(given), expected))
      throw new PeerRefusal(
        401,
        'accessDenied',
        'The token is missing or wrong. The machine printed it when it began to serve.',
      );
    if (headers.origin !== undefined)
      throw new PeerRefusal(403, 'accessDenied', 'Requests from web pages are refused.');
    const host = hostNameOf(headers.host);
    if (host === undefined) throw new PeerRefusal(400, 'usage', 'The Host header is missing or malformed.');
    if (!ADDRESS.test(host) && !names.has(host))
      throw new PeerRefusal(
        403,
        'accessDenied',
        `This peer does not know the host name ${host}. The person who serves it can allow this name.`,
      );
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function hostNameOf(header: string | undefined): string | undefined {
  const name = /^(\[[^\]]*\]|[^:]+)(?::\d{1,5})?$/.exec(header ?? '')?.[1];
  return name?.toLowerCase();
}
