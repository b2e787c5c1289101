/** Finds the step that the window offers for an error of another machine. */
import type { Failed } from './failed.ts';

export type PeerNeed =
  /** The user has not trusted this machine yet. `host`: `HOST:PORT`. */
  | { readonly needs: 'trust'; readonly host: string; readonly fingerprint: string }
  /**
   * `peer`: the address that the token is kept for. `isRefused`: there is one, which the machine does not
   * take.
   */
  | { readonly needs: 'token'; readonly host: string; readonly peer: string; readonly isRefused: boolean };

/**
 * Undefined if the window can do nothing. That includes a changed certificate, because somebody else may be
 * answering.
 */
export function peerNeedOf({ code, data = {} }: Failed): PeerNeed | undefined {
  const { address, fingerprint, status } = data;
  if (typeof address !== 'string') return undefined;
  if (code === 'unknownPeer' && typeof fingerprint === 'string')
    return { needs: 'trust', host: address, fingerprint };
  const isRefused = code === 'accessDenied' && status === 401;
  if (!address.startsWith('dray://') || !(isRefused || code === 'noCredentials')) return undefined;
  return { needs: 'token', host: hostOf(address), peer: address, isRefused };
}

/** `HOST:PORT` of an address. */
export function hostOf(address: string): string {
  return address.replace(/^dray:\/\//, '').replace(/[?].*$/, '');
}

export function isEncrypted(address: string): boolean {
  return !address.endsWith('?tls=off');
}
