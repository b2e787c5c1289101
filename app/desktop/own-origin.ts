/** The one address that the window has, and what may speak from it. */

export const OWN_SCHEME = 'dray-app';
const OWN_HOST = 'window';
export const OWN_PAGE = `${OWN_SCHEME}://${OWN_HOST}/index.html`;

/** Of our own scheme and host, without a port or a user: parsed, never compared as text. */
export function isOwnUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    url.protocol === `${OWN_SCHEME}:` &&
    url.hostname === OWN_HOST &&
    url.port === '' &&
    url.username === '' &&
    url.password === ''
  );
}
