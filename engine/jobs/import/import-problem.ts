/** What cannot be imported. */
import { type ErrorCode, toDrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';

export interface ImportProblem {
  readonly path: string;
  readonly code: ErrorCode;
  readonly message: string;
  /** The error's `data.reason`. */
  readonly reason?: unknown;
}

/** @throws every error that does not concern this one file */
export function problemOf(path: string, error: unknown): ImportProblem {
  const { code, data, message } = toDrayError(error);
  const isOfFile = code === 'notFound' || code === 'damaged' || code === 'unsupported';
  if (isOfFile || data.reason === 'archived') return { path, code, message, reason: data.reason };
  throw error;
}

export function emitProblems({ emit }: JobContext, problems: Iterable<ImportProblem>): void {
  for (const { code, message, path } of problems)
    emit({ type: 'fileFailed', path, error: { code, message, retry: 'no', data: { path } } });
}
