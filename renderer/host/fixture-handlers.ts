import type { AnswerOf, HostEvent, HostRequestName, InputOf } from '../../engine/api/host.ts';

/** Canned answers to some of the requests, by name. */
export type FixtureHandlers = {
  readonly [N in HostRequestName]?: (
    input: InputOf<N>,
    tell: (event: HostEvent) => void,
    signal: AbortSignal,
  ) => AnswerOf<N> | Promise<AnswerOf<N>>;
};
