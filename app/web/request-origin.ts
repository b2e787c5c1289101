/** Which page asks, and under which name: what keeps other sites' pages away from a server on loopback. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * The server's own origin as this request names it, such as `http://localhost:7371`; undefined for a name that is not loopback's or
 * another port. A page that makes its own name lead here (DNS rebinding) comes under that name.
 */
export function ownOrigin({ host }: IncomingHttpHeaders, port: number): string | undefined {
  const named = host?.toLowerCase();
  const isOwn = ['127.0.0.1', 'localhost', '[::1]'].some((name) => named === `${name}:${port}`);
  return isOwn ? `http://${named}` : undefined;
}

/** Browsers send `Origin` with every WebSocket and every POST; who sends none is no page of ours. */
export function isFromOwnPage(headers: IncomingHttpHeaders, port: number): boolean {
  const own = ownOrigin(headers, port);
  return own !== undefined && headers.origin === own;
}
