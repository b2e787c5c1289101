/**
 * The key that a page of `dray ui` sends in addition to its cookie.
 *
 * It arrives as the fragment of an address (`#key=...`), which browsers do not send to servers. The page
 * sends it as a request header, and as a subprotocol of the WebSocket, where a page can set no other header.
 */
export const WINDOW_KEY_HEADER = 'dray-key';
const PROTOCOL = 'dray';
const KEY_PREFIX = 'dray-key.';

/** @param hash The window's location: empty, or such as `#/home`. */
export function withKey(key: string, hash: string): string {
  return `#key=${key}${hash.slice(1)}`;
}

/** The key and the rest of the fragment; undefined when it holds no key. */
export function splitKey(hash: string): { readonly key: string; readonly hash: string } | undefined {
  const [, key, rest = ''] = /^#key=([\w-]+)(\/.*)?$/.exec(hash) ?? [];
  return key === undefined ? undefined : { key, hash: rest === '' ? '' : `#${rest}` };
}

/** The subprotocols of the WebSocket. The server answers with the first one. */
export function protocolsOf(key: string | undefined): readonly string[] {
  return key === undefined ? [PROTOCOL] : [PROTOCOL, `${KEY_PREFIX}${key}`];
}

/** @param header The request's `Sec-WebSocket-Protocol`. */
export function keyOfProtocols(header = ''): string {
  const offered = header.split(',').map((one) => one.trim());
  return offered.find((one) => one.startsWith(KEY_PREFIX))?.slice(KEY_PREFIX.length) ?? '';
}
