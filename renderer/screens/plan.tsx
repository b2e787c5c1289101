/** Explains the cost of a push: how it learns what the remote already has, and what that costs. */
import './plan/plan.css';
import { useEffect } from 'react';
import type { QueryCost, QueryExplanation } from '../../engine/api/events.ts';
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import type { AnswerOf } from '../../engine/api/host.ts';
import { formatBytes, formatCount, formatPlural } from '../../engine/api/text/numbers.ts';
import { Badge } from '../design/badge.tsx';
import { Card, Figure, Figures } from '../design/card.tsx';
import { IconButton, LinkButton } from '../design/controls/button.tsx';
import { formatClock, formatSeconds } from '../design/format.ts';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading, Notice } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { useAsk } from '../host/use-host.tsx';
import { hrefOf } from '../route.ts';
import { WithWorkspace } from '../shell/with-workspace.tsx';
import { useEndedTransfers } from './changes/use-change-list.ts';
import { CostPlot } from './plan/cost-plot.tsx';
import { Funnel } from './plan/funnel.tsx';
import { LastPush, rememberPlan, useLastPush } from './plan/last-push.tsx';
import { priceWords } from './plan/price-words.ts';
import { NOTHING_TO_PUSH } from './transfers/state-words.ts';

export function PlanScreen() {
  return (
    <WithWorkspace
      title="Plan"
      lesson="Plan says which requests a push will take, why, and what they cost, before it runs."
    >
      {(workspace) => <Plan workspace={workspace} />}
    </WithWorkspace>
  );
}

function Plan({ workspace }: { readonly workspace: WorkspaceCard }) {
  const { root } = workspace;
  const { data, error, isFetching, refetch, dataUpdatedAt } = useAsk('plan.push', { root });
  const last = useLastPush(root);
  const ended = useEndedTransfers(root);
  useEffect(() => {
    if (data) rememberPlan(root, data);
  }, [root, data]);
  // An ended transfer may have left nothing to plan. A screen that just opened asks anyway.
  useEffect(() => {
    if (ended > 0) void refetch({ cancelRefetch: false });
  }, [ended, refetch]);
  return (
    <Screen
      title="Plan"
      note={`The requests that a push of ${workspace.name} will make, and why`}
      isFull={!data || (data.requests.total === 0 && !last)}
      actions={
        <>
          <IconButton icon="refresh" label="Refresh" onPress={() => refetch()} isPending={isFetching} />
          <LinkButton icon="jobs" href={hrefOf('jobs', { add: 'yes', from: 'changes', kind: 'push', root })}>
            Save as a job
          </LinkButton>
          <LinkButton href={hrefOf('changes', { direction: 'push' })} look="primary">
            See the changes
          </LinkButton>
        </>
      }
    >
      {error && !data ? (
        <ErrorState title="Cannot plan the push" error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading label="Reading the folder and asking the remote for its size" />
      ) : data.requests.total === 0 ? (
        last ? (
          <div className="plan">
            <Excluded count={data.excluded} />
            <Notice tone="success">
              {NOTHING_TO_PUSH} at {formatClock(dataUpdatedAt)}. These are the figures of the last push.
            </Notice>
            <LastPush root={root} summary={last} isPriced={data.isPriced} />
            <Reasons query={last.query} isPriced={data.isPriced} />
          </div>
        ) : (
          <EmptyState
            icon="check"
            title={NOTHING_TO_PUSH}
            actions={<LinkButton href={hrefOf('history')}>See what was pushed</LinkButton>}
          >
            At {formatClock(dataUpdatedAt)}{' '}
            {data.excluded > 0
              ? 'only changes that are not ticked in Changes were left'
              : 'every file of this folder was in the last commit'}
            , so there was nothing to plan. Once a file changes, Plan says which requests its push takes, and
            what they cost.
          </EmptyState>
        )
      ) : (
        <div className="plan">
          <Excluded count={data.excluded} />
          <Chosen plan={data} />
          <Reasons query={data.query} isPriced={data.isPriced} />
          <Requests plan={data} />
          {last && <LastPush root={root} summary={last} isPriced={data.isPriced} />}
        </div>
      )}
    </Screen>
  );
}

/** The rows that the user excludes from the push in Changes. */
function Excluded({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return (
    <Notice
      tone="info"
      actions={
        <LinkButton size="small" href={hrefOf('changes', { direction: 'push' })}>
          Change it
        </LinkButton>
      }
    >
      {count === 1
        ? '1 change is not ticked in Changes and stays out of this plan.'
        : `${formatCount(count)} changes are not ticked in Changes and stay out of this plan.`}
    </Notice>
  );
}

interface PricedQuery {
  readonly query: QueryExplanation;
  readonly isPriced: boolean;
}

function Reasons({ query, isPriced }: PricedQuery) {
  return (
    <>
      <Funnel query={query} />
      {query.candidates > 0 && (
        <div className="plan-pair">
          <Card title="Which way costs less">
            <p className="plan-note soft">Price, requests and waiting together, by objects at the remote</p>
            {query.breakEvenObjects > 0 ? (
              <CostPlot query={query} />
            ) : (
              <p>For so few objects, checking each costs less than any listing.</p>
            )}
          </Card>
          <Ways query={query} isPriced={isPriced} />
        </div>
      )}
    </>
  );
}

const WAYS: Readonly<Record<QueryExplanation['chosen'], string>> = {
  none: 'Check nothing',
  each: 'Check each object',
  list: 'List the remote',
};

function Chosen({ plan: { isPriced, query, requests } }: { readonly plan: AnswerOf<'plan.push'> }) {
  const cost = query.chosen === 'list' ? query.list : query.each;
  return (
    <Card>
      <div className="plan-chosen">
        <div className="grow">
          <div className="row">
            <h2 className="plan-way">{WAYS[query.chosen]}</h2>
            <Badge tone="accent">{query.mode === 'auto' ? 'Chosen' : 'Chosen by a setting'}</Badge>
          </div>
          <p className="soft">{query.reason}</p>
        </div>
        <Figures>
          <Figure
            label="Time to find out"
            value={query.chosen === 'none' ? '0 s' : formatSeconds(cost.seconds)}
          />
          <Figure label="Requests in total" value={formatCount(requests.total)} />
          <Figure label="To send" value={formatBytes(requests.sentBytes)} />
          <Figure label="Price" value={priceWords(requests, isPriced)} />
        </Figures>
      </div>
    </Card>
  );
}

function Ways({ query, isPriced }: PricedQuery) {
  return (
    <Card title="The two ways" isFlush>
      <table className="plan-table">
        <thead>
          <tr>
            <th scope="col">Way</th>
            <th scope="col">Requests</th>
            <th scope="col">Time</th>
            <th scope="col">Price</th>
          </tr>
        </thead>
        <tbody>
          <WayRow
            title="Check each"
            cost={query.each}
            isPriced={isPriced}
            isChosen={query.chosen === 'each'}
          />
          <WayRow
            title="List the remote"
            cost={query.list}
            isPriced={isPriced}
            isChosen={query.chosen === 'list'}
          />
        </tbody>
      </table>
      <p className="plan-even soft">{describeBreakEven(query)}</p>
    </Card>
  );
}

/** The method is chosen from the scan; only reading the files shows which contents are new. */
function describeBreakEven({ breakEvenObjects, candidates, each }: QueryExplanation): string {
  if (breakEvenObjects === 0) return 'A listing of any remote costs more.';
  const asked =
    each.requests > candidates
      ? `Before the files are read, up to ${formatPlural(each.requests, 'object')} may have to be checked`
      : `With ${formatPlural(candidates, 'object')} to check`;
  return `${asked}: a remote of fewer than ${formatCount(breakEvenObjects)} objects is listed.`;
}

function WayRow({
  title,
  cost,
  isPriced,
  isChosen,
}: {
  readonly title: string;
  readonly cost: QueryCost;
  readonly isPriced: boolean;
  readonly isChosen: boolean;
}) {
  return (
    <tr className={isChosen ? 'plan-row-chosen' : ''}>
      <th scope="row">
        <span className="row">
          {title}
          {isChosen && <Badge tone="accent">Chosen</Badge>}
        </span>
      </th>
      <td>{formatCount(cost.requests)}</td>
      <td>{formatSeconds(cost.seconds)}</td>
      <td>{priceWords(cost, isPriced)}</td>
    </tr>
  );
}

function Requests({ plan: { isPriced, objects, requests } }: { readonly plan: AnswerOf<'plan.push'> }) {
  return (
    <Card title="The whole push, as estimated">
      <Figures>
        <Figure label="Objects to send" value={formatCount(objects)} />
        <Figure label="Content" value={formatBytes(requests.sentBytes)} />
        <Figure label="Reads" value={formatCount(requests.reads)} />
        <Figure label="Lists" value={formatCount(requests.lists)} />
        <Figure label="Writes" value={formatCount(requests.writes)} />
        <Figure label="Price" value={priceWords(requests, isPriced)} />
      </Figures>
    </Card>
  );
}
