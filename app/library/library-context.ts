/** What the library's calls give to the engine's jobs. */
import { DrayError } from '../../engine/api/error.ts';
import type {
  ChangeEvent,
  ConflictEvent,
  FileFailedEvent,
  JobEvent,
  LookupEvent,
  PhaseEvent,
  PlanEvent,
  ProgressEvent,
  RemoteUsedEvent,
  WarningEvent,
} from '../../engine/api/events.ts';
import type { ConnectionFlags, JobContext } from '../../engine/api/jobs/jobs.ts';

/** What a call tells while it runs. `type` says which event it is. */
export type DrayEvent =
  | ChangeEvent
  | ConflictEvent
  | FileFailedEvent
  | LookupEvent
  | PhaseEvent
  | PlanEvent
  | ProgressEvent
  | RemoteUsedEvent
  | WarningEvent;

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
  /** Stops all calls of what is opened: they fail with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Hears of progress, at most ten times a second, of warnings, and of results by path. An error that it
   * throws stops the work: the call fails with `aborted` and the error as the cause.
   */
  readonly onEvent?: ((event: DrayEvent) => void) | undefined;
}

/** What stops one call. */
export interface StopOptions {
  /** The call then fails with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

const EVENTS: Readonly<Record<DrayEvent['type'], true>> = {
  change: true,
  conflict: true,
  fileFailed: true,
  lookup: true,
  phase: true,
  plan: true,
  progress: true,
  remoteUsed: true,
  warning: true,
};

export function contextOf(options: DrayOptions): JobContext {
  const { connection = {}, directory = process.cwd(), environment = process.env, password } = options;
  const { onEvent, signal } = options;
  const failing = new AbortController();
  return {
    directory,
    connection,
    environment: password === undefined ? environment : { ...environment, DRAY_PASSWORD: password },
    // The program chose its places itself, as somebody at a command line does.
    isTyped: true,
    signal: signal ? AbortSignal.any([signal, failing.signal]) : failing.signal,
    emit(event) {
      if (!onEvent || !isOurs(event)) return;
      try {
        onEvent(event);
      } catch (error) {
        failing.abort(error);
      }
    },
  };
}

function isOurs(event: JobEvent): event is DrayEvent {
  return Object.hasOwn(EVENTS, event.type);
}

/** @throws DrayError `usage` */
export function checkText(value: unknown, what: string): asserts value is string {
  if (typeof value !== 'string') throw new DrayError('usage', `${what} is given as text.`);
}
