/** What cannot be imported. */
import { type ErrorCode, toDrayError } from '../../api/error.ts';

export interface ImportProblem {
  readonly path: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** @throws every error that does not concern this one file */
export function problemOf(path: string, error: unknown): ImportProblem {
  const { code, data, message } = toDrayError(error);
  const isOfFile = code === 'notFound' || code === 'damaged' || code === 'unsupported';
  if (isOfFile || data.reason === 'archived') return { path, code, message };
  throw error;
}
