/** Recognises errors about missing keys of a store, which the user can type. */
import type { ErrorCode } from './error.ts';

/**
 * The profile that lacks keys; `default` for a remote that names none. Undefined for any other error.
 */
export function missingKeysOf({
  code,
  data = {},
}: {
  readonly code?: ErrorCode;
  readonly data?: Readonly<Record<string, unknown>>;
}): string | undefined {
  const isMissing = code === 'noCredentials' || (code === 'usage' && data.reason === 'noProfile');
  return isMissing && typeof data.profile === 'string' ? data.profile : undefined;
}
