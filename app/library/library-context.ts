/** What the library's calls give to the engine's jobs. */
import type { JobEvent } from '../../engine/api/events.ts';
import type { ConnectionFlags, JobContext } from '../../engine/api/jobs/jobs.ts';

/** Where things are and who hears of the work. */
export interface DrayOptions {
  /** What relative paths are relative to. Default: the process's working directory. */
  readonly directory?: string | undefined;
  /** Instead of the process's own: `AWS_*`, `DRAY_*`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Of an encrypted repository. Default: as for the command, from the environment. */
  readonly password?: string | undefined;
  /** S3 endpoint, region, profile and the like, where the URL does not say. */
  readonly connection?: ConnectionFlags | undefined;
  /** Stops the work: calls then fail with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Progress, warnings and results by item, as `--json` prints them. */
  readonly onEvent?: ((event: JobEvent) => void) | undefined;
}

export function contextOf(options: DrayOptions): JobContext {
  const { connection = {}, directory = process.cwd(), environment = process.env, password } = options;
  return {
    directory,
    connection,
    environment: password === undefined ? environment : { ...environment, DRAY_PASSWORD: password },
    // The program chose its places itself, as somebody at a command line does.
    isTyped: true,
    signal: options.signal ?? new AbortController().signal,
    emit: options.onEvent ?? (() => {}),
  };
}
