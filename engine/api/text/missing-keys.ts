/** Recognises errors about missing keys of a store and missing passwords, which the user can type. */
import type { ErrorCode } from '../error.ts';
import type { LockedRepository } from '../jobs/repositories.ts';

interface AnyError {
  readonly code?: ErrorCode;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What a transfer waits for until the user types it. */
export type MissingSecret = { readonly profile: string } | { readonly locked: LockedRepository };

export function missingSecretOf(error: AnyError): MissingSecret | undefined {
  const profile = missingKeysOf(error);
  if (profile !== undefined) return { profile };
  const locked = missingPasswordOf(error);
  return locked && { locked };
}

/** The repository whose password is missing or wrong. Undefined for any other error. */
export function missingPasswordOf({ code, data = {} }: AnyError): LockedRepository | undefined {
  const { check, remote: address, repository: id } = data;
  const isMissing = code === 'noPassword' || code === 'wrongPassword';
  return isMissing && typeof id === 'string' && typeof check === 'string' && typeof address === 'string'
    ? { address, check, id }
    : undefined;
}

/**
 * The profile that lacks keys; `default` for a remote that names none. Undefined for any other error.
 */
export function missingKeysOf({ code, data = {} }: AnyError): string | undefined {
  const isMissing = code === 'noCredentials' || (code === 'usage' && data.reason === 'noProfile');
  return isMissing && typeof data.profile === 'string' ? data.profile : undefined;
}
