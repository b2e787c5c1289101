/** All repositories that this user knows: their size, growth, cost, last push and last verification. */
import './remotes/remotes.css';
import './repositories/repositories.css';
import type { RepositoryCard } from '../../engine/api/host/repositories.ts';
import { formatBytes, formatCount, formatDollars, formatPlural } from '../../engine/api/text/numbers.ts';
import { Card, Figure, Figures } from '../design/card.tsx';
import { Button, LinkButton } from '../design/controls/button.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { hrefOf } from '../route.ts';
import { PRICE_NOT_KNOWN } from './plan/price-words.ts';
import { RepositoryItem } from './repositories/repository-item.tsx';
import { useRepositories } from './repositories/use-repositories.ts';

export function RepositoriesScreen() {
  const { asking, error, look, place, repositories } = useRepositories();
  // One of the user's own remotes is listed only if it has a repository, or could not be read.
  const shown = repositories?.filter(
    ({ failure, knownAs, state }) =>
      state === 'ready' ||
      state === 'empty' ||
      failure !== undefined ||
      knownAs.some(({ of }) => of !== 'user'),
  );
  const isLooking = asking.size > 0;
  return (
    <Screen
      title="Repositories"
      note={shown && shown.length > 0 ? formatPlural(shown.length, 'repository', 'repositories') : ''}
      actions={
        shown &&
        shown.length > 0 && (
          <Button icon="refresh" isPending={isLooking} onPress={() => look()}>
            Refresh
          </Button>
        )
      }
    >
      {!shown && !error && <Loading label="Reading your repositories" />}
      {error && !shown && (
        <ErrorState title="Cannot read your repositories" error={error} onRetry={() => look()} />
      )}
      {shown?.length === 0 && isLooking && <Loading label="Reading your remotes" />}
      {shown?.length === 0 && !isLooking && <NoRepositories />}
      {shown && shown.length > 0 && (
        <>
          <Sums repositories={shown} />
          <ul className="repository-list">
            {shown.map((repository) => (
              <RepositoryItem
                key={repository.id}
                repository={repository}
                isAsking={asking.has(repository.id)}
                onLook={(commits) => look({ ids: [repository.id], commits })}
                onMeasured={place}
              />
            ))}
          </ul>
        </>
      )}
    </Screen>
  );
}

function NoRepositories() {
  return (
    <EmptyState
      icon="repositories"
      title="No repositories yet"
      actions={
        <>
          <LinkButton icon="plus" look="primary" href={hrefOf('home', { add: 'yes' })}>
            Add a workspace
          </LinkButton>
          <LinkButton icon="remotes" href={hrefOf('remotes', { add: 'yes' })}>
            Add a remote
          </LinkButton>
        </>
      }
    >
      A repository keeps all versions of a folder at a remote. The first push of a workspace creates one. This
      screen then shows its size, its growth, its cost, and its last verification.
    </EmptyState>
  );
}

/** The sums of the known figures. The notes say how many repositories they cover. */
function Sums({ repositories }: { readonly repositories: readonly RepositoryCard[] }) {
  const known = repositories.filter(({ tip }) => tip);
  const measured = repositories.filter(({ stored }) => stored);
  const priced = repositories.filter(({ cost }) => cost.storageDollars !== undefined);
  const dollars = repositories.reduce(
    (sum, { cost }) => sum + (cost.storageDollars ?? 0) + cost.requestDollars,
    0,
  );
  const of = (count: number) =>
    `${formatCount(count)} of ${formatPlural(repositories.length, 'repository', 'repositories')}`;
  return (
    <Card className="repository-sums">
      <Figures>
        <Figure
          label="Newest versions"
          value={formatBytes(known.reduce((sum, { tip }) => sum + (tip?.bytes ?? 0), 0))}
          note={of(known.length)}
        />
        <Figure
          label="Stored"
          value={
            measured.length === 0
              ? 'Not measured'
              : formatBytes(measured.reduce((sum, { stored }) => sum + (stored?.bytes ?? 0), 0))
          }
          note={measured.length === 0 ? 'measuring lists every object' : of(measured.length)}
        />
        <Figure
          label="Cost a month"
          value={priced.length === 0 ? PRICE_NOT_KNOWN : formatDollars(dollars)}
          note={priced.length === 0 ? 'no store with a known price' : `${of(priced.length)}, list prices`}
        />
      </Figures>
    </Card>
  );
}
