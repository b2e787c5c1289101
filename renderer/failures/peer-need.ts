/** What a person can do in the window about another machine's error, and the words for it. The engine's own words name options of the command. */
import type { ErrorCode } from '../../engine/api/error.ts';

/** A `DrayError`, its record, or whatever else has a message. */
export interface Failed {
  readonly message: string;
  readonly code?: ErrorCode;
  readonly data?: Readonly<Record<string, unknown>>;
}

export type PeerNeed =
  /** The machine is new, so the user has to trust it. `host`: `HOST:PORT`. */
  | { readonly needs: 'trust'; readonly host: string; readonly fingerprint: string }
  /** `peer`: the address that the token is kept for. `isRefused`: there is one, which the machine does not take. */
  | { readonly needs: 'token'; readonly host: string; readonly peer: string; readonly isRefused: boolean };

/** Undefined: nothing that can be done here. A changed certificate is such an error, since somebody else may answer. */
export function peerNeedOf({ code, data = {} }: Failed): PeerNeed | undefined {
  const { address, fingerprint, status } = data;
  if (typeof address !== 'string') return undefined;
  if (code === 'unknownPeer' && typeof fingerprint === 'string')
    return { needs: 'trust', host: address, fingerprint };
  const isRefused = code === 'accessDenied' && status === 401;
  if (!address.startsWith('dray://') || !(isRefused || code === 'noCredentials')) return undefined;
  return { needs: 'token', host: hostOf(address), peer: address, isRefused };
}

/** Without the fingerprint, which `FailureText` and the dialog show. */
export function failureWords(error: Failed): string {
  const need = peerNeedOf(error);
  if (!need) return error.message;
  if (need.needs === 'trust') return `This computer does not know ${need.host} yet, so nothing was sent.`;
  const found = need.isRefused
    ? `${need.host} refuses the token that it was sent.`
    : `No token is kept here for ${need.host}, so nothing was sent.`;
  return `${found} "dray serve" shows its token there when it starts.`;
}

/** For `catch`. */
export function toFailed(error: unknown): Failed {
  return error instanceof Error ? error : { message: String(error) };
}

/** `HOST:PORT` of an address. */
export function hostOf(address: string): string {
  return address.replace(/^dray:\/\//, '').replace(/[?].*$/, '');
}

export function isEncrypted(address: string): boolean {
  return !address.endsWith('?tls=off');
}
