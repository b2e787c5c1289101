/** The cost of the last push, beside the plan's estimate. */

import type { Transfer } from '../../../engine/api/host/transfers.ts';
import type { AnswerOf } from '../../../engine/api/host.ts';
import type { PushSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount, formatDollars } from '../../../engine/api/text/numbers.ts';
import { Card, Figure, Figures } from '../../design/card.tsx';
import { formatSeconds } from '../../design/format.ts';
import { useTransfers } from '../../host/use-host.tsx';
import { priceWords } from './price-words.ts';

type Plan = AnswerOf<'plan.push'>;

/** The newest plan of each workspace that had an estimate. */
const plans = new Map<string, Plan>();

export function rememberPlan(root: string, plan: Plan): void {
  if (plan.requests.total > 0) plans.set(root, plan);
}

export function useLastPush(root: string): PushSummary | undefined {
  const isOurs = ({ order, state }: Transfer) =>
    order.kind === 'push' && order.root === root && state === 'done';
  const summary = useTransfers()?.findLast(isOurs)?.summary;
  return summary && 'query' in summary && summary.result === 'pushed' ? summary : undefined;
}

export function LastPush({
  root,
  summary,
  isPriced,
}: {
  readonly root: string;
  readonly summary: PushSummary;
  readonly isPriced: boolean;
}) {
  const { changes, query, requests, uploadedBytes } = summary;
  const asked = query.chosen === 'list' ? query.list : query.each;
  const plan = plans.get(root);
  // A plan of other changes says nothing about this push.
  const planned = plan && hasSameCounts(plan.changes, changes) ? plan.requests : undefined;
  const beside = (text: string | undefined) => (text === undefined ? {} : { note: `planned ${text}` });
  const { actual } = query;
  return (
    <Card title="The last push, as it went">
      <Figures>
        {actual && (
          <>
            <Figure
              label="Time to find out"
              value={formatSeconds(actual.seconds)}
              {...beside(formatSeconds(asked.seconds))}
            />
            <Figure
              label="Requests to find out"
              value={formatCount(actual.requests)}
              {...beside(formatCount(asked.requests))}
            />
            <Figure label="There already" value={formatCount(actual.present)} />
            <Figure label="Missing" value={formatCount(actual.absent)} />
          </>
        )}
        <Figure
          label="Requests in total"
          value={formatCount(requests.total)}
          {...beside(planned && formatCount(planned.total))}
        />
        <Figure
          label="Sent"
          value={formatBytes(uploadedBytes)}
          {...beside(planned && formatBytes(planned.sentBytes))}
        />
        <Figure
          label="Price"
          value={priceWords(requests, isPriced)}
          {...beside(isPriced && planned ? formatDollars(planned.dollars) : undefined)}
        />
      </Figures>
    </Card>
  );
}

function hasSameCounts(one: Plan['changes'], other: Plan['changes']): boolean {
  return (Object.keys(one) as (keyof Plan['changes'])[]).every((name) => one[name] === other[name]);
}
