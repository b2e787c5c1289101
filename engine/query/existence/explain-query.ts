/** The plan and its actual cost, in the form that `--explain` and the app show. Pure. */
import type { QueryExplanation, QueryMode } from '../../api/events.ts';
import type { ObjectEstimate, RemoteEstimate } from './estimate-objects.ts';
import { type CostModel, planQuery, type QueryPlan } from './plan-query.ts';
import type { QueryCounts } from './query-tally.ts';

export interface ExplainInput {
  readonly mode: QueryMode;
  readonly isEmpty: boolean;
  readonly costs: CostModel;
  readonly expectedCandidates: number;
  readonly remembered: RemoteEstimate | undefined;
  /** Absent until the query had to decide. */
  readonly plan: QueryPlan | undefined;
  readonly estimate: ObjectEstimate | undefined;
  readonly sampledWindows: number;
  readonly heads: number;
  readonly lists: number;
  readonly tally: QueryCounts;
}

export function explainQuery(input: ExplainInput): QueryExplanation {
  const { costs, estimate, heads, lists, mode, remembered, tally } = input;
  const candidates = tally.candidates > 0 ? tally.candidates : input.expectedCandidates;
  const plan = input.plan ?? planQuery({ candidates, mode, costs, remote: remembered, windows: 0 });
  const remoteObjects = input.isEmpty
    ? { estimate: 0, low: 0, high: 0, from: 'known' as const }
    : describeRemote(estimate, remembered);
  return {
    mode,
    wanted: tally.wanted,
    removedByIndex: tally.removedByIndex,
    candidates,
    ...(remoteObjects === undefined ? {} : { remoteObjects }),
    sampledPrefixes: input.sampledWindows,
    each: plan.each,
    list: plan.list,
    breakEvenObjects: plan.breakEvenObjects,
    ...choiceOf(input, plan, candidates),
    ...(tally.candidates === 0
      ? {}
      : {
          actual: {
            requests: heads + lists,
            seconds: tally.seconds,
            dollars: heads * costs.dollarsPerHead + lists * costs.dollarsPerList,
            present: tally.present,
            absent: tally.candidates - tally.present,
          },
        }),
  };
}

function choiceOf(
  input: ExplainInput,
  plan: QueryPlan,
  candidates: number,
): { readonly chosen: QueryExplanation['chosen']; readonly reason: string } {
  if (input.isEmpty)
    return { chosen: 'none', reason: 'The repository is empty, so there is nothing to ask.' };
  if (candidates === 0) return { chosen: 'none', reason: 'There is nothing to ask.' };
  return { chosen: plan.choice, reason: plan.reason };
}

function describeRemote(
  estimate: ObjectEstimate | undefined,
  remembered: RemoteEstimate | undefined,
): QueryExplanation['remoteObjects'] {
  if (estimate !== undefined) {
    const from = estimate.isExact ? 'known' : 'sample';
    return { estimate: estimate.objects, low: estimate.low, high: estimate.high, from };
  }
  if (remembered === undefined) return undefined;
  return { estimate: remembered.objects, low: remembered.low, high: remembered.high, from: 'remembered' };
}
