/**
 * Decides who may talk to the window's server. A browser opens a link, which works once. It gets a cookie and
 * a key, and sends both with every later request. The cookie alone opens only the window's own files:
 * browsers send it to every port of this machine, so another user's server may get it. The key comes in the
 * fragment of an address, which browsers send to no server. Only pages of this origin can read the key, and
 * only their code sends it. Cookies ignore ports. So the cookie's name contains the port that the browser
 * sees, which through a tunnel differs from the server's: two windows, local or through tunnels, keep
 * separate cookies.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;
/** Unopened links. When there are more, the oldest is void. */
const LINKS_MAX = 16;

export interface BrowserSession {
  /** A token for one more link. */
  newToken(): string;
  /**
   * The cookie's header and the key if the token is right. Works once. @param port As the browser sees it.
   */
  redeem(token: string, port: string): { readonly cookie: string; readonly key: string } | undefined;
  /** @param header The request's `Cookie`. @param port As the browser sees it. */
  isKnown(header: string | undefined, port: string): boolean;
  isKey(given: string): boolean;
}

export function createBrowserSession(): BrowserSession {
  const cookie = newSecret();
  const key = newSecret();
  let open: readonly string[] = [];
  return {
    newToken: () => {
      const token = newSecret();
      open = [...open, token].slice(-LINKS_MAX);
      return token;
    },
    redeem: (token, port) => {
      const found = open.find((candidate) => isEqual(token, candidate));
      if (found === undefined) return undefined;
      open = open.filter((candidate) => candidate !== found);
      return { cookie: `${nameOf(port)}=${cookie}; Path=/; HttpOnly; SameSite=Strict`, key };
    },
    isKnown: (header, port) => isEqual(cookieValue(header, nameOf(port)), cookie),
    isKey: (given) => isEqual(given, key),
  };
}

function nameOf(port: string): string {
  return `dray-window-${port}`;
}

function cookieValue(header = '', name: string): string {
  const pair = header
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? '';
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Digests have the same length, and comparing them takes the same time whatever they contain. */
function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
