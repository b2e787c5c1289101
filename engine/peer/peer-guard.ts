/** Who may ask: the token, the name that the server was asked by, and no web page. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PeerRefusal } from './peer-call.ts';

export interface GuardOptions {
  readonly token: string;
  /**
   * Names that the server goes by, in lower case and without a port. A page that makes its own name lead here (DNS rebinding) comes
   * under a name that is none of these. Addresses need not be listed: no page can own one.
   */
  readonly hostNames: readonly string[];
}

const BEARER = /^Bearer ([\x21-\x7e]+)$/i;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.%]+\])$/i;

/** @returns Throws PeerRefusal 400, 401 or 403 for a request that is not to be answered; nothing in it was looked at by then. */
export function createGuard({ hostNames, token }: GuardOptions): (request: IncomingMessage) => void {
  const expected = digestOf(token);
  const names = new Set(hostNames);
  return ({ headers }) => {
    // Digests have one length, and comparing them takes the same time whatever they are.
    const given = BEARER.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digestOf(given), expected))
      throw new PeerRefusal(
        401,
        'accessDenied',
        'The token is missing or wrong. It was shown when "dray serve" began.',
      );
    if (headers.origin !== undefined)
      throw new PeerRefusal(403, 'accessDenied', 'Requests of web pages are refused.');
    const host = hostNameOf(headers.host);
    if (host === undefined) throw new PeerRefusal(400, 'usage', 'The Host header is missing or malformed.');
    if (!ADDRESS.test(host) && !names.has(host))
      throw new PeerRefusal(
        403,
        'accessDenied',
        `This peer does not go by the name ${host}. "dray serve --name ${host}" makes it.`,
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
