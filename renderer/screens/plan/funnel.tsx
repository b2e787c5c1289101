/** From what a push needs to what it has to check. */
import type { QueryExplanation } from '../../../engine/api/events.ts';
import { formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Card } from '../../design/card.tsx';
import { Icon } from '../../design/icon.tsx';

export function Funnel({ query }: { readonly query: QueryExplanation }) {
  const { candidates, removedByIndex, wanted } = query;
  // Small files go into packs, whose names cannot be predicted and so not checked; a content that several
  // files share is checked once.
  const unasked = Math.max(0, wanted - removedByIndex - candidates);
  const percent = (count: number) => (wanted > 0 ? `${(100 * count) / wanted}%` : '0%');
  return (
    <Card title="Objects to check">
      <div className="funnel">
        <Step count={wanted} label="contents the push needs" />
        <Icon name="minus" />
        <Step count={removedByIndex} label="known from the index" look="known" />
        {unasked > 0 && (
          <>
            <Icon name="minus" />
            <Step count={unasked} label="small or duplicate: sent without a check" look="unasked" />
          </>
        )}
        <Icon name="arrowRight" />
        <Step count={candidates} label="to check" look="main" />
      </div>
      <div className="funnel-bar" aria-hidden="true">
        {removedByIndex > 0 && <span className="funnel-known" style={{ width: percent(removedByIndex) }} />}
        <span className="funnel-unasked" style={{ width: percent(unasked) }} />
        <span className="funnel-main" style={{ width: percent(candidates) }} />
      </div>
      <Remote query={query} />
    </Card>
  );
}

function Step({
  count,
  label,
  look,
}: {
  readonly count: number;
  readonly label: string;
  readonly look?: 'known' | 'unasked' | 'main';
}) {
  return (
    <p className="funnel-step">
      <strong>{formatCount(count)}</strong>
      <span>
        {look && <span className={`funnel-key funnel-${look}`} aria-hidden="true" />}
        {label}
      </span>
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
    return <p className="soft">The size of the remote did not matter, so Dray did not ask for it.</p>;
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
