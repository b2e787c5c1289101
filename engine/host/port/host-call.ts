/** The arguments of every request handler. */
import type { AnswerOf, HostEvent, HostRequestName, InputOf } from '../../api/host.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { HostState } from '../host-state.ts';
import type { PortOwner } from '../rows/kept-lists.ts';

export interface HostCall {
  readonly host: HostState;
  /** Fires when the request is stopped, or its port has closed. */
  readonly signal: AbortSignal;
  readonly emit: (event: HostEvent) => void;
  /** The port that sent the request. State kept for it ends when it closes. */
  readonly owner: PortOwner;
}

export type HostHandler<N extends HostRequestName> = (
  input: InputOf<N>,
  call: HostCall,
) => Promise<AnswerOf<N>>;

/** The handlers of one area: its part of the table. */
export type HandlersOf<Area extends string> = {
  readonly [N in Extract<HostRequestName, `${Area}.${string}`>]: HostHandler<N>;
};

/**
 * The context of a job that this call runs. Its events go to the caller, except `quiet` ones, which may be
 * millions.
 */
export function jobContextOf(
  { emit, host, signal }: HostCall,
  directory: string,
  more: Partial<JobContext> = {},
): JobContext {
  return {
    directory,
    connection: host.connectionFlags(),
    environment: host.environment,
    masterKeys: host.masterKeys,
    signal,
    emit: (event) => {
      if (event.type !== 'change' && event.type !== 'conflict' && event.type !== 'entry') emit(event);
    },
    ...more,
  };
}
