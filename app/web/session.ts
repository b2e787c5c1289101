/**
 * Who may talk to the window's server: the browser that opened the link, once, and from then on its cookie.
 *
 * Cookies know no ports, so the cookie's name holds this one's: two windows of one machine do not push each other out.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;

export interface Session {
  /** A token for a link; the one before it, if nobody used it, opens nothing any more. */
  newToken(): string;
  /** The cookie's header when the token is right, and then never again. */
  redeem(token: string): string | undefined;
  /** @param header The request's `Cookie`. */
  isKnown(header: string | undefined): boolean;
}

export function createSession(port: number): Session {
  const name = `dray-window-${port}`;
  const cookie = newSecret();
  let open: string | undefined;
  return {
    newToken: () => {
      open = newSecret();
      return open;
    },
    redeem: (token) => {
      if (open === undefined || !isEqual(token, open)) return undefined;
      open = undefined;
      return `${name}=${cookie}; Path=/; HttpOnly; SameSite=Strict`;
    },
    isKnown: (header) => isEqual(cookieValue(header, name), cookie),
  };
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

/** Digests have one length, and comparing them takes the same time whatever they are. */
function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
