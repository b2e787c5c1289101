/** Why a push will take what it takes: how it learns what the remote has already, and what that costs. */
import './plan/plan.css';
import type { QueryCost, QueryExplanation } from '../../engine/api/events.ts';
import type { AnswerOf, Transfer, WorkspaceCard } from '../../engine/api/host.ts';
import type { PushSummary } from '../../engine/api/jobs.ts';
import { Badge } from '../design/badge.tsx';
import { IconButton, LinkButton } from '../design/button.tsx';
import { Card, Figure, Figures } from '../design/card.tsx';
import { formatBytes, formatCount, formatDollars, formatPlural, formatSeconds } from '../design/format.ts';
import { Icon } from '../design/icon.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, ErrorState, Loading } from '../design/states.tsx';
import { useAsk, useTransfers } from '../host/use-host.tsx';
import { hrefOf } from '../route.ts';
import { WithWorkspace } from '../shell/with-workspace.tsx';
import { CostPlot } from './plan/cost-plot.tsx';

export function PlanScreen() {
  return <WithWorkspace title="Plan">{(workspace) => <Plan workspace={workspace} />}</WithWorkspace>;
}

function Plan({ workspace }: { readonly workspace: WorkspaceCard }) {
  const { data, error, isFetching, refetch } = useAsk('plan.push', { root: workspace.root });
  const last = useLastPush(workspace.root);
  return (
    <Screen
      title="Plan"
      note={`What a push of ${workspace.name} will ask for, and why`}
      isFull={!data}
      actions={
        <>
          <IconButton icon="refresh" label="Plan anew" onPress={() => refetch()} isDisabled={isFetching} />
          <LinkButton href={hrefOf('changes', { direction: 'push' })} look="primary">
            See the changes
          </LinkButton>
        </>
      }
    >
      {error && !data ? (
        <ErrorState title="The push cannot be planned" error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading label="Reading the folder and asking the remote for its size" />
      ) : data.query.wanted === 0 && !last ? (
        <NothingToPlan changes={data.changes} />
      ) : (
        <div className="plan">
          <Chosen plan={data} />
          <Funnel query={data.query} />
          <div className="plan-pair">
            <Card title="Which way is quicker">
              <CostPlot query={data.query} />
            </Card>
            <Ways query={data.query} />
          </div>
          <Requests plan={data} />
          {last && <Actual summary={last} />}
        </div>
      )}
    </Screen>
  );
}

function NothingToPlan({ changes }: { readonly changes: AnswerOf<'plan.push'>['changes'] }) {
  const isEmpty = changes.added + changes.modified + changes.deleted + changes.renamed + changes.mode === 0;
  return (
    <EmptyState icon="check" title={isEmpty ? 'Nothing to push' : 'Nothing has to be asked'}>
      {isEmpty
        ? 'Every file of this folder is in the last commit, so there is nothing to plan.'
        : 'What changed needs no content that the remote lacks: the push writes a commit and no more.'}
    </EmptyState>
  );
}

const WAYS: Readonly<Record<QueryExplanation['chosen'], string>> = {
  none: 'Ask for nothing',
  each: 'Ask for each object',
  list: 'List the remote',
};

function Chosen({ plan: { query, requests } }: { readonly plan: AnswerOf<'plan.push'> }) {
  const cost = query.chosen === 'list' ? query.list : query.each;
  return (
    <Card>
      <div className="plan-chosen">
        <div className="grow">
          <div className="row">
            <h2 className="plan-way">{WAYS[query.chosen]}</h2>
            <Badge tone="accent">{query.mode === 'auto' ? 'Chosen' : 'Asked for by a setting'}</Badge>
          </div>
          <p className="soft">{query.reason}</p>
        </div>
        <Figures>
          <Figure
            label="To know what is there"
            value={query.chosen === 'none' ? '0 s' : formatSeconds(cost.seconds)}
          />
          <Figure label="Requests in all" value={formatCount(requests.total)} />
          <Figure label="To send" value={formatBytes(requests.sentBytes)} />
          <Figure label="Price" value={formatDollars(requests.dollars)} />
        </Figures>
      </div>
    </Card>
  );
}

/** From what the push needs to what has to be asked. */
function Funnel({ query }: { readonly query: QueryExplanation }) {
  const share = query.wanted > 0 ? query.removedByIndex / query.wanted : 0;
  return (
    <Card title="What has to be asked">
      <div className="funnel">
        <Step count={query.wanted} label="objects the push needs" />
        <Icon name="minus" />
        <Step count={query.removedByIndex} label={`known from the index (${Math.round(share * 100)} %)`} />
        <Icon name="arrowRight" />
        <Step count={query.candidates} label="to ask for" isMain />
      </div>
      <div className="funnel-bar" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </div>
      <Remote query={query} />
    </Card>
  );
}

function Step({
  count,
  label,
  isMain = false,
}: {
  readonly count: number;
  readonly label: string;
  readonly isMain?: boolean;
}) {
  return (
    <p className={isMain ? 'funnel-step funnel-main' : 'funnel-step'}>
      <strong>{formatCount(count)}</strong>
      <span>{label}</span>
    </p>
  );
}

const FROM = {
  sample: 'estimated from a sample of its prefixes',
  remembered: 'remembered from the last listing',
  known: 'known from the index',
} as const;

function Remote({ query: { remoteObjects, sampledPrefixes } }: { readonly query: QueryExplanation }) {
  if (!remoteObjects)
    return <p className="soft">The size of the remote did not matter, and was not asked for.</p>;
  const { estimate, low, high, from } = remoteObjects;
  return (
    <p className="soft">
      The remote holds{' '}
      <strong>
        {from === 'known' ? '' : 'some '}
        {formatCount(estimate)} objects
      </strong>
      , {FROM[from]}
      {from === 'sample' && ` (${formatPlural(sampledPrefixes, 'prefix', 'prefixes')})`}
      {low < high && `: between ${formatCount(low)} and ${formatCount(high)} with 95 % confidence`}.
    </p>
  );
}

function Ways({ query }: { readonly query: QueryExplanation }) {
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
          <WayRow title="Ask for each" cost={query.each} isChosen={query.chosen === 'each'} />
          <WayRow title="List the remote" cost={query.list} isChosen={query.chosen === 'list'} />
        </tbody>
      </table>
      <p className="plan-even soft">
        {query.breakEvenObjects > 0
          ? `With ${formatPlural(query.candidates, 'object')} to ask for, a remote of fewer than ${formatCount(query.breakEvenObjects)} objects would be listed.`
          : 'Nothing has to be asked, so neither way is gone.'}
      </p>
    </Card>
  );
}

function WayRow({
  title,
  cost,
  isChosen,
}: {
  readonly title: string;
  readonly cost: QueryCost;
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
      <td>{formatDollars(cost.dollars)}</td>
    </tr>
  );
}

function Requests({ plan: { requests, changes } }: { readonly plan: AnswerOf<'plan.push'> }) {
  return (
    <Card title="Requests of the whole push">
      <Figures>
        <Figure label="Reads" value={formatCount(requests.reads)} />
        <Figure label="Writes" value={formatCount(requests.writes)} />
        <Figure label="Lists" value={formatCount(requests.lists)} />
        <Figure label="Deletes" value={formatCount(requests.deletes)} />
        <Figure
          label="Changes"
          value={formatCount(changes.added + changes.modified + changes.deleted + changes.renamed)}
        />
        <Figure label="Content" value={formatBytes(changes.bytes)} />
      </Figures>
    </Card>
  );
}

function useLastPush(root: string): PushSummary | undefined {
  const isOurs = ({ order, state }: Transfer) =>
    order.kind === 'push' && order.root === root && state === 'done';
  const summary = useTransfers()?.findLast(isOurs)?.summary;
  return summary && 'query' in summary ? summary : undefined;
}

/** What the last push took, beside what its plan said. */
function Actual({ summary: { query, requests, uploadedBytes } }: { readonly summary: PushSummary }) {
  const planned = query.chosen === 'list' ? query.list : query.each;
  const { actual } = query;
  return (
    <Card title="The last push, as it was">
      <Figures>
        {actual && (
          <>
            <Figure
              label="Time to know"
              value={formatSeconds(actual.seconds)}
              note={`planned ${formatSeconds(planned.seconds)}`}
            />
            <Figure
              label="Requests to know"
              value={formatCount(actual.requests)}
              note={`planned ${formatCount(planned.requests)}`}
            />
            <Figure label="There already" value={formatCount(actual.present)} />
            <Figure label="Missing" value={formatCount(actual.absent)} />
          </>
        )}
        <Figure label="Sent" value={formatBytes(uploadedBytes)} />
        <Figure label="Requests in all" value={formatCount(requests.total)} />
        <Figure label="Price" value={formatDollars(requests.dollars)} />
      </Figures>
    </Card>
  );
}
