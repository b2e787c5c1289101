/**
 * The key that a page of `dray ui` sends beside its cookie.
 *
 * It comes as the fragment of an address (`#key=...`), which browsers send to no server. The page sends it back as a header
 * of requests, and as a subprotocol of the WebSocket: a page can set no other header there.
 */
export const WINDOW_KEY_HEADER = 'dray-key';
const PROTOCOL = 'dray';
const KEY_PREFIX = 'dray-key.';

/** @param hash Where in the window: empty, or such as `#/home`. */
export function withKey(key: string, hash: string): string {
  return `#key=${key}${hash.slice(1)}`;
}

/** The key and the rest of the fragment; undefined if it holds no key. */
export function splitKey(hash: string): { readonly key: string; readonly hash: string } | undefined {
  const [, key, rest = ''] = /^#key=([\w-]+)(\/.*)?$/.exec(hash) ?? [];
  return key === undefined ? undefined : { key, hash: rest === '' ? '' : `#${rest}` };
}

/** The subprotocols of the WebSocket. The server names the first one in its answer. */
export function protocolsOf(key: string | undefined): readonly string[] {
  return key === undefined ? [PROTOCOL] : [PROTOCOL, `${KEY_PREFIX}${key}`];
}

/** @param header The request's `Sec-WebSocket-Protocol`. */
export function keyOfProtocols(header = ''): string {
  const offered = header.split(',').map((one) => one.trim());
  return offered.find((one) => one.startsWith(KEY_PREFIX))?.slice(KEY_PREFIX.length) ?? '';
}
