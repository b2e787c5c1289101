/** Prints an error for people and for programs. */
import { exitCodeOf, toDrayError } from '../../../engine/api/error.ts';
import { type Output, toJsonLine } from './output.ts';

export interface ErrorOrigin {
  readonly command: string;
  /** Set if something other than the error decides. */
  readonly exitCode?: number | undefined;
}

/** Prints the error and returns the exit code. */
export function reportError(output: Output, error: unknown, origin: ErrorOrigin): number {
  const known = toDrayError(error);
  const exitCode = origin.exitCode ?? exitCodeOf(known.code);
  if (output.json) {
    const { code, message, data } = known;
    output.record({ type: 'error', command: origin.command, exitCode, code, message, data });
    return exitCode;
  }
  output.problem('error', known.message);
  if (output.verbose) {
    output.problem('plain', `  code: ${known.code}`);
    if (Object.keys(known.data).length > 0) output.problem('plain', `  data: ${toJsonLine(known.data)}`);
    for (let cause: unknown = known; cause instanceof Error; cause = cause.cause) {
      for (const line of (cause.stack ?? String(cause)).split('\n')) output.problem('plain', `  ${line}`);
    }
  } else if (known.code === 'internal') {
    output.problem('plain', 'Run it again with --verbose to see where it happened.');
  }
  return exitCode;
}
