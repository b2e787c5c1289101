/** Canned answers by name of what is asked; each may tell events before it. */
import type { AnswerOf, HostEvent, HostRequestName, InputOf } from '../../engine/api/host.ts';

export type FixtureHandlers = {
  readonly [N in HostRequestName]?: (
    input: InputOf<N>,
    tell: (event: HostEvent) => void,
    signal: AbortSignal,
  ) => AnswerOf<N> | Promise<AnswerOf<N>>;
};
