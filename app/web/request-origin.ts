/**
 * Checks which page sends a request, and to which name. This keeps other sites' pages away from a server on
 * loopback.
 */
import type { IncomingHttpHeaders } from 'node:http';

const NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

export interface OwnOrigin {
  /** Such as `http://localhost:7371`. */
  readonly origin: string;
  /** The port as the browser sees it. Through a tunnel it can differ from the server's. */
  readonly port: string;
}

/**
 * The server's own origin as this request names it; undefined if the name is not a loopback name. A page
 * whose own name resolves to this server (DNS rebinding) sends that name. The port proves nothing, because
 * through a tunnel it can be any, and no page sets its own `Host`.
 */
export function ownOrigin({ host = '' }: IncomingHttpHeaders): OwnOrigin | undefined {
  const [, name = '', port = '80'] = /^([^:]+|\[[^\]]*\])(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
  return NAMES.includes(name) ? { origin: `http://${host.toLowerCase()}`, port } : undefined;
}

/** Browsers send `Origin` with every WebSocket and every POST. A request without it is not from our page. */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const own = ownOrigin(headers);
  return own !== undefined && headers.origin === own.origin;
}
