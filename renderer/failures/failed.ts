import type { ErrorCode } from '../../engine/api/error.ts';

/** A `DrayError`, its record, or anything else with a message. */
export interface Failed {
  readonly message: string;
  readonly code?: ErrorCode;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** For `catch`. */
export function toFailed(error: unknown): Failed {
  return error instanceof Error ? error : { message: String(error) };
}
