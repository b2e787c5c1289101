/** Which page asks, and under which name: what keeps other sites' pages away from a server on loopback. */
import type { IncomingHttpHeaders } from 'node:http';

const NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

export interface OwnOrigin {
  /** Such as `http://localhost:7371`. */
  readonly origin: string;
  /** As the browser sees it: at the near end of a tunnel it may be another one than the server's. */
  readonly port: string;
}

/**
 * The server's own origin as this request names it; undefined for a name that is not loopback's. A page that makes its own name lead
 * here (DNS rebinding) comes under that name. Which port is named proves nothing, since no page writes its `Host` itself.
 */
export function ownOrigin({ host = '' }: IncomingHttpHeaders): OwnOrigin | undefined {
  const [, name = '', port = '80'] = /^([^:]+|\[[^\]]*\])(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
  return NAMES.includes(name) ? { origin: `http://${host.toLowerCase()}`, port } : undefined;
}

/** Browsers send `Origin` with every WebSocket and every POST; who sends none is no page of ours. */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const own = ownOrigin(headers);
  return own !== undefined && headers.origin === own.origin;
}
