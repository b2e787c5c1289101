/** The one origin of the window; only it may talk to the main process. */

export const OWN_SCHEME = 'dray-app';
const OWN_HOST = 'window';
export const OWN_PAGE = `${OWN_SCHEME}://${OWN_HOST}/index.html`;

/** Our own scheme and host, without a port or a user. Parsed, never compared as text. */
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
